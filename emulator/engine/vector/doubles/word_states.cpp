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

WordUses::WordUses(const std::vector<Instruction>& section, const WordNumbers& numbers)
    : numbers_(numbers), uses_(numbers.count()) {
  for (std::size_t n = 0; n < section.size(); ++n) {
    const Instruction& i = section[n];
    add_slot(i.mul, i.vlen, n);
    add_slot(i.alu, i.vlen, n);
    if (i.move.used() && i.move.pe.width == Width::Short) add(i.move.pe, i.vlen, Rep::Shorts, n);
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

Rep WordUses::first(std::uint32_t word) const {
  return uses_[word].empty() ? Rep::Shorts : uses_[word].front().rep;
}

}  // namespace gdr
