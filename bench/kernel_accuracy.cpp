// Errors of every kernel relative to direct sums in long double, and its clocks.
#include <fmt/format.h>

#include <optional>
#include <string>

#include "bench/laws/laws.hpp"
#include "bench/measurement.hpp"

namespace gdr::bench {
namespace {

constexpr std::size_t graded_particles = 1000;

struct Run {
  Columns results;
  std::string note;  ///< sections that ran on the exact engine instead
};

Run run_on(std::string_view engine, const Context& context, const Kernel& kernel, const Law& law,
           const Sample& sample) {
  Device device = open_device(context, engine);
  Run run{run_law(device, kernel, law, sample, sample), {}};
  const Statistics s = device.statistics();
  if (engine != "vector" && s.fallback_runs != 0)
    run.note = fmt::format("{} of {} sections on the exact engine: {}", s.fallback_runs,
                           s.fast_runs + s.fallback_runs, s.fallback_reason);
  return run;
}

void add_errors(std::vector<Measurement>& list, const std::string& name, const Run& run,
                const std::vector<LawError>& errors, std::optional<double> limit) {
  for (const LawError& e : errors) {
    const std::string quantity = fmt::format("{}: {}", name, e.quantity);
    list.push_back({quantity + ", rms", e.rms, "of its rms", run.note, limit, true});
    list.push_back({quantity + ", largest", e.largest, "of its rms", {}, {}, true});
  }
}

/// The errors of one kernel on every engine, against direct sums (with limits for exact
/// numerics and for fast ones in doubles) and of fast numerics against exact ones.
void add_kernel(std::vector<Measurement>& list, const Context& context, const Kernel& kernel,
                const Law& law, const Sample& sample, const Columns& right) {
  const auto name = [&](std::string_view engine) {
    return fmt::format("{}, {}", law.kernel, engine);
  };
  const Run exact = run_on("vector", context, kernel, law, sample);
  add_errors(list, name("vector"), exact, compare(law, exact.results, right), law.limit);
  for (const std::string_view engine : {"native", "native-float"}) {
    const Run fast = run_on(engine, context, kernel, law, sample);
    std::optional<double> limit;
    if (engine == "native") limit = law.native_limit;
    add_errors(list, name(engine), fast, compare(law, fast.results, right), limit);
    add_errors(list, name(engine) + " beside exact", fast,
               compare(law, fast.results, exact.results), {});
  }
}

}  // namespace

std::vector<Measurement> kernel_accuracy(const Context& context) {
  std::vector<Measurement> list;
  for (const Law& law : laws()) {
    const Kernel kernel = Kernel::builtin(law.kernel);
    const Sample sample = law.sample(graded_particles, context.seed);
    list.push_back({fmt::format("{}: clocks an interaction", law.kernel),
                    kernel.clocks_per_interaction(),
                    "clocks",
                    fmt::format("{} operations by the usual count", kernel.flops_per_interaction()),
                    {},
                    true});
    add_kernel(list, context, kernel, law, sample, direct_law(kernel, law, sample, sample));
  }
  return list;
}

}  // namespace gdr::bench
