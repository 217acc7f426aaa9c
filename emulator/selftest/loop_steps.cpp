// The steps of a loop: arithmetic, integer operations, transfers, masks, ends of the range.
#include <algorithm>

#include "emulator/isa/table.hpp"
#include "emulator/selftest/loop_builder.hpp"

namespace gdr::selftest {
namespace {

constexpr int lowest = -1022, highest = 1023;  // exponents of the range
constexpr u128 sign_of_short = u128{1} << 35, sign_of_long = u128{1} << 71;

Operand at(Space space, Width width) { return {space, width, false, 0, 0, 0}; }

}  // namespace

LoopBuilder::Draft LoopBuilder::product() {
  Draft draft;
  draft.multiplier = true;
  draft.slot.op = rng_.chance(20) ? Op::Dmul : Op::Fmul;
  draft.level = read(draft.slot.a, draft.slot, source(largest_factor));
  if (rng_.chance(20)) {
    draft.slot.b = draft.slot.a;
    draft.level *= 2;
  } else {
    draft.level += read(draft.slot.b, draft.slot, source(largest_factor));
  }
  write(draft, temporary());
  return draft;
}

MaskTarget LoopBuilder::random_mask() {
  // Predicates may use masks from here on; before, masks are clear or random.
  masks_set_ = 2;
  const MaskFlag flag = rng_.pick({MaskFlag::Negative, MaskFlag::Zero});
  return {flag, static_cast<std::uint8_t>(rng_.below(2))};
}

LoopBuilder::Draft LoopBuilder::sum() {
  Draft draft;
  if (rng_.chance(35)) {
    Place& to = accumulator();
    draft.slot.op = rng_.pick({Op::Fadd, Op::Fadd, Op::Fsub});
    draft.slot.a = to.where;
    read(draft.slot.b, draft.slot, source(largest_factor));
    if (draft.slot.op == Op::Fadd && rng_.chance(30)) std::swap(draft.slot.a, draft.slot.b);
    draft.level = sum_level;
    write(draft, to);
    return draft;
  }
  draft.slot.op = rng_.pick(
      {Op::Fadd, Op::Fadd, Op::Fadd, Op::Fsub, Op::Fsub, Op::Fsub, Op::Fmax, Op::Fmin, Op::Fcvt});
  draft.level = read(draft.slot.a, draft.slot, source(2 * largest_factor));
  if (info(draft.slot.op).operands == 2) {
    draft.level =
        1 + std::max(draft.level, read(draft.slot.b, draft.slot, source(2 * largest_factor)));
  }
  write(draft, temporary());
  if (rng_.chance(style_.mask_chance)) {
    draft.slot.mask = random_mask();
  }
  return draft;
}

void LoopBuilder::arithmetic_step() {
  if (rng_.chance(style_.pair_chance)) {
    const Draft first = product();
    emit({first, sum()});
  } else {
    emit({rng_.chance(50) ? product() : sum()});
  }
}

/// y = magic - (x^2 >> 1) on bit patterns: near 1 / |x|.
void LoopBuilder::reciprocal_root_seed() {
  Place* work = nullptr;
  for (Place& place : temporaries_) {
    if (place.where.width == Width::Short) work = &place;
  }
  if (work == nullptr) return;
  Draft square;
  square.multiplier = true;
  square.slot.op = Op::Fmul;
  read(square.slot.a, square.slot, &inputs_[rng_.below(inputs_.size())]);
  square.slot.b = square.slot.a;
  square.slot.dst = work->where;
  square.slot.width = Width::Short;
  Draft half;
  half.slot = {Op::Ishr, Width::Short, work->where, TTarget::None, {}, work->where, {}, Long{1}};
  half.slot.b = at(Space::Immediate, Width::Short);
  Draft seed;
  seed.slot = half.slot;
  seed.slot.op = Op::Isub;
  seed.slot.a = half.slot.b;
  seed.slot.b = work->where;
  seed.slot.immediate = Long{0x5fe400000};
  seed.to = work;
  seed.level = largest_factor;
  emit({square});
  emit({half});
  emit({seed});
}

/// Moves, signs and powers of two by the integer unit: floats as bit patterns.
void LoopBuilder::integer_step() {
  if (rng_.chance(30)) return reciprocal_root_seed();
  const Place* from = source(largest_factor);
  if (from == nullptr) return;
  std::vector<Place*> fit;
  for (Place& place : temporaries_) {
    if (place.where.width == from->where.width) fit.push_back(&place);
  }
  if (fit.empty()) return;
  const bool wide = from->where.width == Width::Long;
  const u128 sign = wide ? sign_of_long : sign_of_short;
  Draft draft;
  draft.slot.op = rng_.pick({Op::Ipass, Op::Upass, Op::Ixor, Op::Iand, Op::Ior, Op::Iadd});
  draft.slot.a = from->where;
  draft.level = from->level;
  if (info(draft.slot.op).operands == 2) {
    draft.slot.b = at(Space::Immediate, from->where.width);
    draft.slot.immediate = Long{draft.slot.op == Op::Iand ? sign - 1 : sign};
  }
  if (draft.slot.op == Op::Iadd) {  // times 2^k
    const unsigned k = rng_.between(1, 8);
    draft.slot.immediate = Long{u128{k} << (wide ? 60 : 24)};
    draft.level += static_cast<int>(k);
  }
  write(draft, *fit[rng_.below(fit.size())]);
  emit({draft});
}

void LoopBuilder::transfer_step() {
  const Place* from = source(largest_factor);
  if (from == nullptr) return;
  if (rng_.chance(50)) {
    const Operand to = at(Space::BmOutput, from->where.width);
    const bool whole = from->where.vector && shorts_in(to.width) * 2 <= output_shorts;
    Operand words = to;
    words.vector = whole && rng_.chance(50);
    emit_move(Op::Bput, from->where, words, words.vector ? 2 : 1);
    return;
  }
  if (from->where.width == scratch_.where.width) {
    emit_move(Op::Bput, from->where, scratch_.where, rng_.between(1, max_elements));
    scratch_.level = from->level;
    scratch_.written = true;
  }
  for (Place& place : temporaries_) {
    if (!scratch_.written || place.where.width != scratch_.where.width) continue;
    emit_move(Op::Bget, place.where, scratch_.where, elements());
    place.level = scratch_.level;
    place.written = true;
    return;
  }
}

/// A mask from a comparison, or from the number of the PE.
void LoopBuilder::mask_step() {
  Draft draft;
  Arithmetic& slot = draft.slot;
  slot.mask = random_mask();
  slot.width = rng_.chance(50) ? Width::Long : Width::Short;
  if (rng_.chance(40)) {
    slot.op = Op::Isub;
    slot.a = at(Space::PeNumber, Width::Long);
    slot.b = at(Space::Immediate, slot.width);
    slot.immediate = Long{rng_.below(test_.geometry.pes_per_block)};
  } else {
    slot.op = rng_.pick({Op::Fsub, Op::Fadd, Op::Fmax, Op::Fmin});
    read(slot.a, slot, source(2 * largest_factor));
    read(slot.b, slot, source(2 * largest_factor));
  }
  emit({draft});
}

/// The product of a place and a constant of size 2^exponent.
LoopBuilder::Draft LoopBuilder::scaled(Place& to, const Operand& from, int exponent) {
  Draft draft;
  draft.multiplier = true;
  draft.slot.op = rng_.pick({Op::Fmul, Op::Dmul});
  draft.slot.a = from;
  draft.slot.b = at(Space::Immediate, rng_.pick({Width::Short, Width::Long}));
  draft.slot.immediate = narrow_float(word_of_exponent(rng_, exponent), draft.slot.b.width);
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
  draft.slot.a = one ? at(Space::Immediate, width) : a;
  if (info(op).operands == 2) draft.slot.b = at(Space::Immediate, width);
  draft.slot.immediate = narrow_float(word, width);
  return draft;
}

/// Writes a boundary constant that only the final state shows.
void LoopBuilder::edge_step() {
  Place& place = temporary();
  const Op op = rng_.pick({Op::Ipass, Op::Fcvt, Op::Fmax, Op::Fadd});
  emit({on_constant(op, place, at(Space::Immediate, Width::Long), boundary_word(rng_))});
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
    emit({on_constant(Op::Ipass, place, at(Space::Immediate, Width::Long),
                      word_of_exponent(rng_, first))});
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

void LoopBuilder::write_body(unsigned steps) {
  fetch_item();
  for (unsigned n = 0; n < steps; ++n) {
    if (rng_.chance(style_.integer_chance)) {
      integer_step();
    } else if (rng_.chance(style_.transfer_chance)) {
      transfer_step();
    } else if (rng_.chance(style_.mask_chance / 2)) {
      mask_step();
    } else if (rng_.below(steps) < style_.range_limit_steps) {
      range_limit_step();
    } else {
      arithmetic_step();
    }
  }
}

}  // namespace gdr::selftest
