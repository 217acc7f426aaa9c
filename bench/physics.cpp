// Figures about results: errors against a reference, energy drift beside leapfrog in double.
#include <fmt/format.h>

#include <cmath>

#include "bench/measurement.hpp"
#include "gdr/gravity.hpp"
#include "libgdr/cli/output.hpp"
#include "libgdr/io/snapshot.hpp"
#include "libgdr/nbody/run.hpp"

namespace gdr::bench {
namespace {

/// Relative errors of n triples: of each the length of the difference over the length.
struct VectorError {
  double rms = 0, largest = 0;
};
VectorError vector_error(const std::vector<double>& found, const std::vector<double>& right) {
  VectorError error;
  double sum = 0;
  for (std::size_t i = 0; i + 2 < right.size(); i += 3) {
    double difference = 0, length = 0;
    for (std::size_t k = i; k < i + 3; ++k) {
      difference += (found[k] - right[k]) * (found[k] - right[k]);
      length += right[k] * right[k];
    }
    sum += difference / length;
    error.largest = std::max(error.largest, std::sqrt(difference / length));
  }
  error.rms = std::sqrt(sum / (static_cast<double>(right.size()) / 3));
  return error;
}

/// Energy drift of a run in one time unit.
RunResult integrate(const Snapshot& start, const RunPlan& plan, const ForceLaw& forces,
                    const char* label) {
  Snapshot snapshot = start;
  cli::Progress progress(label, static_cast<double>(plan.steps()));
  RunObserver observer;
  observer.progress = [&](double steps) { progress.update(steps); };
  return run_simulation(snapshot, plan, forces, {}, observer);
}

}  // namespace

std::vector<Measurement> gravity_accuracy(const Context& context) {
  const Snapshot snapshot =
      read_snapshot(data_file(context, "plummer_4096.hdf5"), Velocities::Ignored);
  const auto reference = open_hdf5(data_file(context, "plummer_4096_reference.hdf5"));
  const double eps = reference->attribute("/", "softening").value().at(0);
  const std::vector<double> right = reference->doubles("Acceleration");
  const std::vector<double> right_potential = reference->doubles("Potential");

  Device device = cli::open_device(context.device, EngineUse::Benchmark);
  std::vector<double> acceleration(right.size()), potential(right_potential.size());
  Gravity(device).compute(snapshot.size(), snapshot.position.data(), snapshot.mass.data(), eps,
                          acceleration.data(), potential.data());
  const VectorError error = vector_error(acceleration, right);
  double worst = 0;
  for (std::size_t i = 0; i < potential.size(); ++i)
    worst = std::max(worst, std::abs(potential[i] / right_potential[i] - 1));
  // Limits are those of exact numerics; fast ones have none but what a user needs.
  const bool fast = device.statistics().engine.rfind("native", 0) == 0;
  const auto limit = [fast](double x) { return fast ? std::optional<double>() : x; };
  return {
      {"accelerations of plummer_4096, rms", error.rms, "relative error", "", limit(6e-8), true},
      {"accelerations of plummer_4096, largest", error.largest, "relative error", "", limit(2e-6),
       true},
      {"potentials of plummer_4096, largest", worst, "relative error", "", {}, true}};
}

/// Fast numerics beside exact ones on the same particles, for every kernel of the library.
std::vector<Measurement> fast_accuracy(const Context& context) {
  const Snapshot snapshot =
      read_snapshot(data_file(context, "plummer_4096.hdf5"), Velocities::Ignored);
  const std::size_t n = snapshot.size();
  struct Forces {
    std::vector<double> acceleration, potential;
  };
  const auto forces = [&](std::string_view engine) {
    Device device = open_device(context, engine);
    Gravity gravity(device);
    Forces f{std::vector<double>(3 * n), std::vector<double>(n)};
    gravity.compute(n, snapshot.position.data(), snapshot.mass.data(), 1.0 / 64,
                    f.acceleration.data(), f.potential.data());
    return f;
  };
  const Forces exact = forces("vector");
  std::vector<Measurement> list;
  for (const std::string_view engine : {"native", "native-float"}) {
    const Forces fast = forces(engine);
    const VectorError error = vector_error(fast.acceleration, exact.acceleration);
    double largest = 0;
    for (std::size_t i = 0; i < n; ++i) {
      largest = std::max(largest, std::abs(fast.potential[i] / exact.potential[i] - 1));
    }
    const auto add = [&](const char* what, double value) {
      list.push_back({fmt::format("gravity, {}: {}", engine, what),
                      value,
                      "relative difference from exact numerics",
                      {},
                      {},
                      true});
    };
    add("accelerations, rms", error.rms);
    add("accelerations, largest", error.largest);
    add("potentials, largest", largest);
  }
  return list;
}

std::vector<Measurement> energy_drift(const Context& context) {
  const Snapshot snapshot = read_snapshot(data_file(context, "plummer_1024.hdf5"));
  RunRequest request;
  request.softening = 1.0 / 64;
  request.time_step = 1.0 / 1024;
  request.end_time = snapshot.time + 1;
  const RunPlan plan = plan_run(snapshot, request);
  Device device = cli::open_device(context.device, EngineUse::Benchmark);
  const RunResult emulated =
      integrate(snapshot, plan, device_forces(device, 1.0 / 64), "energy: emulated chip");
  const RunResult native = integrate(snapshot, plan, host_forces(1.0 / 64), "energy: double");
  const double found = emulated.records.back().energy_error;
  const double right = native.records.back().energy_error;
  const std::string comment = "plummer_1024, t = 1, dt = 1/1024, eps = 1/64";
  return {{"energy drift, leapfrog on the chip", found, "relative", comment, {}, true},
          {"energy drift, leapfrog in double", right, "relative", comment, {}, true},
          {"difference of the two drifts", std::abs(found - right) / std::abs(right) * 100, "%", "",
           1.0, true},
          {"difference of the largest errors on the way",
           std::abs(emulated.largest_error / native.largest_error - 1) * 100, "%", "", 1.0, true}};
}

}  // namespace gdr::bench
