// Loops of the shape that kernels have, on numbers that mostly stay in range.
#include <fmt/format.h>

#include <algorithm>

#include "emulator/selftest/generators.hpp"
#include "emulator/selftest/loop_builder.hpp"

namespace gdr::selftest {
namespace {

/// Numbers that come into a loop.
struct Inputs {
  Mood mood = Mood::Moderate;
  bool hard_item = false;  ///< one item, somewhere, has hard words
  unsigned edges = 0;      ///< words of PEs that are numbers at an edge
};

LoopStyle random_style(Draw& draw) {
  LoopStyle style;
  style.long_chance = draw.pick({10U, 30U, 50U, 100U, 0U});
  style.mask_chance = draw.pick({0U, 10U, 20U});
  style.integer_chance = draw.pick({0U, 0U, 6U, 15U});
  style.transfer_chance = draw.pick({0U, 0U, 5U});
  style.pair_chance = draw.pick({0U, 40U, 80U});
  style.vlen = draw.chance(80) ? max_elements : draw.below(max_elements);
  style.feedback = draw.chance(15);
  style.halves = draw.chance(15);
  style.immediates =
      draw.chance(60)
          ? Mood::Moderate
          : draw.pick({Mood::Sparse, Mood::Doubles, Mood::Ties, Mood::Zeros, Mood::Edges});
  style.excursions = draw.pick({0U, 1U, 2U});
  return style;
}

Inputs random_inputs(Draw& draw) {
  return {draw.chance(55) ? Mood::Moderate : random_mood(draw), draw.chance(25),
          draw.chance(15) ? draw.between(1, 2) : 0};
}

Long word_as(Width width, Long word) {
  return width == Width::Long ? word : Long{upper_half(word).bits};
}

void draw_places(Draw& draw, BlockState& block, const std::vector<Operand>& places, Mood mood) {
  for (const Operand& where : places) {
    for (unsigned pe = 0; pe < block.pes; ++pe) {
      for (unsigned element = 0; element < max_elements; ++element) {
        write_location(block, where, pe, element, word_as(where.width, draw_word(draw, mood)).bits);
      }
    }
  }
}

void draw_items(Draw& draw, Case& test, const std::vector<ItemField>& fields,
                const Inputs& inputs) {
  const std::uint32_t hard = inputs.hard_item ? draw.below(test.run.iterations) : ~0U;
  for (std::uint32_t n = 0; n < test.run.iterations; ++n) {
    for (const ItemField& field : fields) {
      const Long word = n != hard || draw.chance(40) ? draw_word(draw, inputs.mood)
                        : draw.chance(50)            ? hard_word(draw)
                                                     : edge_word(draw);
      const Operand& x = field.in_item;
      write_bm(test.state, test.run.source_base + n * test.run.source_step + x.address, x.width,
               word_as(x.width, word).bits);
    }
  }
}

/// Iterations, with source items after the scratch and the output items after those.
void place_run(Draw& draw, Case& test) {
  BlockRun& run = test.run;
  // Short loops are many in the time of a long one.
  run.iterations = draw.pick({1U, 2U, 3U, 5U, 8U, 13U, 16U, 17U, 33U});
  if (draw.chance(10)) run.iterations = draw.pick({64U, 100U, 200U});
  if (draw.below(200) == 0) run.iterations = 1000;
  run.source_base = LoopBuilder::scratch_shorts;
  run.source_step = test.program.item_shorts;
  const auto count = static_cast<std::uint32_t>(run.iterations);
  run.output_base = run.source_base + count * run.source_step;
  run.output_step = draw.chance(50) ? LoopBuilder::output_shorts : 0;
  run.collect_flags = draw.chance(10);
  if (draw.chance(25)) test.split = draw.below(run.iterations);
}

/// Broadcast memory up to the end of the last output item.
std::uint32_t shorts_of_run(const Case& test) {
  const auto passes = static_cast<std::uint32_t>(test.run.iterations - 1);
  return test.run.output_base + passes * test.run.output_step + LoopBuilder::output_shorts;
}

}  // namespace

Case loop_case(std::uint64_t seed) {
  Draw draw(seed);
  Case test;
  test.geometry.blocks = 1;
  test.geometry.pes_per_block = draw.chance(60) ? 32 : draw.pick({1U, 3U, 8U, 33U, 40U, 64U, 130U});
  test.geometry.register_words = 128;
  test.geometry.local_words = 64;
  test.program.name = "loop";
  test.program.fixed_shorts = LoopBuilder::scratch_shorts;
  test.program.output_shorts = LoopBuilder::output_shorts;

  const LoopStyle style = random_style(draw);
  Inputs inputs = random_inputs(draw);
  if (style.excursions > 0 && draw.chance(40)) inputs.mood = Mood::Sparse;
  LoopBuilder builder(draw, test, style);
  builder.write_body(draw.between(3, 30));
  builder.write_frame();
  place_run(draw, test);
  test.geometry.broadcast_words = shorts_of_run(test) / 2 + 1;
  test.state = empty_block(test.geometry);
  if (draw.chance(30)) randomize(test.state, draw, draw.pick({inputs.mood, Mood::Hostile}));
  draw_places(draw, test.state, builder.starting_places(), inputs.mood);
  plant_edges(test.state, draw, inputs.edges);
  draw_items(draw, test, builder.fields(), inputs);
  test.whole = draw.chance(50);
  test.what = fmt::format(
      "loop of {} instructions, {} iterations, {} numbers{}{}{}{}{}{}",
      test.program.section(Section::Body).size(), test.run.iterations, mood_name(inputs.mood),
      inputs.hard_item ? ", one hard item" : "", inputs.edges > 0 ? ", some at edges" : "",
      style.immediates == Mood::Edges ? ", constants at edges" : "",
      style.excursions > 0 ? ", excursions" : "", style.feedback ? ", sums fed back" : "",
      style.halves ? ", halves of longs" : "");
  return test;
}

}  // namespace gdr::selftest
