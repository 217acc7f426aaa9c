#include "support/random_program.hpp"

#include <algorithm>
#include <string>

#include "emulator/isa/ports.hpp"
#include "emulator/isa/table.hpp"
#include "emulator/isa/validate.hpp"

namespace gdr::test {
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

Width random_width(Draw& draw) { return draw.chance(50) ? Width::Long : Width::Short; }

/// Gives an operand an address that fits for `vlen` elements; mostly among the first few, so that
/// instructions meet each other's results.
void place(Draw& draw, Operand& x, unsigned vlen, const Geometry& g, const ItemSizes& items) {
  const std::uint32_t size = shorts_of(x.space, g, items);
  const std::uint32_t unit = shorts_in(x.width);
  if (size == 0) return;
  x.vector = draw.chance(70) && vlen * unit <= size;
  const std::uint32_t taken = unit * (x.vector ? vlen : 1);
  const std::uint32_t room = (size - taken) / unit + 1;
  const std::uint32_t near = draw.chance(80) ? std::min<std::uint32_t>(room, 12) : room;
  x.address = static_cast<std::uint16_t>(unit * draw.below(near));
}

/// What an instruction is being drawn from and for.
struct Context {
  Draw& draw;
  const Geometry& geometry;
  const ItemSizes& items;
  unsigned vlen;
  std::uint16_t range_first, range_last;  // of every T-indirect operand of the instruction
};

Operand random_operand(const Context& c, std::initializer_list<Space> spaces, Width width) {
  Operand x;
  x.space = c.draw.pick(spaces);
  x.width = width;
  if (x.space == Space::PeNumber || x.space == Space::BlockNumber) x.width = Width::Long;
  if (x.space == Space::T && x.width == Width::Short) {
    x.address = static_cast<std::uint16_t>(c.draw.below(2));
  }
  if (x.space == Space::LocalByT) {
    x.range_first = c.range_first;
    x.range_last = c.range_last;
  }
  place(c.draw, x, c.vlen, c.geometry, c.items);
  return x;
}

Operand random_source(const Context& c) {
  return random_operand(
      c,
      {Space::Register, Space::Register, Space::Register, Space::Local, Space::Local,
       Space::LocalByT, Space::T, Space::T, Space::Immediate, Space::PeNumber, Space::BlockNumber},
      random_width(c.draw));
}

void random_immediate(const Context& c, Arithmetic& slot) {
  const bool a = slot.a.space == Space::Immediate;
  const bool b = slot.b.space == Space::Immediate;
  if (!a && !b) return;
  const bool wide = (a && slot.a.width == Width::Long) || (b && slot.b.width == Width::Long);
  const Long word = random_word(c.draw);
  slot.immediate = wide ? word : Long{upper_half(word).bits};
}

Arithmetic random_arithmetic(const Context& c, bool multiplier) {
  const auto table = instruction_table();
  Arithmetic slot;
  for (;;) {
    const OpInfo& row = table[1 + c.draw.below(table.size() - 1)];
    if (row.unit == Unit::Transfer || (row.unit == Unit::Multiplier) != multiplier) continue;
    slot.op = row.op;
    break;
  }
  slot.width = random_width(c.draw);
  if (c.draw.chance(85)) {
    slot.dst = random_operand(
        c, {Space::Register, Space::Register, Space::Local, Space::LocalByT, Space::T}, slot.width);
  }
  if (slot.dst.space != Space::T && c.draw.chance(30)) {
    slot.t =
        slot.width == Width::Long ? TTarget::Whole : c.draw.pick({TTarget::Upper, TTarget::Lower});
  }
  if (!multiplier && c.draw.chance(35)) {
    const bool carry = info(slot.op).unit == Unit::Integer;
    slot.mask.flag = static_cast<MaskFlag>(c.draw.between(1, carry ? 3 : 2));
    slot.mask.mask = static_cast<std::uint8_t>(c.draw.below(mask_registers));
  }
  slot.a = random_source(c);
  if (info(slot.op).operands == 2) slot.b = random_source(c);
  random_immediate(c, slot);
  return slot;
}

Transfer random_transfer(const Context& c) {
  Transfer move;
  move.op = c.draw.pick({Op::Bget, Op::Bput});
  const Width width = random_width(c.draw);
  move.pe = random_operand(c, {Space::Register, Space::Local, Space::LocalByT, Space::T}, width);
  move.bm = random_operand(c, {Space::Bm, Space::BmSource, Space::BmOutput}, width);
  if (move.op == Op::Bput) {
    move.pe_number = static_cast<std::uint16_t>(c.draw.below(c.geometry.pes_per_block));
  }
  return move;
}

/// A range in which T-indirect addresses are promised to be, for units of either width; or none.
void random_range(Draw& draw, const Geometry& g, Context& c) {
  c.range_first = c.range_last = 0;
  if (g.local_words < 2 || draw.chance(60)) return;
  c.range_last = static_cast<std::uint16_t>(draw.between(1, g.local_words - 1));
  c.range_first = static_cast<std::uint16_t>(draw.below(c.range_last + 1U));
}

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

}  // namespace

Geometry random_geometry(Draw& draw) {
  Geometry g;
  if (draw.chance(20)) return g;
  g.blocks = draw.between(1, 4);
  g.pes_per_block = draw.chance(50) ? draw.between(1, 9) : draw.between(10, 70);
  g.register_words = draw.chance(30) ? draw.between(1, 4) : draw.between(5, 48);
  g.local_words = draw.chance(40) ? draw.between(1, 7) : draw.between(8, 300);
  g.broadcast_words = draw.chance(30) ? draw.between(1, 8) : draw.between(9, 500);
  return g;
}

Instruction random_instruction(Draw& draw, const Geometry& g, const ItemSizes& items,
                               bool keep_ports) {
  for (;;) {
    Instruction i;
    i.vlen = static_cast<std::uint8_t>(draw.between(1, max_elements));
    Context c{draw, g, items, i.vlen, 0, 0};
    random_range(draw, g, c);
    if (draw.chance(30)) {
      i.predicate = {true, draw.chance(50), static_cast<std::uint8_t>(draw.below(mask_registers))};
    }
    if (draw.chance(45)) i.mul = random_arithmetic(c, true);
    if (draw.chance(65)) i.alu = random_arithmetic(c, false);
    if (draw.chance(30)) i.move = random_transfer(c);
    if (i.idle() && draw.chance(95)) continue;
    const bool fits = keep_ports ? check_ports(i, g).empty() : !writes_twice(i, g);
    if (fits && validate(i).empty()) return i;
  }
}

Long random_word(Draw& draw) {
  const auto random_bits = [&draw] {
    return Long{((u128{draw.bits()} << 64) | draw.bits()) & Long::mask};
  };
  const u128 sign = u128{draw.below(2)} << 71;
  const auto with = [sign](std::uint64_t exponent, u128 fraction) {
    return Long{sign | u128{exponent} << 60 | (fraction & ((u128{1} << 60) - 1))};
  };
  const u128 random_fraction = random_bits().bits;
  u128 fraction = random_fraction;
  switch (draw.below(6)) {
    case 0:
      fraction = 0;
      break;
    case 1:
      fraction = ~u128{0};
      break;
    case 2:
      fraction = u128{1} << draw.below(60);
      break;
    // A tie where 25 significant bits are kept, and its neighbours one unit to either side.
    case 3:
      fraction = (fraction >> 36 << 36) + (u128{1} << 35) + draw.below(3) - 1;
      break;
    case 4:
      fraction = fraction >> 36 << 36;
      break;
    default:
      break;
  }
  switch (draw.below(12)) {
    case 0:
      return with(0, draw.chance(50) ? 0 : fraction);
    case 1:
      return with(2047, draw.chance(50) ? 0 : fraction);
    case 2:
      return with(draw.between(1, 3), fraction);
    case 3:
      return with(draw.between(2044, 2046), fraction);
    case 4:
      return with(draw.pick({480U, 511U, 512U, 1534U, 1535U, 1536U}) + draw.below(4), fraction);
    case 5:
      return random_bits();
    case 6:
      return Long{draw.below(600)};
    case 7:
      return Long{Long::mask - draw.below(600)};
    case 8:
      return join(Short{draw.below(80)}, Short{draw.below(80)});
    default:
      return with(1023 - 4 + draw.below(9) + (draw.chance(20) ? draw.below(70) : 0), fraction);
  }
}

void randomize(BlockState& block, Draw& draw) {
  for (auto* memory : {&block.registers, &block.local, &block.t}) {
    const std::size_t pes = block.pes;
    for (std::size_t address = 0; address + 1 < memory->size() / pes; address += 2) {
      for (std::size_t pe = 0; pe < pes; ++pe) {
        const Long word = random_word(draw);
        (*memory)[address * pes + pe] = upper_half(word).bits;
        // The lower short is a hard short of its own half of the time.
        (*memory)[(address + 1) * pes + pe] =
            draw.chance(50) ? lower_half(word).bits : upper_half(random_word(draw)).bits;
      }
    }
  }
  for (auto& mask : block.masks) mask = draw.chance(50) ? ~std::uint64_t{0} : 0;
  for (auto& word : block.bm) {
    const Long drawn = random_word(draw);
    word = draw.chance(50) ? upper_half(drawn).bits : lower_half(drawn).bits;
  }
}

RandomCase random_case(std::uint64_t seed, bool keep_ports) {
  Draw draw(seed);
  RandomCase test;
  test.geometry = random_geometry(draw);
  const Geometry& g = test.geometry;
  const std::uint32_t bm = g.broadcast_words * 2;
  test.run.iterations = draw.between(1, 4);
  // Items that fit for all iterations, at a base and with steps that keep longs at even addresses.
  const auto item = [&](std::uint32_t& base, std::uint32_t& step) {
    step = 2 * draw.below(std::min<std::uint32_t>(bm / 8, 8) + 1);
    const auto moved = step * static_cast<std::uint32_t>(test.run.iterations - 1);
    const std::uint32_t size = 2 * draw.between(1, std::min<std::uint32_t>((bm - moved) / 2, 10));
    base = 2 * draw.below((bm - moved - size) / 2 + 1);
    return size;
  };
  ItemSizes items;
  items.source = item(test.run.source_base, test.run.source_step);
  items.output = item(test.run.output_base, test.run.output_step);
  test.run.collect_flags = draw.chance(50);

  test.program.name = "random";
  test.program.item_shorts = items.source;
  test.program.output_shorts = items.output;
  const unsigned length = draw.between(1, 24);
  auto& body = test.program.section(Section::Body);
  for (unsigned n = 0; n < length; ++n) {
    body.push_back(random_instruction(draw, g, items, keep_ports));
  }
  test.program.lines[static_cast<unsigned>(Section::Body)].resize(length);

  Geometry one_block = g;
  one_block.blocks = 1;
  test.state = make_chip(one_block).blocks[0];
  test.state.number = draw.below(g.blocks);
  randomize(test.state, draw);
  return test;
}

}  // namespace gdr::test
