// Random programs: everything the instruction table has, side by side.
#include <fmt/format.h>

#include <algorithm>

#include "emulator/selftest/generators.hpp"
#include "emulator/selftest/random_instruction.hpp"

namespace gdr::selftest {
namespace {

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
    // The first words are what most instructions look at.
    const std::size_t word = rng.below(rng.chance(80) ? std::min<std::size_t>(words, 8) : words);
    const std::size_t pe = rng.below(block.pes);
    const Long drawn = boundary_word(rng);
    memory[2 * word * block.pes + pe] = upper_half(drawn).bits;
    memory[(2 * word + 1) * block.pes + pe] = lower_half(drawn).bits;
  }
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

  // Calm programs run in doubles but for what their constants, or a few words, are.
  const bool calm = rng.chance(25);
  const OperandDistribution distribution =
      calm             ? rng.pick({OperandDistribution::Moderate, OperandDistribution::Sparse,
                                   OperandDistribution::Doubles, OperandDistribution::Zeros})
      : rng.chance(30) ? OperandDistribution::Hostile
                       : random_distribution(rng);
  Style style;
  style.immediates = rng.chance(calm ? 70 : 20) ? OperandDistribution::Edges : distribution;
  style.keep_ports = keep_ports;
  style.float_chance = calm ? 100 : rng.pick({0U, 0U, 80U, 100U});
  style.long_chance = rng.pick({50U, 50U, 50U, 0U, 100U});
  style.indirect_chance = calm ? 0 : rng.pick({0U, 25U});
  test.program.name = "random";
  test.program.item_shorts = items.source;
  test.program.output_shorts = items.output;
  // What lies below the items does not move.
  test.program.fixed_shorts = std::min(test.run.source_base, test.run.output_base);
  const unsigned length = rng.between(1, 24);
  // Some in all sections that make a run: what one leaves in registers the next one finds.
  const bool spread = rng.chance(30);
  for (unsigned n = 0; n < length; ++n) {
    const Instruction i = random_instruction(rng, test.geometry, items, style);
    const bool item = i.move.bm.space == Space::BmSource || i.move.bm.space == Space::BmOutput;
    const bool anywhere = spread && !item;  // there are no items outside the body
    append(test.program,
           anywhere ? rng.pick({Section::Start, Section::Body, Section::End}) : Section::Body, i);
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
