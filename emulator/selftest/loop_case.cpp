// Random loops like those of kernels, on numbers that mostly stay in range.
#include <fmt/format.h>

#include <algorithm>

#include "emulator/selftest/case.hpp"
#include "emulator/selftest/loop_builder.hpp"

namespace gdr::selftest {
namespace {

/// Input numbers of a loop.
struct Inputs {
  OperandDistribution distribution = OperandDistribution::Moderate;
  bool hard_item = false;  ///< whether one item has difficult words
  unsigned edges = 0;      ///< number of boundary words in the PEs
};

LoopStyle random_style(Rng& rng) {
  LoopStyle style;
  style.long_chance = rng.pick({10U, 30U, 50U, 100U, 0U});
  style.mask_chance = rng.pick({0U, 10U, 20U});
  style.integer_chance = rng.pick({0U, 0U, 6U, 15U});
  style.transfer_chance = rng.pick({0U, 0U, 5U});
  style.pair_chance = rng.pick({0U, 40U, 80U});
  style.vlen = rng.chance(80) ? max_elements : rng.below(max_elements);
  style.feedback = rng.chance(15);
  style.halves = rng.chance(15);
  style.immediates = rng.chance(60)
                         ? OperandDistribution::Moderate
                         : rng.pick({OperandDistribution::Sparse, OperandDistribution::Doubles,
                                     OperandDistribution::Ties, OperandDistribution::Zeros,
                                     OperandDistribution::Edges});
  style.range_limit_steps = rng.pick({0U, 1U, 2U});
  return style;
}

Inputs random_inputs(Rng& rng) {
  return {rng.chance(55) ? OperandDistribution::Moderate : random_distribution(rng), rng.chance(25),
          rng.chance(15) ? rng.between(1, 2) : 0};
}

void draw_places(Rng& rng, BlockState& block, const std::vector<Operand>& places,
                 OperandDistribution distribution) {
  for (const Operand& where : places) {
    for (unsigned pe = 0; pe < block.pes; ++pe) {
      for (unsigned element = 0; element < max_elements; ++element) {
        write_location(block, where, pe, element,
                       narrow_float(random_word(rng, distribution), where.width).bits);
      }
    }
  }
}

void draw_items(Rng& rng, Case& test, const std::vector<ItemField>& fields, const Inputs& inputs) {
  const std::uint32_t hard = inputs.hard_item ? rng.below(test.run.iterations) : ~0U;
  for (std::uint32_t n = 0; n < test.run.iterations; ++n) {
    for (const ItemField& field : fields) {
      const Long word = n != hard || rng.chance(40) ? random_word(rng, inputs.distribution)
                        : rng.chance(50)            ? difficult_word(rng)
                                                    : boundary_word(rng);
      const Operand& x = field.in_item;
      write_bm(test.state, test.run.source_base + n * test.run.source_step + x.address, x.width,
               narrow_float(word, x.width).bits);
    }
  }
}

/// Iterations, with source items after the scratch and the output items after those.
void place_loop_run(Rng& rng, Case& test) {
  BlockRun& run = test.run;
  // Mostly short loops: many fit into the time of a long one.
  run.iterations = rng.pick({1U, 2U, 3U, 5U, 8U, 13U, 16U, 17U, 33U});
  if (rng.chance(10)) run.iterations = rng.pick({64U, 100U, 200U});
  if (rng.below(200) == 0) run.iterations = 1000;
  run.source_base = LoopBuilder::scratch_shorts;
  run.source_step = test.program.item_shorts;
  const auto count = static_cast<std::uint32_t>(run.iterations);
  run.output_base = run.source_base + count * run.source_step;
  run.output_step = rng.chance(50) ? LoopBuilder::output_shorts : 0;
  run.collect_flags = rng.chance(10);
  if (rng.chance(25)) test.split = rng.below(run.iterations);
}

/// Broadcast memory up to the end of the last output item.
std::uint32_t shorts_of_run(const Case& test) {
  const auto last = static_cast<std::uint32_t>(test.run.iterations - 1);
  return test.run.output_base + last * test.run.output_step + LoopBuilder::output_shorts;
}

}  // namespace

Case loop_case(std::uint64_t seed) {
  Rng rng(seed);
  Case test;
  test.geometry.blocks = 1;
  test.geometry.pes_per_block = rng.chance(60) ? 32 : rng.pick({1U, 3U, 8U, 33U, 40U, 64U, 130U});
  test.geometry.register_words = 128;
  test.geometry.local_words = 64;
  test.program.name = "loop";
  test.program.fixed_shorts = LoopBuilder::scratch_shorts;
  test.program.output_shorts = LoopBuilder::output_shorts;

  const LoopStyle style = random_style(rng);
  Inputs inputs = random_inputs(rng);
  if (style.range_limit_steps > 0 && rng.chance(40))
    inputs.distribution = OperandDistribution::Sparse;
  LoopBuilder builder(rng, test, style);
  builder.write_body(rng.between(3, 30));
  builder.write_frame();
  place_loop_run(rng, test);
  test.geometry.broadcast_words = shorts_of_run(test) / 2 + 1;
  test.state = empty_block(test.geometry);
  if (rng.chance(30))
    randomize(test.state, rng, rng.pick({inputs.distribution, OperandDistribution::Hostile}));
  draw_places(rng, test.state, builder.starting_places(), inputs.distribution);
  insert_boundary_words(test.state, rng, inputs.edges);
  draw_items(rng, test, builder.fields(), inputs);
  test.fused = rng.chance(50);
  test.what =
      fmt::format("loop of {} instructions, {} iterations, {} numbers{}{}{}{}{}{}",
                  test.program.section(Section::Body).size(), test.run.iterations,
                  distribution_name(inputs.distribution), inputs.hard_item ? ", one hard item" : "",
                  inputs.edges > 0 ? ", some at edges" : "",
                  style.immediates == OperandDistribution::Edges ? ", constants at edges" : "",
                  style.range_limit_steps > 0 ? ", ends of the range" : "",
                  style.feedback ? ", sums fed back" : "", style.halves ? ", halves of longs" : "");
  return test;
}

}  // namespace gdr::selftest
