// Random programs: all instructions of the table, on machines of any size.
#include <fmt/format.h>

#include <algorithm>
#include <initializer_list>
#include <vector>

#include "emulator/isa/ports.hpp"
#include "emulator/isa/table.hpp"
#include "emulator/isa/validate.hpp"
#include "emulator/selftest/case.hpp"

namespace gdr::selftest {
namespace {

/// Sizes of items, in shorts (even).
struct ItemSizes {
  std::uint32_t source = 0, output = 0;
};

/// Parameters of random instructions. Chances are in percent.
struct Style {
  OperandDistribution immediates = OperandDistribution::Hostile;
  bool keep_ports = true;  ///< whether programs keep the limits of ports; if not, still no location
                           ///< is written twice by an element
  unsigned float_chance = 0;      ///< adder slots with floating point only
  unsigned long_chance = 50;      ///< long locations
  unsigned indirect_chance = 10;  ///< T-indirect operands in local memory
};

/// Gives an operand a valid address for `vlen` elements, mostly one of the first, so that
/// instructions use each other's results.
void place(Rng& rng, Operand& x, unsigned vlen, const Geometry& g, const ItemSizes& items) {
  const std::uint32_t size = x.space == Space::BmSource   ? items.source
                             : x.space == Space::BmOutput ? items.output
                                                          : memory_of(x.space, g).shorts;
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
  slot.immediate =
      narrow_float(random_word(c.rng, c.style.immediates), wide ? Width::Long : Width::Short);
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

/// The declared range of T-indirect addresses, valid for units of either width; or none.
void random_range(Rng& rng, const Geometry& g, Context& c) {
  c.range_first = c.range_last = 0;
  if (g.local_words < 2 || rng.chance(60)) return;
  c.range_last = static_cast<std::uint16_t>(rng.between(1, g.local_words - 1));
  c.range_first = static_cast<std::uint16_t>(rng.below(c.range_last + 1U));
}

/// A geometry, mostly small and odd: PEs not a multiple of eight, small memories whose sizes are no
/// power of two.
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

/// A well-formed instruction that addresses only what the geometry has.
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

/// Items that fit for all iterations, at a base and with steps that keep longs at even addresses.
/// Returns their size.
std::uint32_t place_items(Rng& rng, const Case& test, std::uint32_t& base, std::uint32_t& step) {
  const std::uint32_t bm = test.geometry.broadcast_words * 2;
  step = 2 * rng.below(std::min<std::uint32_t>(bm / 8, 8) + 1);
  const auto moved = step * static_cast<std::uint32_t>(test.run.iterations - 1);
  const std::uint32_t size = 2 * rng.between(1, std::min<std::uint32_t>((bm - moved) / 2, 10));
  base = 2 * rng.below((bm - moved - size) / 2 + 1);
  return size;
}

}  // namespace

void randomize(BlockState& block, Rng& rng, OperandDistribution distribution) {
  for (auto* memory : {&block.registers, &block.local, &block.t}) {
    const std::size_t pes = block.pes;
    for (std::size_t address = 0; address + 1 < memory->size() / pes; address += 2) {
      for (std::size_t pe = 0; pe < pes; ++pe) {
        const Long word = random_word(rng, distribution);
        (*memory)[address * pes + pe] = upper_half(word).bits;
        (*memory)[(address + 1) * pes + pe] = rng.chance(50)
                                                  ? lower_half(word).bits
                                                  : upper_half(random_word(rng, distribution)).bits;
      }
    }
  }
  for (auto& mask : block.masks) mask = rng.chance(50) ? ~std::uint64_t{0} : 0;
  for (auto& word : block.bm) {
    const Long drawn = random_word(rng, distribution);
    word = rng.chance(50) ? upper_half(drawn).bits : lower_half(drawn).bits;
  }
}

void insert_boundary_words(BlockState& block, Rng& rng, unsigned count) {
  for (; count > 0; --count) {
    LaneMemory& memory = rng.chance(50) ? block.registers : rng.chance(70) ? block.local : block.t;
    const std::size_t words = memory.size() / block.pes / 2;
    // Most instructions read the first words.
    const std::size_t word = rng.below(rng.chance(80) ? std::min<std::size_t>(words, 8) : words);
    const std::size_t pe = rng.below(block.pes);
    const Long drawn = boundary_word(rng);
    memory[2 * word * block.pes + pe] = upper_half(drawn).bits;
    memory[(2 * word + 1) * block.pes + pe] = lower_half(drawn).bits;
  }
}

bool writes_twice(const Instruction& i, const Geometry& geometry) {
  std::vector<Access> accesses;
  for (unsigned k = 0; k < i.vlen; ++k) {
    accesses_of_element(i, k, geometry, accesses);
    if (has_duplicate_write(accesses)) return true;
  }
  return false;
}

Case program_case(std::uint64_t seed, bool keep_ports) {
  Rng rng(seed);
  Case test;
  test.geometry = random_geometry(rng);
  test.run.iterations = rng.between(1, 4);
  ItemSizes items;
  items.source = place_items(rng, test, test.run.source_base, test.run.source_step);
  items.output = place_items(rng, test, test.run.output_base, test.run.output_step);
  test.run.collect_flags = rng.chance(30);

  // Moderate programs run in doubles, except for their constants or a few words.
  const bool moderate = rng.chance(25);
  const OperandDistribution distribution =
      moderate         ? rng.pick({OperandDistribution::Moderate, OperandDistribution::Sparse,
                                   OperandDistribution::Doubles, OperandDistribution::Zeros})
      : rng.chance(30) ? OperandDistribution::Hostile
                       : random_distribution(rng);
  Style style;
  style.immediates = rng.chance(moderate ? 70 : 20) ? OperandDistribution::Edges : distribution;
  style.keep_ports = keep_ports;
  style.float_chance = moderate ? 100 : rng.pick({0U, 0U, 80U, 100U});
  style.long_chance = rng.pick({50U, 50U, 50U, 0U, 100U});
  style.indirect_chance = moderate ? 0 : rng.pick({0U, 25U});
  test.program.name = "random";
  test.program.item_shorts = items.source;
  test.program.output_shorts = items.output;
  // Addresses below the items are the same in all iterations.
  test.program.fixed_shorts = std::min(test.run.source_base, test.run.output_base);
  const unsigned length = rng.between(1, 24);
  // Some programs have instructions in Start, Body and End, which share the registers.
  const bool spread = rng.chance(30);
  for (unsigned n = 0; n < length; ++n) {
    const Instruction i = random_instruction(rng, test.geometry, items, style);
    const bool item = in_broadcast_memory(i.move.bm.space) && i.move.bm.space != Space::Bm;
    const bool anywhere = spread && !item;  // there are no items outside the body
    const Section section =
        anywhere ? rng.pick({Section::Start, Section::Body, Section::End}) : Section::Body;
    test.program.section(section).push_back(i);
  }
  test.state = empty_block(test.geometry);
  test.state.number = rng.below(test.geometry.blocks);
  randomize(test.state, rng, distribution);
  if (rng.chance(25)) insert_boundary_words(test.state, rng, rng.between(1, 3));
  test.fused = rng.chance(50);
  test.what =
      fmt::format("{} random instructions, {} numbers{}", length, distribution_name(distribution),
                  keep_ports ? "" : ", past the port limits");
  return test;
}

// The assembler refuses programs that break port limits, the engines need not.
Case program_case(std::uint64_t seed) { return program_case(seed, seed % 4 != 3); }

}  // namespace gdr::selftest
