#include <algorithm>
#include <optional>

#include "emulator/engine/vector/doubles/row_program.hpp"

namespace gdr {
namespace {

/// An accumulation: add or subtract, and the value of its predicate.
struct Accumulation {
  unsigned subtract = 0;
  std::optional<bool> under;

  DoublesKernel of(const MaskableKernel (&kernels)[2]) const {
    const MaskableKernel& k = kernels[subtract];
    return under ? k.under[*under ? 1 : 0] : k.always;
  }
};

class AccumulationFusion {
 public:
  AccumulationFusion(std::vector<RowOp>& ops, const DoublesKernels& kernels)
      : ops_(ops), kernels_(kernels) {}

  void run() {
    for (RowOp& o : ops_) add_zeros(o);
    std::vector<bool> reads_unnormalized(ops_.size());
    for (std::size_t n = 0; n < ops_.size(); ++n) {
      if (reads_unnormalized[n]) continue;
      const std::optional<Accumulation> first = in_place(ops_[n]);
      if (!first) continue;
      const std::size_t next = next_use(n);
      if (next == ops_.size() || !in_place(ops_[next])) continue;
      if (ops_[next].op.elements != ops_[n].op.elements) continue;
      if (!same_rows(ops_[next].a, ops_[n].a) || meets(ops_[next], ops_[next].b, ops_[n])) continue;
      if (!is_small(next)) continue;
      ops_[n].op.kernel = first->of(kernels_.accumulate_unnormalized);
      reads_unnormalized[next] = true;
    }
  }

 private:
  void add_zeros(RowOp& o) const {
    for (unsigned subtract = 0; subtract < 2; ++subtract) {
      for (unsigned value = 0; value < 2; ++value) {
        if (o.op.kernel != kernels_.accumulate[subtract].under[value]) continue;
        if (!same_rows(o.a, o.out)) continue;
        o.op.kernel = kernels_.accumulate_in_place[subtract].under[value];
        o.old = no_rows;  // dead rows, if any
      }
    }
  }

  /// An accumulation that reads and writes the same rows, all lanes of them.
  std::optional<Accumulation> in_place(const RowOp& o) const {
    if (!same_rows(o.a, o.out)) return std::nullopt;
    for (unsigned subtract = 0; subtract < 2; ++subtract) {
      if (o.op.kernel == kernels_.accumulate[subtract].always)
        return Accumulation{subtract, std::nullopt};
      for (const bool value : {false, true}) {
        if (o.op.kernel == kernels_.accumulate_in_place[subtract].under[value ? 1 : 0])
          return Accumulation{subtract, value};
      }
    }
    return std::nullopt;
  }

  static bool meets(const RowOp& o, const RowSpan& span, const RowOp& sum) {
    return meet(span, o.op.elements, sum.out, sum.op.elements);
  }

  /// The next operation that reads or writes a row that operation n writes.
  std::size_t next_use(std::size_t n) const {
    std::size_t m = n + 1;
    for (; m < ops_.size(); ++m) {
      const RowOp& o = ops_[m];
      if (std::ranges::any_of(o.spans(), [&](const RowSpan* s) { return meets(o, *s, ops_[n]); }))
        break;
    }
    return m;
  }

  /// Whether the addend of operation n has been rounded to a short: then it is below 2^997 or NaN
  /// or infinite, and the sum of an infinity and it is not finite.
  bool is_small(std::size_t n) const {
    const RowOp& sum = ops_[n];
    for (std::size_t m = n; m-- > 0;) {
      const RowOp& o = ops_[m];
      if (!meet(o.out, o.op.elements, sum.b, sum.op.elements)) continue;
      return same_rows(o.out, sum.b) && o.op.elements == sum.op.elements && rounds(o.op.kernel);
    }
    return false;
  }
  bool rounds(DoublesKernel kernel) const {
    for (unsigned second = 0; second < 2; ++second) {
      for (unsigned a = 0; a < form_count; ++a) {
        for (unsigned b = 0; b < form_count; ++b) {
          if (kernel == kernels_.product[second][a][b][0].always ||
              kernel == kernels_.sum[second][a][b][0].always)
            return true;
        }
      }
    }
    return false;
  }

  std::vector<RowOp>& ops_;
  const DoublesKernels& kernels_;
};

}  // namespace

void simplify_accumulations(std::vector<RowOp>& ops, const DoublesKernels& kernels) {
  AccumulationFusion(ops, kernels).run();
}

}  // namespace gdr
