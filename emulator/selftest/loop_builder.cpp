#include "emulator/selftest/loop_builder.hpp"

#include <algorithm>
#include <initializer_list>

#include "emulator/selftest/case.hpp"

namespace gdr::selftest {
namespace {

constexpr int input_level = 9;  // bound of moderate distributions

Operand at(Space space, Width width, bool vector, std::uint32_t address) {
  return {space, width, vector, static_cast<std::uint16_t>(address), 0, 0};
}

}  // namespace

LoopBuilder::LoopBuilder(Rng& rng, Case& test, const LoopStyle& style)
    : rng_(rng), test_(test), style_(style) {
  lay_out_items();
  lay_out_places();
}

Operand LoopBuilder::take_registers(Width width, bool vector) {
  const unsigned shorts = shorts_in(width) * (vector ? max_elements : 1);
  // Longs have even addresses.
  if (width == Width::Long) next_register_ += next_register_ % 2;
  const Operand where = at(Space::Register, width, vector, next_register_);
  next_register_ += shorts;
  return where;
}

/// Longs first, then shorts, each side by side, as one transfer of several elements fetches them.
void LoopBuilder::lay_out_items() {
  const unsigned longs = rng_.between(0, 3), shorts = rng_.between(longs == 0 ? 1 : 0, 3);
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
    return rng_.chance(style_.long_chance) ? Width::Long : Width::Short;
  };
  std::uint32_t local = 0;
  for (unsigned n = rng_.between(1, 3); n > 0; --n) {  // targets
    const Width w = width();
    inputs_.push_back({at(Space::Local, w, rng_.chance(80), local), input_level, true});
    local += shorts_in(w) * max_elements;
    local += local % 2;
  }
  for (unsigned n = rng_.between(1, 3); n > 0; --n) {
    const Width w = rng_.chance(85) ? Width::Long : Width::Short;
    sums_.push_back({take_registers(w, true), sum_level, true});
  }
  for (unsigned n = rng_.between(3, 6); n > 0; --n) {
    const bool vector = rng_.chance(90);
    temporaries_.push_back({take_registers(width(), vector)});
  }
  temporaries_.push_back({at(Space::Local, width(), true, local + 8)});
  if (rng_.chance(40)) {
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

unsigned LoopBuilder::elements() {
  return style_.vlen != 0 ? style_.vlen : rng_.between(1, max_elements);
}

void LoopBuilder::emit_move(Op op, const Operand& pe, const Operand& bm, unsigned vlen) {
  Instruction i;
  i.vlen = static_cast<std::uint8_t>(vlen);
  i.move.op = op;
  i.move.pe = pe;
  i.move.bm = bm;
  if (op == Op::Bput) {
    i.move.pe_number = static_cast<std::uint16_t>(rng_.below(test_.geometry.pes_per_block));
  }
  test_.program.section(Section::Body).push_back(i);
}

/// One instruction for drafts of different slots; predicated only if the destinations have known
/// bounds.
void LoopBuilder::emit(std::initializer_list<Draft> drafts) {
  Instruction i;
  i.vlen = static_cast<std::uint8_t>(elements());
  bool known = true;
  for (const Draft& draft : drafts) {
    (draft.multiplier ? i.mul : i.alu) = draft.slot;
    known = known && (draft.to == nullptr || draft.to->written);
  }
  if (drafts.size() > 1 && writes_twice(i, test_.geometry)) {
    for (const Draft& draft : drafts) emit({draft});
    return;
  }
  const bool predicated = known && masks_set_ > 0 && rng_.chance(3 * style_.mask_chance);
  if (predicated) {
    i.predicate = {true, rng_.chance(50), static_cast<std::uint8_t>(rng_.below(masks_set_))};
  }
  test_.program.section(Section::Body).push_back(i);
  for (const Draft& draft : drafts) {
    for (Place& place : temporaries_) {
      const bool overwritten = draft.slot.t != TTarget::None && place.where.space == Space::T;
      if (overwritten) place.written = false;  // the bound of its new value is unknown
    }
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
  if (rng_.chance(8)) return nullptr;
  std::vector<const Place*> fit;
  for (const auto* places : {&inputs_, &temporaries_, &temporaries_, &sums_}) {
    if (places == &sums_ && !style_.feedback) continue;
    for (const Place& place : *places) {
      if (place.written && place.level <= largest_level) fit.push_back(&place);
    }
  }
  return fit.empty() ? nullptr : fit[rng_.below(fit.size())];
}

/// The same place, or its beginning as a word of the other width.
Operand LoopBuilder::view(const Operand& where) {
  Operand seen = where;
  if (!style_.halves || !rng_.chance(20)) return seen;
  if (where.width == Width::Long) {
    seen.width = Width::Short;
    if (where.space == Space::T || rng_.chance(30)) {
      seen.address = static_cast<std::uint16_t>(seen.address + rng_.below(2));
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
  const bool wide = shared ? slot.a.width == Width::Long : rng_.chance(style_.long_chance);
  operand.space = Space::Immediate;
  operand.width = wide ? Width::Long : Width::Short;
  if (!shared) {
    slot.immediate = narrow_float(random_word(rng_, style_.immediates), operand.width);
  }
  return input_level;
}

Place& LoopBuilder::temporary() { return temporaries_[rng_.below(temporaries_.size())]; }
Place& LoopBuilder::accumulator() { return sums_[rng_.below(sums_.size())]; }

void LoopBuilder::write(Draft& draft, Place& place) {
  draft.to = &place;
  draft.slot.dst = place.where;
  draft.slot.width = place.where.width;
  if (place.where.space == Space::T || !rng_.chance(10)) return;
  const bool whole = draft.slot.width == Width::Long;
  draft.slot.t = whole ? TTarget::Whole : rng_.pick({TTarget::Upper, TTarget::Lower});
}

void LoopBuilder::write_frame() {
  const bool clear = rng_.chance(50), scale = rng_.chance(40);
  for (const Place& place : sums_) {
    Instruction i;
    i.vlen = max_elements;
    if (clear) {
      i.alu.op = Op::Ipass;
      i.alu.width = place.where.width;
      i.alu.dst = place.where;
      i.alu.a = at(Space::Immediate, place.where.width, false, 0);
      test_.program.section(Section::Start).push_back(i);
    }
    if (!scale) continue;
    i.alu = {};
    i.mul.op = Op::Dmul;
    i.mul.width = place.where.width;
    i.mul.dst = i.mul.a = place.where;
    i.mul.b = at(Space::Immediate, Width::Long, false, 0);
    i.mul.immediate = random_word(rng_, OperandDistribution::Moderate);
    test_.program.section(Section::End).push_back(i);
  }
}

}  // namespace gdr::selftest
