#include "emulator/engine/vector/doubles/add_rows.hpp"

#include <algorithm>
#include <vector>

#include "emulator/chip/state.hpp"
#include "emulator/engine/vector/doubles/bm_store.hpp"
#include "emulator/engine/vector/doubles/frame.hpp"
#include "emulator/engine/vector/doubles/run.hpp"
#include "emulator/host/float_mode.hpp"

namespace gdr {
namespace {

/// Pairs of one addition in a frame: heads of all lanes, then tails, row after row.
class PairRows {
 public:
  PairRows(const DoublesKernels& kernels, const LongRows& rows)
      : kernels_(kernels),
        lanes_(rows.lanes),
        padded_((rows.lanes + kernels.batch - 1) / kernels.batch * kernels.batch),
        count_(rows.count) {
    if (memory().size() < count_ * 2 * padded_) memory().resize(count_ * 2 * padded_);
    run_.frame = reinterpret_cast<std::byte*>(memory().data());
    clear_flags();
    run_.failure = kernels_.import[static_cast<unsigned>(Form::Pair)](words(rows.shorts, count_));
  }

  void add_all() {
    for (std::size_t n = count_; n > 1 && run_.failure == 0; n = (n + 1) / 2) {
      add_neighbours(n / 2);
      if (n % 2 == 0) continue;
      const double* const last = row(n - 1);
      std::copy_n(last, 2 * padded_, row(n / 2));
    }
  }

  bool leave(std::uint64_t* shorts) {
    thread_local std::vector<std::uint64_t> sum;
    sum.resize(2 * lanes_);
    run_.failure |= kernels_.export_[static_cast<unsigned>(Form::Pair)](words(sum.data(), 1));
    kernels_.leave();
    if (run_.failure != 0 || (raised_flags() & kernels_.failure_flags) != 0) return false;
    std::ranges::copy(sum, shorts);
    return true;
  }

 private:
  static std::vector<double, LineAllocator<double>>& memory() {
    thread_local std::vector<double, LineAllocator<double>> pairs;
    return pairs;
  }
  double* row(std::size_t n) const { return memory().data() + n * 2 * padded_; }

  StateRows words(std::uint64_t* shorts, std::size_t count) const {
    StateRows r{shorts, shorts + lanes_, row(0), row(0) + padded_, lanes_, padded_};
    r.count = static_cast<std::uint32_t>(count);
    r.state_step = 2 * lanes_;
    r.frame_step = 2 * padded_;
    return r;
  }

  /// Row k = row 2k + row 2k+1: never behind what is still to be read.
  void add_neighbours(std::size_t pairs) {
    const auto bytes = static_cast<std::uint32_t>(padded_ * sizeof(double));
    DoublesOp ops[2] = {{}, plain_operation(stop)};
    DoublesOp& op = ops[0];
    constexpr auto pair = static_cast<unsigned>(Form::Pair);
    op.kernel = kernels_.sum[0][pair][pair][1].always;
    op.elements = static_cast<std::uint32_t>(pairs);
    op.lanes = static_cast<std::uint32_t>(padded_);
    op.a = {0, bytes, 4 * bytes};
    op.b = {2 * bytes, 3 * bytes, 4 * bytes};
    op.out = {0, bytes, 2 * bytes};
    op.kernel(op, run_);
  }

  const DoublesKernels& kernels_;
  std::size_t lanes_, padded_, count_;
  DoublesRun run_;
};

}  // namespace

bool add_rows_in_doubles(Isa isa, const LongRows& rows) {
  const DoublesKernels* const kernels = verified_doubles_kernels(isa, narrow_batch);
  if (kernels == nullptr) return false;
  const MachineFloatMode mode;
  PairRows pairs(*kernels, rows);
  pairs.add_all();
  return pairs.leave(rows.shorts);
}

}  // namespace gdr
