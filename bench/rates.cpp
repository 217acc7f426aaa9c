// Lines a second of the assembler and of the arithmetic tool, and the fixed cost of a force call.
#include <fmt/format.h>

#include <algorithm>

#include "bench/measurement.hpp"
#include "bench/timing.hpp"
#include "bench/workload.hpp"
#include "emulator/assembler/assembler.hpp"
#include "gdr/error.hpp"
#include "gdr/gravity.hpp"
#include "gdr/kernel.hpp"
#include "libgdr/cli/fp_lines.hpp"

namespace gdr::bench {

std::vector<Measurement> gravity_clocks(const Context&) {
  const double clocks = Kernel::builtin("gravity").clocks_per_interaction();
  return {{"gravity, acceleration and potential", clocks, "clocks an interaction",
           fmt::format("the original took 56: {:.3g} times as fast", 56 / clocks), 32.0, true}};
}

std::vector<Measurement> assembler_rate(const Context& context) {
  constexpr std::size_t lines = 100'000;
  const std::string text = assembly_text(lines, context.seed);
  AssembleOptions options;
  options.geometry.instruction_words = 4 * lines;
  std::vector<double> rates;
  for (unsigned k = 0; k < context.repetitions; ++k) {
    const double seconds = seconds_of([&] {
      const AssembleResult result = assemble(text, "generated.gds", options);
      if (!result.ok()) throw Error(ErrorCategory::Internal, result.diagnostics.render());
    });
    rates.push_back(static_cast<double>(lines) / seconds);
  }
  return {{"assembler", median(rates), "lines/s",
           fmt::format("{} lines of instructions, hazards proved", lines), 500e3}};
}

std::vector<Measurement> fp_rate(const Context& context) {
  constexpr std::size_t lines = 200'000;
  const std::string text = fp_text(lines, context.seed);
  std::vector<double> rates;
  for (unsigned k = 0; k < context.repetitions; ++k) {
    const double seconds = seconds_of([&] {
      cli::FpLines evaluator;
      for (std::size_t at = 0; at < text.size(); at += 1U << 16) {
        evaluator.feed(std::string_view(text).substr(at, 1U << 16));
        evaluator.results.clear();
      }
      evaluator.finish();
      if (evaluator.bad_lines() != 0)
        throw Error(ErrorCategory::Internal, "gdr fp refuses a line: " + evaluator.messages);
    });
    rates.push_back(static_cast<double>(lines) / seconds);
  }
  return {{"gdr fp", median(rates), "lines/s", fmt::format("{} lines of all operations", lines),
           200e3}};
}

std::vector<Measurement> force_call(const Context& context) {
  constexpr std::size_t targets = 2048;
  constexpr unsigned calls = 200, turns = 40;
  const Sphere sphere = plummer_sphere(targets, context.seed);
  Device device = open_device(context);
  Gravity gravity(device);
  std::vector<double> acceleration(3 * targets), potential(targets), turn(calls);
  const double source[3] = {0.1, 0.2, 0.3}, mass = 1;
  double quietest = 0;
  for (unsigned t = 0; t < turns; ++t) {
    for (double& seconds : turn)
      seconds = seconds_of([&] {
        gravity.compute_on(targets, sphere.position.data(), 1, source, &mass, 1.0 / 64,
                           acceleration.data(), potential.data());
      });
    const double middle = median(turn);
    quietest = t == 0 ? middle : std::min(quietest, middle);
  }
  return {{"force call, 2048 targets and one source", quietest * 1e6, "microseconds",
           fmt::format("median of {} calls in the quietest of {} turns, conversions included",
                       calls, turns),
           100.0, true}};
}

}  // namespace gdr::bench
