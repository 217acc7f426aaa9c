#include "emulator/engine/vector/doubles/word_states.hpp"

#include <algorithm>

#include "emulator/isa/table.hpp"

namespace gdr {
namespace {

bool is_location(const Operand& x) {
  return x.space == Space::Register || x.space == Space::Local || x.space == Space::T;
}

Rep rep_of(Width width) { return width == Width::Long ? Rep::Long : Rep::Shorts; }

}  // namespace

WordUses::WordUses(std::span<const Instruction> section, const WordNumbers& numbers,
                   std::span<const Instruction> then)
    : numbers_(numbers), uses_(numbers.count()), accesses_(2 * numbers.count()) {
  for (std::size_t n = 0; n < section.size(); ++n) {
    const Instruction& i = section[n];
    add_slot(i.mul, i.vlen, n);
    add_slot(i.alu, i.vlen, n);
    if (i.move.used() && i.move.pe.width == Width::Short) add(i.move.pe, i.vlen, Rep::Shorts, n);
    add_accesses(i, n);
  }
  first_.assign(numbers.count(), Rep::Shorts);
  if (!then.empty()) first_ = WordUses(then, numbers).first_;
  for (std::uint32_t w = 0; w < numbers.count(); ++w) {
    if (!uses_[w].empty()) first_[w] = uses_[w].front().rep;
  }
}

void WordUses::add_slot(const Arithmetic& slot, unsigned vlen, std::size_t number) {
  if (!slot.used()) return;
  const bool integer = info(slot.op).unit == Unit::Integer;
  if (integer && slot.width == Width::Long) return;
  const auto rep = [integer](Width width) { return integer ? Rep::Shorts : rep_of(width); };
  add(slot.a, vlen, rep(slot.a.width), number);
  add(slot.b, vlen, rep(slot.b.width), number);
  add(slot.dst, vlen, rep(slot.width), number);
  if (slot.t != TTarget::None) {
    add({Space::T, slot.width, false, 0}, vlen, rep(slot.width), number);
  }
}

void WordUses::add(const Operand& x, unsigned vlen, Rep rep, std::size_t number) {
  if (!is_location(x)) return;
  for (unsigned k = 0; k < vlen; ++k) uses_[word_of(numbers_, x, k).word].push_back({number, rep});
}

Rep WordUses::next(std::uint32_t word, std::size_t instruction) const {
  const auto& uses = uses_[word];
  const auto later = std::find_if(uses.begin(), uses.end(),
                                  [&](const Use& u) { return u.instruction > instruction; });
  return later != uses.end() ? later->rep : first(word);
}

Rep WordUses::first(std::uint32_t word) const { return first_[word]; }

void WordUses::add_accesses(const Instruction& i, std::size_t number) {
  const Access read{number, true};
  for (const Arithmetic* slot : {&i.mul, &i.alu}) {
    add_access(slot->a, i.vlen, read);
    add_access(slot->b, i.vlen, read);
  }
  if (i.move.op == Op::Bput) add_access(i.move.pe, i.vlen, read);
  const Access write{number, i.predicate.used};
  for (const Arithmetic* slot : {&i.mul, &i.alu}) {
    add_access(slot->dst, i.vlen, write);
    if (slot->t != TTarget::None) add_access(t_operand(slot->t, slot->width), i.vlen, write);
  }
  if (i.move.op == Op::Bget) add_access(i.move.pe, i.vlen, write);
}

void WordUses::add_access(const Operand& x, unsigned vlen, Access access) {
  if (!is_location(x)) return;
  for (unsigned k = 0; k < vlen; ++k) {
    const WordHalf h = word_of(numbers_, x, k);
    for (unsigned half = 0; half < 2; ++half) {
      if (x.width == Width::Short && half != h.half) continue;
      accesses_[2 * h.word + half].push_back(access);
    }
  }
}

bool WordUses::lives(WordHalf h, std::size_t instruction) const {
  for (const Access& a : accesses_[2 * h.word + h.half]) {
    // Within an instruction all reads come before all writes.
    if (a.instruction == instruction && !a.read) return false;
    if (a.instruction > instruction) return a.read;
  }
  return true;
}

}  // namespace gdr
