// A kernel of a library on random values of its variables, without board and host.
#include <fmt/format.h>

#include <algorithm>
#include <vector>

#include "emulator/selftest/case.hpp"

namespace gdr::selftest {
namespace {

/// Distribution of the values of one variable.
struct VariableDistribution {
  const Variable* variable = nullptr;
  OperandDistribution distribution = OperandDistribution::Moderate;
  bool positive = false;
};

/// Host bits of a value: a number of the distribution, or a small integer, so that ids coincide.
u128 host_value(Rng& rng, const VariableDistribution& values) {
  Long word = random_word(rng, values.distribution);
  if (values.positive) word.bits &= Long::mask >> 1;
  const HostType host = values.variable->conversion.host;
  if (host == HostType::F64) return word.bits >> 8;
  if (host == HostType::I64) return rng.below(40);
  if (host == HostType::Raw) return word.bits;
  Flags flags = no_flags;
  return to_host({HostType::F32, MachineFormat::FloatLong, 0}, Width::Long, word.bits, flags);
}

u128 machine_value(Rng& rng, const VariableDistribution& values) {
  Flags flags = no_flags;
  const Variable& v = *values.variable;
  return to_machine(v.conversion, v.location.width, host_value(rng, values), flags);
}

/// Sources are items in the broadcast memory, one after the other.
void draw_sources(Rng& rng, Case& test, const VariableDistribution& values) {
  const Variable& v = *values.variable;
  const std::uint64_t items = test.run.iterations * test.program.group;
  for (std::uint64_t n = 0; n < items; ++n) {
    const auto item =
        test.run.source_base + static_cast<std::uint32_t>(n) * test.program.item_shorts;
    write_bm(test.state, item + v.location.address, v.location.width, machine_value(rng, values));
  }
}

void draw_in_pes(Rng& rng, BlockState& block, const VariableDistribution& values) {
  const Variable& v = *values.variable;
  const bool each = v.kind == VarKind::Target;
  const u128 same = machine_value(rng, values);
  for (unsigned pe = 0; pe < block.pes; ++pe) {
    for (unsigned element = 0; element < max_elements; ++element) {
      write_location(block, v.location, pe, element, each ? machine_value(rng, values) : same);
    }
  }
}

void draw_variable(Rng& rng, Case& test, const VariableDistribution& values) {
  const Variable& v = *values.variable;
  if (v.kind == VarKind::Source) {
    draw_sources(rng, test, values);
  } else if (v.kind == VarKind::Param && v.location.space == Space::Bm) {
    write_bm(test.state, v.location.address, v.location.width, machine_value(rng, values));
  } else if (v.kind == VarKind::Target || v.kind == VarKind::Param) {
    draw_in_pes(rng, test.state, values);
  }
}

/// A random number of groups of items, as far as they fit; sources before outputs.
void place_run(Rng& rng, Case& test) {
  const Program& p = test.program;
  const std::uint32_t room = test.geometry.broadcast_words * 2 - p.fixed_shorts;
  test.run.source_step = p.item_shorts * p.group;
  test.run.output_step = p.output_shorts * p.group;
  const std::uint32_t group = test.run.source_step + test.run.output_step;
  const std::uint32_t fit = group == 0 ? 100 : (room - 2) / group;
  const std::uint32_t wanted = rng.chance(75) ? rng.between(1, 9) : rng.between(10, 150);
  test.run.iterations = std::max(1U, std::min(fit, wanted));
  test.run.source_base = p.fixed_shorts + p.fixed_shorts % 2;
  test.run.output_base =
      test.run.source_base + static_cast<std::uint32_t>(test.run.iterations) * test.run.source_step;
  test.run.output_base += test.run.output_base % 2;
}

}  // namespace

Case kernel_case(const Program& kernel, std::uint64_t seed) {
  Rng rng(seed);
  Case test;
  test.program = kernel;
  test.program.lines = {};
  test.geometry.blocks = 1;
  test.geometry.pes_per_block = rng.chance(70) ? 32 : rng.pick({1U, 3U, 8U, 40U});
  place_run(rng, test);
  test.state = empty_block(test.geometry);
  test.run.collect_flags = rng.chance(10);
  // Mostly all variables are of moderate size; else all of one distribution, or each of its own.
  const OperandDistribution common =
      rng.chance(50) ? OperandDistribution::Moderate : random_distribution(rng);
  const bool mixed = rng.chance(20);
  for (const Variable& v : test.program.variables) {
    const bool positive = v.kind == VarKind::Param || rng.chance(30);
    draw_variable(rng, test, {&v, mixed ? random_distribution(rng) : common, positive});
  }
  test.fused = rng.chance(50);
  test.what = fmt::format("kernel {}, {} iterations, {} numbers", kernel.name, test.run.iterations,
                          mixed ? "mixed" : distribution_name(common));
  return test;
}

}  // namespace gdr::selftest
