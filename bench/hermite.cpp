// The Hermite scheme with block steps: time and energy error of a star cluster over one time unit.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "bench/measurement.hpp"
#include "libgdr/io/snapshot.hpp"
#include "libgdr/nbody/integrator.hpp"
#include "libgdr/nbody/run.hpp"

namespace gdr::bench {

std::vector<Measurement> block_steps(const Context& context) {
  const Snapshot start = read_snapshot(data_file(context, "plummer_1024.hdf5"));
  RunRequest request;
  request.integrator = IntegratorKind::Hermite4;
  request.softening = 1.0 / 64;
  request.time_step = 1.0 / 16;
  request.end_time = start.time + 1;
  const RunPlan plan = plan_run(start, request);
  Device device = open_device(context, "native", {}, std::max(2U, context.threads));
  // The shortest of the repetitions: other load only adds time.
  RunResult best;
  for (unsigned k = 0; k < std::max(1U, context.repetitions); ++k) {
    Snapshot snapshot = start;
    const auto integrator = hermite_integrator(device, snapshot, plan.start, false);
    RunResult result = run_simulation(snapshot, plan, *integrator, {});
    if (k == 0 || result.seconds < best.seconds) best = std::move(result);
  }
  const HermiteStatistics& steps = *best.block_steps;
  const std::string comment =
      fmt::format("plummer_1024, t = 1, eta 0.02, eps 1/64, native in double, {} threads",
                  device.statistics().threads);
  return {{"hermite4 over one time unit", best.seconds, "s", comment, 0.6, true},
          {"its largest energy error", best.largest_error, "relative", "", 1e-6, true},
          {"its block steps", static_cast<double>(steps.block_steps), "", "", {}, true},
          {"particles in a block, mean", steps.mean_block()}};
}

}  // namespace gdr::bench
