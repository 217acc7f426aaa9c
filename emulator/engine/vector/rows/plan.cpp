#include "emulator/engine/vector/rows/plan.hpp"

#include <algorithm>
#include <array>
#include <utility>
#include <vector>

#include "emulator/isa/table.hpp"
#include "emulator/isa/validate.hpp"

namespace gdr {
namespace {

/// Translates instructions and collects constant rows.
class Planner {
 public:
  Planner(const Geometry& geometry, const StripKernels& kernels)
      : geometry_(geometry), kernels_(kernels) {
    append_row([](std::size_t) { return std::uint64_t{0}; });
    pe_row_ = append_row([](std::size_t pe) { return pe; });
  }

  Plan plan(const Instruction& i) {
    Plan p;
    p.instruction = &i;
    p.mul = arithmetic(i.mul, ScratchRows::mul, p);
    p.alu = arithmetic(i.alu, ScratchRows::alu, p);
    const SlotOrder order = slot_order(i);
    p.adder_first = order == SlotOrder::AdderFirst;
    p.in_place = order != SlotOrder::Neither && !i.predicate.used;
    if (p.in_place) {
      make_direct(i.mul, p.mul);
      make_direct(i.alu, p.alu);
    }
    return p;
  }

  LaneMemory take_constants() { return std::move(constants_); }

 private:
  template <class Value>
  std::uint32_t append_row(Value value) {
    const std::size_t pes = geometry_.pes_per_block;
    const auto row = static_cast<std::uint32_t>(constants_.size() / pes);
    for (std::size_t pe = 0; pe < pes; ++pe) constants_.push_back(value(pe));
    return row;
  }

  /// Two rows, hi and lo, with the same word in every lane; for a PE number a zero and the number.
  std::uint32_t constant_rows(std::uint64_t hi, std::uint64_t lo) {
    const std::uint32_t row = append_row([&](std::size_t) { return hi; });
    append_row([&](std::size_t) { return lo; });
    return row;
  }

  static RowRef location(const Operand& x) {
    if (x.space == Space::T) return {RowBase::T, x.address, 2};
    const std::uint32_t unit = x.vector ? shorts_in(x.width) : 0;
    return {x.space == Space::Register ? RowBase::Registers : RowBase::Local, x.address, unit};
  }

  RowRef rows_of(const Operand& x, Long immediate, Plan& p) {
    switch (x.space) {
      case Space::Register:
      case Space::Local:
      case Space::T:
        return location(x);
      case Space::PeNumber:
        return {RowBase::Constants, pe_row_ - 1, 0};
      case Space::BlockNumber:
        return {RowBase::BlockNumber, 0, 0};
      case Space::LocalByT: {
        const auto row = static_cast<std::uint32_t>(ScratchRows::gather + 8 * p.gathers.size());
        p.gathers.push_back({row, &x});
        return {RowBase::Scratch, row, 2};
      }
      case Space::Immediate: {
        const bool wide = x.width == Width::Long;
        const Short low = lower_half(immediate);
        return {
            RowBase::Constants,
            wide ? constant_rows(upper_half(immediate).bits, low.bits) : constant_rows(low.bits, 0),
            0};
      }
      default:
        return {};
    }
  }

  /// The kernel of an operation. Integer kernels want operands of the result's width; a short
  /// operation reads the low half of a long operand, which is a row like any other.
  StripKernel kernel_for(const Arithmetic& slot, RowRef& a, RowRef& b) const {
    const OpInfo& op = info(slot.op);
    const auto wide = [](const Operand& x) { return x.width == Width::Long ? 1 : 0; };
    const int out = slot.width == Width::Long ? 1 : 0;
    switch (slot.op) {
      case Op::Fadd:
        return kernels_.fadd[wide(slot.a)][wide(slot.b)][out];
      case Op::Fsub:
        return kernels_.fsub[wide(slot.a)][wide(slot.b)][out];
      case Op::Fmul:
        return kernels_.fmul[wide(slot.a)][wide(slot.b)][out];
      case Op::Dmul:
        return kernels_.dmul[wide(slot.a)][wide(slot.b)][out];
      case Op::Fcvt:
        return kernels_.fcvt[wide(slot.a)][out];
      case Op::Fmax:
      case Op::Fmin:
        return nullptr;
      default:
        break;
    }
    if (slot.mask.flag == MaskFlag::Carry) return nullptr;
    const bool two = op.operands == 2;
    if (out == 1 && (wide(slot.a) == 0 || (two && wide(slot.b) == 0))) return nullptr;
    if (out == 0 && wide(slot.a) == 1) a.row += 1;
    if (out == 0 && two && wide(slot.b) == 1) b.row += 1;
    return kernels_.integer[static_cast<int>(slot.op) - static_cast<int>(Op::Iadd)][out];
  }

  ArithmeticPlan arithmetic(const Arithmetic& slot, std::uint32_t scratch, Plan& p) {
    ArithmeticPlan plan;
    if (!slot.used()) return plan;
    plan.used = true;
    plan.a = rows_of(slot.a, slot.immediate, p);
    plan.b = slot.b.used() ? rows_of(slot.b, slot.immediate, p) : plan.a;
    RowRef a = plan.a;
    RowRef b = plan.b;
    plan.kernel = kernel_for(slot, a, b);
    if (plan.kernel != nullptr) {
      plan.a = a;
      plan.b = b;
    }
    plan.out = {RowBase::Scratch, scratch, 2};
    return plan;
  }

  static void make_direct(const Arithmetic& slot, ArithmeticPlan& plan) {
    if (!plan.used || !(slot.dst.used() || slot.t != TTarget::None)) return;
    plan.direct = true;
    plan.out = slot.dst.used() ? location(slot.dst)
                               : RowRef{RowBase::T, slot.t == TTarget::Lower ? 1U : 0U, 2};
  }

  const Geometry& geometry_;
  const StripKernels& kernels_;
  LaneMemory constants_;
  std::uint32_t pe_row_ = 0;
};

/// Rows of one memory that an operand touches in one element.
struct Touch {
  Space space;
  std::uint32_t row, count;
  unsigned element;
};

void touch(const Operand& x, unsigned element, std::vector<Touch>& list) {
  const std::uint32_t count = shorts_in(x.width);
  if (x.space == Space::Register) list.push_back({Space::Register, x.at(element), count, element});
  if (x.space == Space::Local) list.push_back({Space::Local, x.at(element), count, element});
  if (x.space == Space::T) list.push_back({Space::T, element * 2 + x.address, count, element});
}

void touch_t(TTarget t, unsigned element, std::vector<Touch>& list) {
  if (t == TTarget::None) return;
  const std::uint32_t half = t == TTarget::Lower ? 1 : 0;
  list.push_back({Space::T, element * 2 + half, t == TTarget::Whole ? 2U : 1U, element});
}

bool meet(const Touch& x, const Touch& y) {
  return x.space == y.space && x.row < y.row + y.count && y.row < x.row + x.count;
}

template <class Condition>
bool any_pair(const std::vector<Touch>& x, const std::vector<Touch>& y, Condition condition) {
  return std::any_of(x.begin(), x.end(), [&](const Touch& a) {
    return std::any_of(y.begin(), y.end(),
                       [&](const Touch& b) { return meet(a, b) && condition(a, b); });
  });
}

/// True if executing the multiplier's elements in place, then the adder's (or vice versa), then the
/// transfer's is equivalent to the rule (see slot_order).
bool is_valid_order(const Instruction& i, bool adder_first) {
  if (uses_t_address(i)) return false;
  // Under a predicate the transfer comes after the adder's mask, and reads one PE's bit at a time.
  const bool sets_mask = i.alu.mask.flag != MaskFlag::None;
  if (i.predicate.used && (i.move.op == Op::Bput || (sets_mask && i.move.used()))) return false;
  if (i.predicate.used && sets_mask && adder_first) return false;
  std::array<const Arithmetic*, 2> order{&i.mul, &i.alu};
  if (adder_first) std::swap(order[0], order[1]);
  std::array<std::vector<Touch>, 3> reads;
  std::array<std::vector<Touch>, 3> writes;
  for (unsigned slot = 0; slot < 2; ++slot) {
    const Arithmetic& op = *order[slot];
    // A copy to T or a mask reads the result of every element, so none may overwrite another.
    const bool needs_all = op.t != TTarget::None || op.mask.flag != MaskFlag::None;
    const bool one_row = op.dst.used() && !op.dst.vector && op.dst.space != Space::T;
    if (needs_all && one_row && i.vlen > 1) return false;
    for (unsigned k = 0; k < i.vlen; ++k) {
      touch(op.a, k, reads[slot]);
      touch(op.b, k, reads[slot]);
      touch(op.dst, k, writes[slot]);
      touch_t(op.t, k, writes[slot]);
    }
  }
  for (unsigned k = 0; k < i.vlen; ++k) {
    touch(i.move.pe, k, i.move.op == Op::Bput ? reads[2] : writes[2]);
  }
  const auto always = [](const Touch&, const Touch&) { return true; };
  for (unsigned earlier = 0; earlier < 3; ++earlier) {
    // Within a slot: an element must not read what an element before it wrote.
    const auto later = [](const Touch& w, const Touch& r) { return r.element > w.element; };
    if (any_pair(writes[earlier], reads[earlier], later)) return false;
    for (unsigned after = earlier + 1; after < 3; ++after) {
      if (any_pair(writes[earlier], reads[after], always)) return false;
      if (any_pair(writes[earlier], writes[after], always)) return false;
    }
  }
  return true;
}

}  // namespace

SlotOrder slot_order(const Instruction& i) {
  if (is_valid_order(i, false)) return SlotOrder::MulFirst;
  return is_valid_order(i, true) ? SlotOrder::AdderFirst : SlotOrder::Neither;
}

bool writes_meet(const Instruction& i) {
  std::array<std::vector<Touch>, 3> writes;
  for (unsigned k = 0; k < i.vlen; ++k) {
    touch(i.mul.dst, k, writes[0]);
    touch_t(i.mul.t, k, writes[0]);
    touch(i.alu.dst, k, writes[1]);
    touch_t(i.alu.t, k, writes[1]);
    if (i.move.op == Op::Bget) touch(i.move.pe, k, writes[2]);
  }
  const auto always = [](const Touch&, const Touch&) { return true; };
  return any_pair(writes[0], writes[1], always) || any_pair(writes[0], writes[2], always) ||
         any_pair(writes[1], writes[2], always);
}

PlannedProgram plan_program(const Program& program, const Geometry& geometry,
                            const StripKernels& kernels) {
  Planner planner(geometry, kernels);
  PlannedProgram planned;
  for (unsigned s = 0; s < section_count; ++s) {
    planned.sections[s].reserve(program.sections[s].size());
    for (const Instruction& i : program.sections[s]) planned.sections[s].push_back(planner.plan(i));
  }
  planned.constants = planner.take_constants();
  return planned;
}

}  // namespace gdr
