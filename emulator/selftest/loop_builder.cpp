#include "emulator/selftest/loop_builder.hpp"

#include <algorithm>
#include <initializer_list>

#include "emulator/isa/table.hpp"
#include "emulator/selftest/random_instruction.hpp"

namespace gdr::selftest {
namespace {

constexpr int input_level = 9;  // what moods of moderate size keep
constexpr int largest_factor = 60;
constexpr int sum_level = 40;
constexpr u128 sign_of_short = u128{1} << 35, sign_of_long = u128{1} << 71;

Operand at(Space space, Width width, bool vector, std::uint32_t address) {
  return {space, width, vector, static_cast<std::uint16_t>(address), 0, 0};
}

}  // namespace

LoopBuilder::LoopBuilder(Draw& draw, Case& test, const LoopStyle& style)
    : draw_(draw), test_(test), style_(style) {
  lay_out_items();
  lay_out_places();
}

Operand LoopBuilder::take_registers(Width width, bool vector) {
  const unsigned shorts = shorts_in(width) * (vector ? max_elements : 1);
  // Longs stand at even addresses.
  if (width == Width::Long) next_register_ += next_register_ % 2;
  const Operand where = at(Space::Register, width, vector, next_register_);
  next_register_ += shorts;
  return where;
}

/// Longs first, then shorts, each side by side, as one transfer of several elements fetches them.
void LoopBuilder::lay_out_items() {
  const unsigned longs = draw_.between(0, 3), shorts = draw_.between(longs == 0 ? 1 : 0, 3);
  std::uint32_t address = 0;
  for (unsigned n = 0; n < longs + shorts; ++n) {
    const Width width = n < longs ? Width::Long : Width::Short;
    const Operand in_register = take_registers(width, false);
    fields_.push_back({at(Space::BmSource, width, false, address), in_register});
    inputs_.push_back({in_register, input_level, true});
    address += shorts_in(width);
  }
  test_.program.item_shorts = address + address % 2;
}

void LoopBuilder::lay_out_places() {
  const auto width = [this] {
    return draw_.chance(style_.long_chance) ? Width::Long : Width::Short;
  };
  std::uint32_t local = 0;
  for (unsigned n = draw_.between(1, 3); n > 0; --n) {  // targets
    const Width w = width();
    inputs_.push_back({at(Space::Local, w, draw_.chance(80), local), input_level, true});
    local += shorts_in(w) * max_elements;
    local += local % 2;
  }
  for (unsigned n = draw_.between(1, 3); n > 0; --n) {
    const Width w = draw_.chance(85) ? Width::Long : Width::Short;
    sums_.push_back({take_registers(w, true), sum_level, true});
  }
  for (unsigned n = draw_.between(3, 6); n > 0; --n) {
    temporaries_.push_back({take_registers(width(), draw_.chance(90))});
  }
  temporaries_.push_back({at(Space::Local, width(), true, local + 8)});
  if (draw_.chance(40)) {
    temporaries_.push_back({at(Space::T, Width::Long, false, 0)});
  } else {
    temporaries_.push_back({at(Space::T, Width::Short, false, 0)});
    temporaries_.push_back({at(Space::T, Width::Short, false, 1)});
  }
  scratch_ = {at(Space::Bm, width(), false, 0)};
}

std::vector<Operand> LoopBuilder::starting_places() const {
  std::vector<Operand> list;
  for (const Place& place : inputs_) list.push_back(place.where);
  for (const Place& place : sums_) list.push_back(place.where);
  return list;
}

// --- instructions

void LoopBuilder::emit_move(Op op, const Operand& pe, const Operand& bm, unsigned vlen) {
  Instruction i;
  i.vlen = static_cast<std::uint8_t>(vlen);
  i.move.op = op;
  i.move.pe = pe;
  i.move.bm = bm;
  if (op == Op::Bput) {
    i.move.pe_number = static_cast<std::uint16_t>(draw_.below(test_.geometry.pes_per_block));
  }
  append(test_.program, Section::Body, i);
}

/// One instruction for drafts of different slots; under a predicate only where what stays is known.
void LoopBuilder::emit(std::initializer_list<Draft> drafts) {
  Instruction i;
  i.vlen = max_elements;
  bool known = true;
  for (const Draft& draft : drafts) {
    (draft.multiplier ? i.mul : i.alu) = draft.slot;
    known = known && (draft.to == nullptr || draft.to->written);
  }
  if (drafts.size() > 1 && writes_twice(i, test_.geometry)) {
    for (const Draft& draft : drafts) emit({draft});
    return;
  }
  const bool predicated = known && masks_set_ > 0 && draw_.chance(3 * style_.mask_chance);
  if (predicated) {
    i.predicate = {true, draw_.chance(50), static_cast<std::uint8_t>(draw_.below(masks_set_))};
  }
  append(test_.program, Section::Body, i);
  for (const Draft& draft : drafts) {
    if (draft.slot.t != TTarget::None) forget_t();
    if (draft.to == nullptr) continue;
    draft.to->level = predicated ? std::max(draft.to->level, draft.level) : draft.level;
    draft.to->written = true;
  }
}

void LoopBuilder::fetch_item() {
  for (std::size_t n = 0; n < fields_.size();) {
    std::size_t end = n;
    const Width width = fields_[n].in_item.width;
    while (end < fields_.size() && fields_[end].in_item.width == width && end - n < max_elements) {
      ++end;
    }
    Operand to = fields_[n].in_register, from = fields_[n].in_item;
    to.vector = from.vector = end - n > 1;
    emit_move(Op::Bget, to, from, static_cast<unsigned>(end - n));
    n = end;
  }
}

// --- operands

const Place* LoopBuilder::source(int largest_level) {
  if (draw_.chance(8)) return nullptr;
  std::vector<const Place*> fit;
  for (const auto* places : {&inputs_, &temporaries_, &temporaries_, &sums_}) {
    if (places == &sums_ && !style_.feedback) continue;
    for (const Place& place : *places) {
      if (place.written && place.level <= largest_level) fit.push_back(&place);
    }
  }
  return fit.empty() ? nullptr : fit[draw_.below(fit.size())];
}

/// The same place, or its beginning as a word of the other width.
Operand LoopBuilder::view(const Operand& where) {
  Operand seen = where;
  if (!style_.halves || !draw_.chance(20)) return seen;
  if (where.width == Width::Long) {
    seen.width = Width::Short;
    if (where.space == Space::T || draw_.chance(30)) {
      seen.address = static_cast<std::uint16_t>(seen.address + draw_.below(2));
    }
  } else if (where.address % 2 == 0) {
    seen.width = Width::Long;
  }
  return seen;
}

int LoopBuilder::read(Operand& operand, Arithmetic& slot, const Place* place) {
  if (place != nullptr) {
    operand = view(place->where);
    return place->level;
  }
  // Both operands of a slot can be immediates only if they are the same.
  const bool shared = &operand == &slot.b && slot.a.space == Space::Immediate;
  const bool wide = shared ? slot.a.width == Width::Long : draw_.chance(style_.long_chance);
  operand.space = Space::Immediate;
  operand.width = wide ? Width::Long : Width::Short;
  if (!shared) {
    const Long word = draw_word(draw_, style_.immediates);
    slot.immediate = wide ? word : Long{upper_half(word).bits};
  }
  return input_level;
}

Place& LoopBuilder::temporary() { return temporaries_[draw_.below(temporaries_.size())]; }
Place& LoopBuilder::accumulator() { return sums_[draw_.below(sums_.size())]; }

void LoopBuilder::write(Draft& draft, Place& place) {
  draft.to = &place;
  draft.slot.dst = place.where;
  draft.slot.width = place.where.width;
  if (place.where.space == Space::T || !draw_.chance(10)) return;
  const bool whole = draft.slot.width == Width::Long;
  draft.slot.t = whole ? TTarget::Whole : draw_.pick({TTarget::Upper, TTarget::Lower});
}

/// What T held is gone, and a bound of what it holds now is not kept.
void LoopBuilder::forget_t() {
  for (Place& t : temporaries_) {
    if (t.where.space == Space::T) t.written = false;
  }
}

// --- steps

LoopBuilder::Draft LoopBuilder::product() {
  Draft draft;
  draft.multiplier = true;
  draft.slot.op = draw_.chance(20) ? Op::Dmul : Op::Fmul;
  draft.level = read(draft.slot.a, draft.slot, source(largest_factor));
  if (draw_.chance(20)) {
    draft.slot.b = draft.slot.a;
    draft.level *= 2;
  } else {
    draft.level += read(draft.slot.b, draft.slot, source(largest_factor));
  }
  write(draft, temporary());
  return draft;
}

LoopBuilder::Draft LoopBuilder::sum() {
  Draft draft;
  if (draw_.chance(35)) {
    Place& to = accumulator();
    draft.slot.op = draw_.pick({Op::Fadd, Op::Fadd, Op::Fsub});
    draft.slot.a = to.where;
    read(draft.slot.b, draft.slot, source(largest_factor));
    if (draft.slot.op == Op::Fadd && draw_.chance(30)) std::swap(draft.slot.a, draft.slot.b);
    draft.level = sum_level;
    write(draft, to);
    return draft;
  }
  draft.slot.op = draw_.pick(
      {Op::Fadd, Op::Fadd, Op::Fadd, Op::Fsub, Op::Fsub, Op::Fsub, Op::Fmax, Op::Fmin, Op::Fcvt});
  draft.level = read(draft.slot.a, draft.slot, source(2 * largest_factor));
  if (info(draft.slot.op).operands == 2) {
    draft.level =
        1 + std::max(draft.level, read(draft.slot.b, draft.slot, source(2 * largest_factor)));
  }
  write(draft, temporary());
  if (draw_.chance(style_.mask_chance)) {
    draft.slot.mask = {draw_.pick({MaskFlag::Negative, MaskFlag::Zero}),
                       static_cast<std::uint8_t>(draw_.below(2))};
    // A predicate may use a mask from now on; both are clear, or random, before.
    masks_set_ = 2;
  }
  return draft;
}

void LoopBuilder::arithmetic_step() {
  if (draw_.chance(style_.pair_chance)) {
    const Draft first = product();
    emit({first, sum()});
  } else {
    emit({draw_.chance(50) ? product() : sum()});
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
  read(square.slot.a, square.slot, &inputs_[draw_.below(inputs_.size())]);
  square.slot.b = square.slot.a;
  square.slot.dst = work->where;
  square.slot.width = Width::Short;
  Draft half;
  half.slot = {Op::Ishr, Width::Short, work->where, TTarget::None, {}, work->where, {}, Long{1}};
  half.slot.b = at(Space::Immediate, Width::Short, false, 0);
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
  if (draw_.chance(30)) return reciprocal_root_seed();
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
  draft.slot.op = draw_.pick({Op::Ipass, Op::Upass, Op::Ixor, Op::Iand, Op::Ior, Op::Iadd});
  draft.slot.a = from->where;
  draft.level = from->level;
  if (info(draft.slot.op).operands == 2) {
    draft.slot.b = at(Space::Immediate, from->where.width, false, 0);
    draft.slot.immediate = Long{draft.slot.op == Op::Iand ? sign - 1 : sign};
  }
  if (draft.slot.op == Op::Iadd) {  // times 2^k
    const unsigned k = draw_.between(1, 8);
    draft.slot.immediate = Long{u128{k} << (wide ? 60 : 24)};
    draft.level += static_cast<int>(k);
  }
  write(draft, *fit[draw_.below(fit.size())]);
  emit({draft});
}

void LoopBuilder::transfer_step() {
  const Place* from = source(largest_factor);
  if (from == nullptr) return;
  if (draw_.chance(50)) {
    const Operand to = at(Space::BmOutput, from->where.width, false, 0);
    const bool whole = from->where.vector && shorts_in(to.width) * 2 <= output_shorts;
    Operand words = to;
    words.vector = whole && draw_.chance(50);
    emit_move(Op::Bput, from->where, words, words.vector ? 2 : 1);
    return;
  }
  if (from->where.width == scratch_.where.width) {
    emit_move(Op::Bput, from->where, scratch_.where, draw_.between(1, max_elements));
    scratch_.level = from->level;
    scratch_.written = true;
  }
  for (Place& place : temporaries_) {
    if (!scratch_.written || place.where.width != scratch_.where.width) continue;
    emit_move(Op::Bget, place.where, scratch_.where, max_elements);
    place.level = scratch_.level;
    place.written = true;
    return;
  }
}

/// A mask from a comparison, or from the number of the PE.
void LoopBuilder::mask_step() {
  Draft draft;
  Arithmetic& slot = draft.slot;
  slot.mask = {draw_.pick({MaskFlag::Negative, MaskFlag::Zero}),
               static_cast<std::uint8_t>(draw_.below(2))};
  slot.width = draw_.chance(50) ? Width::Long : Width::Short;
  if (draw_.chance(40)) {
    slot.op = Op::Isub;
    slot.a = at(Space::PeNumber, Width::Long, false, 0);
    slot.b = at(Space::Immediate, slot.width, false, 0);
    slot.immediate = Long{draw_.below(test_.geometry.pes_per_block)};
  } else {
    slot.op = draw_.pick({Op::Fsub, Op::Fadd, Op::Fmax, Op::Fmin});
    read(slot.a, slot, source(2 * largest_factor));
    read(slot.b, slot, source(2 * largest_factor));
  }
  masks_set_ = 2;
  emit({draft});
}

void LoopBuilder::write_body(unsigned steps) {
  fetch_item();
  for (unsigned n = 0; n < steps; ++n) {
    if (draw_.chance(style_.integer_chance)) {
      integer_step();
    } else if (draw_.chance(style_.transfer_chance)) {
      transfer_step();
    } else if (draw_.chance(style_.mask_chance / 2)) {
      mask_step();
    } else {
      arithmetic_step();
    }
  }
}

void LoopBuilder::write_frame() {
  const bool clear = draw_.chance(50), scale = draw_.chance(40);
  for (const Place& place : sums_) {
    Instruction i;
    i.vlen = max_elements;
    if (clear) {
      i.alu.op = Op::Ipass;
      i.alu.width = place.where.width;
      i.alu.dst = place.where;
      i.alu.a = at(Space::Immediate, place.where.width, false, 0);
      append(test_.program, Section::Start, i);
    }
    if (!scale) continue;
    i.alu = {};
    i.mul.op = Op::Dmul;
    i.mul.width = place.where.width;
    i.mul.dst = i.mul.a = place.where;
    i.mul.b = at(Space::Immediate, Width::Long, false, 0);
    i.mul.immediate = draw_word(draw_, Mood::Moderate);
    append(test_.program, Section::End, i);
  }
}

}  // namespace gdr::selftest
