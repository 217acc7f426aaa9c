// Block steps on a board: what a step sends and takes, with sources predicted by the host and by
// the device. Times are those of the real board.
#include <fmt/format.h>

#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include "bench/measurement.hpp"
#include "bench/workload.hpp"
#include "gdr/moving_sources.hpp"

namespace gdr::bench {
namespace {

constexpr std::size_t stars = 100'000, active = 48, steps = 8;

/// Bytes and predicted seconds of a step, after which `active` stars have new polynomials.
struct Step {
  double bytes = 0, seconds = 0;
};

Step measure(const Context& context, bool on_device) {
  // Transfers and clocks do not depend on the engine.
  Device device = open_device(context, "native");
  Job job = device.job(Kernel::builtin(on_device ? "gravity_jerk_moving" : "gravity_jerk_long"));
  const Sphere sphere = plummer_sphere(stars, context.seed);
  Random random(context.seed);
  MovingSources sources;
  sources.predict_on_device(on_device);
  const auto set = [&](std::size_t k, double time) {
    MovingSource star{.time = time, .mass = sphere.mass[k], .id = static_cast<std::int64_t>(k)};
    for (std::size_t c = 0; c < 3; ++c) {
      star.x[c] = sphere.position[3 * k + c];
      for (auto* vector : {&star.v, &star.half_a, &star.sixth_j, &star.snap_18th})
        (*vector)[c] = random.uniform() - 0.5;
    }
    sources.set(k, star);
  };
  for (std::size_t k = 0; k < stars; ++k) set(k, 0);
  job.set("eps2", 1e-4);
  std::vector<double> x(active), result(active);
  std::vector<std::int64_t> id(active, -1);
  const auto step = [&](double time) {
    sources.predict(job, time, stars);
    job.targets(
        active,
        {{"xi", x}, {"yi", x}, {"zi", x}, {"vxi", x}, {"vyi", x}, {"vzi", x}, {"idi", id.data()}});
    job.run({{"ax", result}});
  };
  step(0);
  device.reset_statistics();
  for (std::size_t s = 1; s <= steps; ++s) {
    const double time = 1e-3 * static_cast<double>(s);
    for (std::size_t k = 0; k < active; ++k) set(random.below(stars), time);
    step(time);
  }
  const Statistics all = device.statistics();
  const auto count = static_cast<double>(steps);
  return {static_cast<double>(all.bytes_to_board) / count, all.predicted_seconds / count};
}

}  // namespace

std::vector<Measurement> moving_sources(const Context& context) {
  std::vector<Measurement> list;
  for (const bool on_device : {false, true}) {
    const Step step = measure(context, on_device);
    const std::string who = fmt::format("{} of {} stars, the {} predicts", active, stars,
                                        on_device ? "device" : "host");
    list.push_back({who + ": sent to the board", step.bytes / 1000, "kB a step"});
    list.push_back({who + ": predicted time", 1e3 * step.seconds, "ms a step"});
  }
  return list;
}

}  // namespace gdr::bench
