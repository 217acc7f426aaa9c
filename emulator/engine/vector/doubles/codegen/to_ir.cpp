#include <algorithm>
#include <array>
#include <bit>

#include "emulator/engine/jit/order.hpp"
#include "emulator/engine/vector/doubles/codegen/rounded_shorts.hpp"
#include "emulator/engine/vector/doubles/codegen/trace.hpp"

namespace gdr::codegen {
namespace {

using jit::no_value;
using jit::Op;
using jit::Operation;
using jit::Place;
using jit::Type;
using jit::ValueId;

/// The three levels of a trace as blocks of the IR.
class Lowering {
 public:
  Lowering(const Trace& r, jit::VectorTarget target, Arrangement arrangement,
           jit::ConstantPool& pool)
      : r_(r),
        target_(target),
        copies_(arrangement.copies),
        window_(arrangement.window),
        pool_(pool),
        shorts_(r),
        slot_(r.steps.size(), none) {
    find_in_memory();
    find_kept();
  }

  LoopNestCode run() {
    LoopNestCode made;
    made.iteration = code_of(Level::Iteration);
    made.lanes = code_of(Level::Lanes);
    made.element = code_of(Level::Element);
    begin();
    for (const RowStore& s : r_.stores) {
      if (s.level != Level::Element) store(s, after_all);
    }
    made.left = interleave(copies_);
    made.kept = iteration_slots_ + copies_ * own_slots_;
    return made;
  }

 private:
  static constexpr std::int32_t none = -1;

  // --- locations of values
  /// Marks rows that can be read at each use, since nothing is stored there before.
  void find_in_memory() {
    in_memory_.assign(r_.steps.size(), false);
    const std::uint64_t strip = std::uint64_t{r_.elements} * r_.row_bytes;
    const auto written = [&](const Step& load) {
      return std::ranges::any_of(r_.stores, [&](const RowStore& s) {
        const std::uint64_t bytes = s.level == Level::Element ? strip : r_.row_bytes;
        const std::uint64_t own = load.level == Level::Element ? strip : r_.row_bytes;
        return load.bits < s.offset + bytes && s.offset < load.bits + own;
      });
    };
    std::vector<bool> moved(r_.steps.size());
    for (const RowStore& store : r_.stores) moved[store.value] = true;
    for (StepId n = 0; n < r_.steps.size(); ++n) {
      const Step& s = r_.steps[n];
      in_memory_[n] = s.kind == Step::Kind::Constant || s.kind == Step::Kind::Broadcast;
      if (s.kind == Step::Kind::Row) {
        in_memory_[n] = s.level == Level::Element ? !moved[n] : !written(s);
      }
    }
  }

  /// Scratch locations of values that later levels use; those of an iteration come first.
  void find_kept() {
    std::vector<bool> crosses(r_.steps.size());
    for (const Step& s : r_.steps) {
      for (const StepId in : s.in) {
        if (in != no_step && r_.steps[in].level != s.level) crosses[in] = true;
      }
    }
    for (const RowStore& store : r_.stores) {
      if (store.level == Level::Lanes || r_.steps[store.value].level != store.level)
        crosses[store.value] = true;
    }
    const auto kept = [&](StepId n) {
      return crosses[n] && (!in_memory_[n] || r_.steps[n].kind == Step::Kind::Broadcast);
    };
    for (StepId n = 0; n < r_.steps.size(); ++n) {
      if (kept(n) && r_.steps[n].level == Level::Iteration)
        slot_[n] = slot_place(iteration_slots_++);
    }
    for (StepId n = 0; n < r_.steps.size(); ++n) {
      if (kept(n) && r_.steps[n].level != Level::Iteration) {
        slot_[n] = slot_place(iteration_slots_ + copies_ * own_slots_++);
      }
    }
  }
  std::int32_t slot_place(std::uint32_t slot) const {
    return static_cast<std::int32_t>(slot * target_.vector_bytes);
  }

  /// The place in copy `copy` that corresponds to p in the first one.
  Place of(Place p, unsigned copy) const {
    const auto bytes = static_cast<std::int32_t>(copy * target_.vector_bytes);
    const bool own = p.base == base_element || p.base == base_lanes ||
                     (p.base == base_scratch && p.offset >= slot_place(iteration_slots_));
    if (own) p.offset += bytes;
    return p;
  }
  Place place(StepId n) {
    const Step& s = r_.steps[n];
    if (s.kind == Step::Kind::Constant) return pool_.place(s.bits);
    const auto offset = static_cast<std::int32_t>(s.bits);
    if (s.kind == Step::Kind::Broadcast) {
      return {static_cast<std::uint8_t>(base_memory + s.memory), true, offset};
    }
    return {s.level == Level::Element ? base_element : base_lanes, false, offset};
  }

  // --- code of a level
  void begin() {
    block_ = {};
    id_.assign(r_.steps.size(), no_value);
  }
  /// The value of a step at this level.
  ValueId value(StepId n, Level level) {
    if (n == no_step || id_[n] != no_value) return n == no_step ? no_value : id_[n];
    const Type type = type_of(r_.steps[n]);
    const bool earlier = r_.steps[n].level != level && slot_[n] != none;
    id_[n] =
        block_.add_value({type, true, earlier ? Place{base_scratch, false, slot_[n]} : place(n)});
    return id_[n];
  }

  jit::Block code_of(Level level) {
    begin();
    const std::vector<std::vector<const RowStore*>> stores = stores_of(level);
    for (StepId n = 0; n < r_.steps.size(); ++n) {
      if (r_.steps[n].level == level) {
        if (!in_memory_[n]) lower(n, level);
        if (slot_[n] != none) store(value(n, level), {base_scratch, false, slot_[n]});
      }
      for (const RowStore* s : stores[n]) store(*s, level);
    }
    jit::Block made = interleave(level == Level::Iteration ? 1 : copies_);
    jit::order_for_latency(made, window_);
    return made;
  }
  jit::Block interleave(unsigned copies) const {
    return jit::interleaved(block_, copies, [this](Place p, unsigned copy) { return of(p, copy); });
  }

  /// By step: the stores after it, as soon as the row is not read any more.
  std::vector<std::vector<const RowStore*>> stores_of(Level level) const {
    std::vector<std::vector<const RowStore*>> stores(r_.steps.size());
    if (level != Level::Element) return stores;
    std::vector<StepId> last_read(r_.steps.size());  // of a row, by the step that loads it
    for (StepId n = 0; n < r_.steps.size(); ++n) {
      for (const StepId in : r_.steps[n].in) {
        if (in != no_step && r_.steps[n].level == level) last_read[in] = n;
      }
    }
    for (const RowStore& s : r_.stores) {
      if (s.level != level) continue;
      StepId at = r_.steps[s.value].level == level ? s.value : 0;
      for (StepId n = 0; n < r_.steps.size(); ++n) {
        const Step& other = r_.steps[n];
        if (other.kind == Step::Kind::Row && other.level == level && other.bits == s.offset) {
          at = std::max({at, last_read[n], n});
        }
      }
      stores[at].push_back(&s);
    }
    return stores;
  }

  void store(ValueId v, Place to) {
    Operation o;
    o.op = Op::Store;
    o.in[0] = v;
    o.place = to;
    block_.code.push_back(o);
  }
  void store(const RowStore& s, Level level) {
    const Base base = s.level == Level::Element ? base_element : base_lanes;
    store(value(s.value, level), {base, false, static_cast<std::int32_t>(s.offset)});
  }

  static Type type_of(const Step& s) {
    const bool mask = s.kind == Step::Kind::Operation && jit::makes_mask(s.op);
    return mask ? Type::Mask : Type::Vector;
  }

  ValueId constant(std::uint64_t bits) {
    return block_.add_value({Type::Vector, true, pool_.place(bits)});
  }
  ValueId operation(Op op, std::array<ValueId, 3> in) { return block_.add(op, Type::Vector, in); }
  /// x c + x (1 - c) has the same roundings, but for the sign of a zero, and no addend that changes
  /// its sign.
  ValueId rounded(StepId x, StepId c, Level level) {
    const double factor = std::bit_cast<double>(r_.steps[c].bits);
    const ValueId v = value(x, level),
                  negative = constant(std::bit_cast<std::uint64_t>(1 - factor));
    const ValueId rest = operation(Op::Mul, {v, negative, no_value});
    const ValueId sum = operation(Op::Fma, {v, value(c, level), rest});
    if (shorts_.is_never_minus_zero(x)) return sum;
    return operation(Op::Select, {constant(sign), v, sum});
  }

  void lower(StepId n, Level level) {
    const Step& s = r_.steps[n];
    if (!target_.fma_replaces_any && target_.selects_bits) {
      if (shorts_.is_inner(n)) return;
      if (const StepId x = shorts_.rounded_by(n); x != no_step) {
        id_[n] = rounded(x, s.in[1], level);
        return;
      }
    }
    Operation o;
    o.op = Op::Load;
    if (s.kind == Step::Kind::Row) {
      o.place = place(n);
    } else {
      o.op = s.op;
      o.detail = s.detail;
      o.rounding = s.rounding;
      for (unsigned k = 0; k < 3; ++k) o.in[k] = value(s.in[k], level);
      if (s.op == Op::Or && o.in[2] != no_value) {
        o.mask = o.in[2];
        o.otherwise = o.in[0];
        o.in[2] = no_value;
      }
    }
    if (o.op != Op::Collect) o.to = id_[n] = block_.add_value({type_of(s), false, {}});
    block_.code.push_back(o);
  }

  static constexpr std::uint64_t sign = std::uint64_t{1} << 63;
  static constexpr auto after_all = static_cast<Level>(level_count);
  const Trace& r_;
  jit::VectorTarget target_;
  unsigned copies_;
  std::size_t window_;
  jit::ConstantPool& pool_;
  RoundedShorts shorts_;
  std::vector<bool> in_memory_;     ///< whether each step is read where it is used
  std::vector<std::int32_t> slot_;  ///< place of each step in the scratch
  std::uint32_t iteration_slots_ = 0, own_slots_ = 0;
  jit::Block block_;
  std::vector<ValueId> id_;  ///< value of each step at this level
};

}  // namespace

LoopNestCode to_ir(const Trace& trace, jit::VectorTarget target, Arrangement arrangement,
                   jit::ConstantPool& pool) {
  return Lowering(trace, target, arrangement, pool).run();
}

}  // namespace gdr::codegen
