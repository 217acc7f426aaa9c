// Steps of loops that reach the ends of the range and return, by products with constants.
#include "emulator/isa/table.hpp"
#include "emulator/selftest/loop_builder.hpp"

namespace gdr::selftest {
namespace {

constexpr int lowest = -1022, highest = 1023;

Operand constant(Width width) { return {Space::Immediate, width, false, 0, 0, 0}; }

Long word_as(Width width, Long word) {
  return width == Width::Long ? word : Long{upper_half(word).bits};
}

}  // namespace

/// The product of a place and a constant of size 2^exponent.
LoopBuilder::Draft LoopBuilder::scaled(Place& to, const Operand& from, int exponent) {
  Draft draft;
  draft.multiplier = true;
  draft.slot.op = rng_.pick({Op::Fmul, Op::Dmul});
  draft.slot.a = from;
  draft.slot.b = constant(rng_.pick({Width::Short, Width::Long}));
  draft.slot.immediate = word_as(draft.slot.b.width, word_of_exponent(rng_, exponent));
  write(draft, to);
  return draft;
}

/// An operation of the adder on a constant, and on `a` or the constant again.
LoopBuilder::Draft LoopBuilder::on_constant(Op op, Place& to, const Operand& a, Long word) {
  Draft draft;
  write(draft, to);
  const bool one = a.space == Space::Immediate;
  const Width width = one ? to.where.width : rng_.pick({Width::Short, Width::Long});
  draft.slot.op = op;
  draft.slot.a = one ? constant(width) : a;
  if (info(op).operands == 2) draft.slot.b = constant(width);
  draft.slot.immediate = word_as(width, word);
  return draft;
}

/// Writes a boundary constant that only the final state shows.
void LoopBuilder::edge_step() {
  Place& place = temporary();
  const Op op = rng_.pick({Op::Ipass, Op::Fcvt, Op::Fmax, Op::Fadd});
  emit({on_constant(op, place, constant(Width::Long), boundary_word(rng_))});
  place.written = false;
}

/// Intermediate numbers near the ends of the range, observable only through later results. They
/// derive from different numbers in all lanes, or from one.
void LoopBuilder::range_limit_step() {
  if (rng_.chance(30)) return edge_step();
  Place& place = temporary();
  const bool top = rng_.chance(50);
  int level = 0, there = 0, back = 0;
  if (rng_.chance(40)) {
    const int first = static_cast<int>(rng_.below(1001)) - 500;
    emit({on_constant(Op::Ipass, place, constant(Width::Long), word_of_exponent(rng_, first))});
    back = (top ? highest : lowest) + static_cast<int>(rng_.below(5)) - 2;
    there = back - first;
    emit({scaled(place, place.where, there)});
  } else {
    const Place* from = source(largest_factor);
    if (from == nullptr) return;
    level = from->level;
    there = top ? highest - static_cast<int>(rng_.below(2 * level + 4))
                : lowest + static_cast<int>(rng_.below(level + 70));
    back = there;
    emit({scaled(place, from->where, there)});
  }
  if (rng_.chance(60)) {
    const Op op = rng_.pick({Op::Fadd, Op::Fsub, Op::Fmax, Op::Fmin});
    const int size = back + static_cast<int>(rng_.below(70)) - 60;
    emit({on_constant(op, place, place.where, word_of_exponent(rng_, size))});
  }
  emit({scaled(place, place.where, -back)});
  place.level = level + 10;
}

}  // namespace gdr::selftest
