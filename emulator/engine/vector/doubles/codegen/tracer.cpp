#include <algorithm>
#include <bit>
#include <cmath>
#include <map>
#include <memory>
#include <set>
#include <unordered_map>

#include "emulator/engine/lanes/doubles/kernels.hpp"
#include "emulator/engine/lanes/doubles/op.hpp"
#include "emulator/engine/vector/doubles/codegen/trace.hpp"
#include "emulator/engine/vector/doubles/codegen/traced_lanes.hpp"
#include "emulator/host/hash.hpp"

namespace gdr::codegen {

thread_local Tracer* Tracer::open = nullptr;

TracedLanes::D TracedLanes::set_bits(std::uint64_t x) {
  Step s;
  s.kind = Step::Kind::Constant;
  s.bits = x;
  return {Tracer::current().step(s)};
}
TracedLanes::D TracedLanes::set(double x) { return set_bits(std::bit_cast<std::uint64_t>(x)); }

bool is_fill(DoublesKernel kernel) {
  return std::ranges::count(tracing_kernels(Isa::Avx512).fill, kernel) != 0 ||
         std::ranges::count(tracing_kernels(Isa::Avx2).fill, kernel) != 0 ||
         std::ranges::count(device_tracing_kernels().fill, kernel) != 0;
}

namespace {

/// Thrown for operations that cannot run vector by vector.
struct Untraceable {};

struct StepHash {
  std::size_t operator()(const Step& s) const noexcept {
    Hash hash;
    hash.add_word(s.bits);
    hash.add_word(static_cast<std::uint64_t>(s.kind) | std::uint64_t{s.detail} << 8 |
                  std::uint64_t{s.memory} << 16 | static_cast<std::uint64_t>(s.level) << 24 |
                  static_cast<std::uint64_t>(s.op) << 32 |
                  static_cast<std::uint64_t>(s.rounding) << 40);
    for (const StepId in : s.in) hash.add_word(in);
    return hash.value();
  }
};

/// Operations on the rows of single elements, one element after the other, as operations on strips.
std::vector<DoublesOp> rolled(std::span<const DoublesOp> ops, unsigned elements,
                              std::uint32_t row_bytes) {
  const auto follows = [&](const LanePlace& first, const LanePlace& p, std::uint32_t k) {
    return p.lanes == (first.lanes == 0 ? 0 : first.lanes + k * row_bytes) &&
           p.tail == (first.tail == 0 ? 0 : first.tail + k * row_bytes);
  };
  const auto alike = [&](const DoublesOp& first, const DoublesOp& o, std::uint32_t k) {
    return o.kernel == first.kernel && o.elements == 1 && !is_fill(o.kernel) &&
           follows(first.a, o.a, k) && follows(first.b, o.b, k) && follows(first.out, o.out, k) &&
           follows(first.mask, o.mask, k);
  };
  std::vector<DoublesOp> out;
  for (std::size_t n = 0; n < ops.size();) {
    DoublesOp op = ops[n];
    std::uint32_t count = 1;
    while (count < elements && n + count < ops.size() && alike(op, ops[n + count], count)) ++count;
    if (elements > 1 && count == elements) {
      op.elements = elements;
      op.a.step = op.b.step = op.out.step = op.mask.step = row_bytes;
    } else {
      count = 1;
    }
    out.push_back(op);
    n += count;
  }
  return out;
}

/// The same with an operation for each element.
std::vector<DoublesOp> unrolled(std::span<const DoublesOp> ops) {
  std::vector<DoublesOp> out;
  for (const DoublesOp& op : ops) {
    if (is_fill(op.kernel)) {
      out.push_back(op);
      continue;
    }
    for (std::uint32_t k = 0; k < op.elements; ++k) {
      DoublesOp one = op;
      one.elements = 1;
      for (LanePlace* p : {&one.a, &one.b, &one.out, &one.mask, &one.old}) {
        p->lanes += k * p->step;
        p->tail += k * p->step;
        p->step = 0;
      }
      out.push_back(one);
    }
  }
  return out;
}

class TraceRecorder final : public Tracer {
 public:
  TraceRecorder(const DoublesSection& section, unsigned elements)
      : elements_(elements),
        row_bytes_(section.row_lanes * static_cast<std::uint32_t>(sizeof(double))),
        frame_(std::make_unique_for_overwrite<std::byte[]>(section.frame_bytes)) {
    run_.frame = frame_.get();
    for (const ConstantRow& c : section.constants) {
      if (c.kind == ConstantRow::Kind::Bits) constants_[c.lanes] = c.bits;
    }
  }

  void operation(DoublesOp op) {
    if (is_fill(op.kernel)) {
      fill(op);
      return;
    }
    if (op.elements != 1 && op.elements != elements_) throw Untraceable{};
    strip_ = op.elements == elements_;
    one_row(op);
  }

  Trace finish(const std::vector<std::uint32_t>* live) {
    Trace made;
    made.elements = elements_;
    made.row_bytes = row_bytes_;
    made.stores = stores();
    std::erase_if(made.stores, [&](const RowStore& s) {
      if (live == nullptr) return false;
      const unsigned rows = s.level == Level::Element ? elements_ : 1;
      for (unsigned k = 0; k < rows; ++k) {
        if (std::ranges::binary_search(*live, s.offset + k * row_bytes_)) return false;
      }
      return true;
    });
    std::vector<bool> needed(steps_.size());
    for (const RowStore& s : made.stores) needed[s.value] = true;
    for (StepId n = static_cast<StepId>(steps_.size()); n-- > 0;) {
      if (!needed[n] && steps_[n].op != jit::Op::Collect) continue;
      needed[n] = true;
      for (const StepId in : steps_[n].in) {
        if (in != no_step) needed[in] = true;
      }
    }
    std::vector<StepId> moved(steps_.size(), no_step);
    for (StepId n = 0; n < steps_.size(); ++n) {
      if (!needed[n]) continue;
      Step s = steps_[n];
      for (StepId& in : s.in) in = in == no_step ? no_step : moved[in];
      moved[n] = static_cast<StepId>(made.steps.size());
      made.steps.push_back(s);
    }
    for (RowStore& s : made.stores) s.value = moved[s.value];
    return made;
  }

  // --- callbacks of kernels

  StepId load(const double* lanes) override {
    const std::uint32_t at = offset(lanes);
    if (const auto found = constants_.find(at); found != constants_.end()) {
      return TracedLanes::set_bits(found->second).id;
    }
    const bool strip = is_strip(at);
    const auto known = rows_.find(at);
    if (known != rows_.end() && !strip) {
      if (known->second.element != every) throw Untraceable{};
      return known->second.value;
    }
    if (strip) {
      const StepId value = known == rows_.end() ? no_step : known->second.value;
      for (unsigned k = 0; k < elements_; ++k) {
        const auto row = rows_.find(at + k * row_bytes_);
        if ((row == rows_.end()) != (value == no_step)) throw Untraceable{};
        if (value == no_step) continue;
        const int element = row->second.element;
        if (row->second.value != value || (element != every && element != static_cast<int>(k))) {
          throw Untraceable{};
        }
      }
      if (value != no_step) return value;
      strips_read_.push_back(at);
    }
    Step s;
    s.kind = Step::Kind::Row;
    s.level = strip ? Level::Element : Level::Lanes;
    s.bits = at;
    return append(s);
  }

  void store(const double* lanes, StepId value) override {
    const std::uint32_t at = offset(lanes);
    const bool by_element = steps_[value].level == Level::Element;
    if (!is_strip(at)) {
      if (by_element) throw Untraceable{};
      rows_[at] = {value, every};
      return;
    }
    for (unsigned k = 0; k < elements_; ++k) {
      rows_[at + k * row_bytes_] = {value, by_element ? static_cast<int>(k) : every};
    }
  }

  StepId broadcast(const std::uint64_t* word) override {
    Step s;
    s.kind = Step::Kind::Broadcast;
    s.memory = op_.memory;
    s.bits = static_cast<std::uint64_t>(word - run_.memory[op_.memory]) * sizeof *word;
    return append(s);
  }

  StepId step(const Step& wanted) override {
    Step s = wanted;
    for (const StepId in : s.in) {
      if (in != no_step) s.level = std::max(s.level, steps_[in].level);
    }
    if (s.op == jit::Op::TestBits && s.in[0] == s.in[1] &&
        steps_[s.in[0]].op == jit::Op::MaskToLanes) {
      return steps_[s.in[0]].in[0];  // a mask that went through lanes
    }
    // The inexact lanes are initially zero; without tests they remain so.
    if (s.op == jit::Op::Or && s.in[2] == no_step && is_zero(s.in[0])) return s.in[1];
    if (s.op == jit::Op::Collect && is_zero(s.in[0])) return s.in[0];
    return append(s);
  }
  Level level(StepId n) const override { return steps_[n].level; }
  bool is_checked(StepId n) override {
    const Step& s = steps_[n];
    const bool chosen = s.kind == Step::Kind::Operation && s.op == jit::Op::Select &&
                        is_number(s.in[1]) && is_number(s.in[2]);
    return chosen || is_number(n) || !numbers_.insert(n).second;
  }

 private:
  static constexpr int every = -1;
  struct Row {
    StepId value;
    int element;  ///< owner of the value, or `every`
  };

  void one_row(DoublesOp op) {
    op.elements = 1;
    op.lanes = TracedLanes::width;
    op_ = op;
    const DoublesOp list[2] = {op, plain_operation(stop)};
    struct Open {
      explicit Open(Tracer* n) { set(n); }
      ~Open() { set(nullptr); }
      static void set(Tracer* n) { TraceRecorder::open = n; }
    } const opened(this);
    op.kernel(list[0], run_);
  }

  bool is_zero(StepId n) const {
    return steps_[n].kind == Step::Kind::Constant && steps_[n].bits == 0;
  }

  bool is_number(StepId n) const {
    const Step& s = steps_[n];
    if (s.kind == Step::Kind::Constant) return std::isfinite(std::bit_cast<double>(s.bits));
    return numbers_.contains(n);
  }

  /// Words of the broadcast memory go to one row each.
  void fill(DoublesOp op) {
    strip_ = elements_ == 1;
    const std::uint32_t step = op.out.step;
    for (unsigned k = 0; k < op.elements; ++k) {
      one_row(op);
      op.out.lanes += step;
      op.out.tail += step;
      op.address += op.address_step;
    }
  }

  std::uint32_t offset(const double* lanes) const {
    return static_cast<std::uint32_t>(reinterpret_cast<const std::byte*>(lanes) - run_.frame);
  }

  /// Whether an operand has a row for each element.
  bool is_strip(std::uint32_t at) const {
    if (!strip_) return false;
    if (elements_ == 1) return true;
    const LanePlace* found = nullptr;
    for (const LanePlace* p : {&op_.a, &op_.b, &op_.out, &op_.mask}) {
      if (p->lanes != at && p->tail != at) continue;
      if (found != nullptr && found->step != p->step) throw Untraceable{};
      found = p;
    }
    if (found == nullptr || (found->step != 0 && found->step != row_bytes_)) throw Untraceable{};
    return found->step != 0;
  }

  StepId append(const Step& s) {
    const auto [at, is_new] = known_.try_emplace(s, static_cast<StepId>(steps_.size()));
    if (is_new) steps_.push_back(s);
    return at->second;
  }

  /// The final values of rows. Rows of a strip may have been overwritten by values of all elements,
  /// which are stored after it, but not by another strip.
  std::vector<RowStore> stores() const {
    std::vector<RowStore> list;
    std::map<std::uint32_t, StepId> strips;
    for (const auto& [at, row] : rows_) {
      if (row.element == every) {
        list.push_back({row.value, at, Level::Lanes});
      } else {
        strips[at - static_cast<std::uint32_t>(row.element) * row_bytes_] = row.value;
      }
    }
    for (const auto& [at, value] : strips) {
      for (unsigned k = 0; k < elements_; ++k) {
        const Row& row = rows_.at(at + k * row_bytes_);
        const bool own = row.value == value && row.element == static_cast<int>(k);
        if (!own && row.element != every) throw Untraceable{};
      }
      for (const std::uint32_t read : strips_read_) {
        const std::uint32_t apart = read > at ? read - at : at - read;
        if (apart != 0 && apart < elements_ * row_bytes_) throw Untraceable{};
      }
      const Step& s = steps_[value];
      if (s.kind != Step::Kind::Row || s.bits != at) list.push_back({value, at, Level::Element});
    }
    return list;
  }

  unsigned elements_;
  std::uint32_t row_bytes_;
  std::unique_ptr<std::byte[]> frame_;  ///< never accessed: provides distinct addresses
  DoublesRun run_;
  DoublesOp op_;
  bool strip_ = false;  ///< the current operation has all elements
  std::vector<Step> steps_;
  std::unordered_map<Step, StepId, StepHash> known_;
  std::unordered_map<std::uint32_t, std::uint64_t> constants_;
  std::set<StepId> numbers_;  ///< values that are tested for being finite
  std::map<std::uint32_t, Row> rows_;
  std::vector<std::uint32_t> strips_read_;
};

}  // namespace

std::optional<Trace> trace(std::span<const DoublesOp> ops, const DoublesSection& section,
                           const std::vector<std::uint32_t>* live) {
  unsigned elements = 1;
  for (const DoublesOp& op : ops) {
    if (!is_fill(op.kernel)) elements = std::max(elements, op.elements);
  }
  try {
    const auto row_bytes = section.row_lanes * static_cast<std::uint32_t>(sizeof(double));
    TraceRecorder recorder(section, elements);
    for (const DoublesOp& op : rolled(ops, elements, row_bytes)) recorder.operation(op);
    return recorder.finish(live);
  } catch (const Untraceable&) {
    return std::nullopt;
  }
}

Trace trace_elements_together(std::span<const DoublesOp> ops, const DoublesSection& section,
                              const std::vector<std::uint32_t>* live) {
  TraceRecorder recorder(section, 1);
  for (const DoublesOp& op : unrolled(ops)) recorder.operation(op);
  return recorder.finish(live);
}

}  // namespace gdr::codegen
