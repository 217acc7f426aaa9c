#include "emulator/selftest/random_instruction.hpp"

#include <algorithm>
#include <initializer_list>
#include <vector>

#include "emulator/isa/ports.hpp"
#include "emulator/isa/table.hpp"
#include "emulator/isa/validate.hpp"

namespace gdr::selftest {
namespace {

/// Shorts of the memory that a space lies in; 0 where addresses mean nothing.
std::uint32_t shorts_of(Space space, const Geometry& g, const ItemSizes& items) {
  switch (space) {
    case Space::Register:
      return g.register_words * 2;
    case Space::Local:
      return g.local_words * 2;
    case Space::Bm:
      return g.broadcast_words * 2;
    case Space::BmSource:
      return items.source;
    case Space::BmOutput:
      return items.output;
    default:
      return 0;
  }
}

/// Gives an operand an address that fits for `vlen` elements; mostly among the first few, so that
/// instructions meet each other's results.
void place(Rng& rng, Operand& x, unsigned vlen, const Geometry& g, const ItemSizes& items) {
  const std::uint32_t size = shorts_of(x.space, g, items);
  const std::uint32_t unit = shorts_in(x.width);
  if (size == 0) return;
  x.vector = rng.chance(70) && vlen * unit <= size;
  const std::uint32_t taken = unit * (x.vector ? vlen : 1);
  const std::uint32_t room = (size - taken) / unit + 1;
  const std::uint32_t near = rng.chance(80) ? std::min<std::uint32_t>(room, 12) : room;
  x.address = static_cast<std::uint16_t>(unit * rng.below(near));
}

/// Context of the generation of an instruction.
struct Context {
  Rng& rng;
  const Geometry& geometry;
  const ItemSizes& items;
  const Style& style;
  unsigned vlen;
  std::uint16_t range_first, range_last;  // of every T-indirect operand of the instruction
};

Width random_width(const Context& c) {
  return c.rng.chance(c.style.long_chance) ? Width::Long : Width::Short;
}

Operand random_operand(const Context& c, std::initializer_list<Space> spaces, Width width) {
  Operand x;
  x.space = c.rng.pick(spaces);
  x.width = width;
  if (x.space == Space::PeNumber || x.space == Space::BlockNumber) x.width = Width::Long;
  if (x.space == Space::T && x.width == Width::Short) {
    x.address = static_cast<std::uint16_t>(c.rng.below(2));
  }
  if (x.space == Space::Local && c.rng.chance(c.style.indirect_chance)) {
    x.space = Space::LocalByT;
    x.range_first = c.range_first;
    x.range_last = c.range_last;
  }
  place(c.rng, x, c.vlen, c.geometry, c.items);
  return x;
}

Operand random_source(const Context& c) {
  return random_operand(
      c,
      {Space::Register, Space::Register, Space::Register, Space::Local, Space::Local, Space::T,
       Space::T, Space::Immediate, Space::PeNumber, Space::BlockNumber},
      random_width(c));
}

void random_immediate(const Context& c, Arithmetic& slot) {
  const bool a = slot.a.space == Space::Immediate;
  const bool b = slot.b.space == Space::Immediate;
  if (!a && !b) return;
  const bool wide = (a && slot.a.width == Width::Long) || (b && slot.b.width == Width::Long);
  const Long word = random_word(c.rng, c.style.immediates);
  slot.immediate = wide ? word : Long{upper_half(word).bits};
}

Op random_op(const Context& c, bool multiplier) {
  const auto table = instruction_table();
  const bool only_float = c.rng.chance(c.style.float_chance);
  for (;;) {
    const OpInfo& row = table[1 + c.rng.below(table.size() - 1)];
    if (row.unit == Unit::Transfer || (row.unit == Unit::Multiplier) != multiplier) continue;
    if (row.unit != Unit::Integer || !only_float) return row.op;
  }
}

Arithmetic random_arithmetic(const Context& c, bool multiplier) {
  Arithmetic slot;
  slot.op = random_op(c, multiplier);
  slot.width = random_width(c);
  if (c.rng.chance(85)) {
    slot.dst =
        random_operand(c, {Space::Register, Space::Register, Space::Local, Space::T}, slot.width);
  }
  if (slot.dst.space != Space::T && c.rng.chance(30)) {
    slot.t =
        slot.width == Width::Long ? TTarget::Whole : c.rng.pick({TTarget::Upper, TTarget::Lower});
  }
  if (!multiplier && c.rng.chance(35)) {
    const bool carry = info(slot.op).unit == Unit::Integer;
    slot.mask.flag = static_cast<MaskFlag>(c.rng.between(1, carry ? 3 : 2));
    slot.mask.mask = static_cast<std::uint8_t>(c.rng.below(mask_registers));
  }
  slot.a = random_source(c);
  if (info(slot.op).operands == 2) slot.b = random_source(c);
  random_immediate(c, slot);
  return slot;
}

Transfer random_transfer(const Context& c) {
  Transfer move;
  move.op = c.rng.pick({Op::Bget, Op::Bput});
  const Width width = random_width(c);
  move.pe = random_operand(c, {Space::Register, Space::Local, Space::T}, width);
  move.bm = random_operand(c, {Space::Bm, Space::BmSource, Space::BmOutput}, width);
  if (move.op == Op::Bput) {
    move.pe_number = static_cast<std::uint16_t>(c.rng.below(c.geometry.pes_per_block));
  }
  return move;
}

/// A range in which T-indirect addresses are promised to be, for units of either width; or none.
void random_range(Rng& rng, const Geometry& g, Context& c) {
  c.range_first = c.range_last = 0;
  if (g.local_words < 2 || rng.chance(60)) return;
  c.range_last = static_cast<std::uint16_t>(rng.between(1, g.local_words - 1));
  c.range_first = static_cast<std::uint16_t>(rng.below(c.range_last + 1U));
}

}  // namespace

bool writes_twice(const Instruction& i, const Geometry& geometry) {
  std::vector<Access> accesses;
  for (unsigned k = 0; k < i.vlen; ++k) {
    accesses_of_element(i, k, geometry, accesses);
    for (std::size_t x = 0; x < accesses.size(); ++x) {
      for (std::size_t y = x + 1; y < accesses.size(); ++y) {
        const Access& a = accesses[x];
        const Access& b = accesses[y];
        // Items may stand anywhere, so whatever is in the broadcast memory counts as one place.
        const bool apart = a.address >= b.address + b.shorts || b.address >= a.address + a.shorts;
        if (a.write && b.write && a.what == b.what && !apart) return true;
      }
    }
  }
  return false;
}

Geometry random_geometry(Rng& rng) {
  Geometry g;
  if (rng.chance(20)) return g;
  g.blocks = rng.between(1, 4);
  g.pes_per_block = rng.chance(50) ? rng.between(1, 9) : rng.between(10, 70);
  g.register_words = rng.chance(30) ? rng.between(1, 4) : rng.between(5, 48);
  g.local_words = rng.chance(40) ? rng.between(1, 7) : rng.between(8, 300);
  g.broadcast_words = rng.chance(30) ? rng.between(1, 8) : rng.between(9, 500);
  return g;
}

Instruction random_instruction(Rng& rng, const Geometry& g, const ItemSizes& items,
                               const Style& style) {
  for (;;) {
    Instruction i;
    i.vlen = static_cast<std::uint8_t>(rng.between(1, max_elements));
    Context c{rng, g, items, style, i.vlen, 0, 0};
    random_range(rng, g, c);
    if (rng.chance(30)) {
      i.predicate = {true, rng.chance(50), static_cast<std::uint8_t>(rng.below(mask_registers))};
    }
    if (rng.chance(45)) i.mul = random_arithmetic(c, true);
    if (rng.chance(65)) i.alu = random_arithmetic(c, false);
    if (rng.chance(30)) i.move = random_transfer(c);
    if (i.idle() && rng.chance(95)) continue;
    const bool fits = style.keep_ports ? check_ports(i, g).empty() : !writes_twice(i, g);
    if (fits && validate(i).empty()) return i;
  }
}

}  // namespace gdr::selftest
