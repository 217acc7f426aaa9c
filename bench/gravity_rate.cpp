// Interactions a second by engine, alternating with the native loop in the same run.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "bench/measurement.hpp"
#include "bench/native/native.hpp"
#include "bench/timing.hpp"
#include "bench/workload.hpp"
#include "emulator/engine/api/engine.hpp"
#include "emulator/host/gpu/device.hpp"
#include "gdr/gravity.hpp"

namespace gdr::bench {
namespace {

constexpr double rate_eps = 1.0 / 64;
constexpr std::size_t max_particles = 16384;
constexpr double wanted_seconds = 4.0;  // longest repetition

/// An engine and an instruction set, as chosen or as the host provides them.
struct Path {
  std::string engine, isa;
};

std::vector<Path> paths(const Context& context) {
  std::vector<Path> list;
  for (const auto& [engine, capabilities] : gdr::engine_table()) {
    if (!context.device.engine.empty() && context.device.engine != engine) continue;
    const bool gpu = capabilities.uses_gpu;
    if (gpu && context.device.engine.empty() && gpu::devices().empty()) continue;
    if (capabilities.one_pe_at_a_time || gpu) {
      list.push_back({std::string(engine), context.device.isa});
      continue;
    }
    for (const Isa isa : host_isas())
      if (context.device.isa.empty() || context.device.isa == isa_name(isa))
        list.push_back({std::string(engine), std::string(isa_name(isa))});
  }
  return list;
}

/// The fastest native loop of the instruction set, found once.
class NativeGravity {
 public:
  NativeGravity(const Sphere& sphere, const Context& context)
      : particles_(sphere.size(), sphere.position.data(), sphere.mass.data()),
        isa_(context.device.isa.empty() ? host_isas().front()
                                        : find_isa(context.device.isa).value_or(Isa::Portable)),
        threads_(context.threads) {
    double best = 0;
    for (const NamedLoop<double>& loop : existing(native_loops(isa_).gravity)) {
      std::vector<double> times;
      for (int k = 0; k < 4; ++k) times.push_back(once(loop));
      const double seconds = *std::min_element(times.begin(), times.end());
      if (best == 0 || seconds < best) {
        best = seconds;
        fastest_ = loop;
      }
    }
    // Long enough for clock and caches, short enough to alternate with the emulator.
    times_ = std::max(1, static_cast<int>(std::lround(0.1 / best)));
  }

  /// Interactions a second.
  double rate() {
    double seconds = 0;
    for (int k = 0; k < times_; ++k) seconds += once(fastest_);
    const auto n = static_cast<double>(particles_.n);
    return n * n * times_ / seconds;
  }
  Isa isa() const noexcept { return isa_; }
  const char* name() const noexcept { return fastest_.name; }

 private:
  double once(const NamedLoop<double>& loop) {
    return seconds_of([&] { run_native(loop.loop, particles_, rate_eps * rate_eps, threads_); });
  }
  NativeParticles<double> particles_;
  NamedLoop<double> fastest_;
  Isa isa_;
  unsigned threads_;
  int times_ = 1;
};

/// The emulator on the first n particles of a sphere.
class EmulatedRate {
 public:
  EmulatedRate(const Path& path, const Sphere& sphere, const Context& context)
      : device_(open_device(context, path.engine, path.isa)), gravity_(device_), sphere_(sphere) {
    acceleration_.resize(3 * sphere.size());
    potential_.resize(sphere.size());
    // As many particles as make one repetition long enough; twice as many take four times as long.
    n_ = std::min<std::size_t>(512, sphere.size());
    rate();
    while (n_ * 2 <= sphere.size() && seconds() * 2 < wanted_seconds) n_ *= 2;
  }

  /// Interactions a second.
  double rate() { return static_cast<double>(n_) * static_cast<double>(n_) / seconds(); }
  std::size_t particles() const noexcept { return n_; }

 private:
  double seconds() {
    return seconds_of([&] {
      gravity_.compute(n_, sphere_.position.data(), sphere_.mass.data(), rate_eps,
                       acceleration_.data(), potential_.data());
    });
  }
  Device device_;
  Gravity gravity_;
  const Sphere& sphere_;
  std::vector<double> acceleration_, potential_;
  std::size_t n_ = 0;
};

}  // namespace

std::vector<Measurement> gravity_rate(const Context& context) {
  const Sphere sphere = plummer_sphere(max_particles, context.seed);
  NativeGravity native(sphere, context);
  std::vector<double> native_rates;
  std::vector<Measurement> list;
  for (const Path& path : paths(context)) {
    EmulatedRate emulated(path, sphere, context);
    std::vector<double> rates, ratios;
    for (unsigned k = 0; k < context.repetitions; ++k) {
      native_rates.push_back(native.rate());
      rates.push_back(emulated.rate());
      ratios.push_back(rates.back() / native_rates.back());
    }
    Measurement rate{
        fmt::format("{} engine, {}", path.engine, path.engine == "reference" ? "scalar" : path.isa),
        median(rates) * 1e-6, "million interactions/s",
        fmt::format("{:.3g} % of native, {} particles", median(ratios) * 100,
                    emulated.particles())};
    // The requirement for the best vector engine: one of two limits.
    const bool is_first_vector =
        path.engine == "vector" &&
        std::none_of(list.begin(), list.end(), [](const Measurement& f) { return f.required; });
    if (is_first_vector) {
      rate.required = 100;
      rate.met_override = rate.value >= 100 || median(ratios) >= 0.03;
      rate.comment += "; or 3 % of native";
    }
    list.push_back(rate);
  }
  list.insert(list.begin(),
              Measurement{fmt::format("native double loop, {}", isa_name(native.isa())),
                          median(native_rates) * 1e-6, "million interactions/s", native.name()});
  return list;
}

}  // namespace gdr::bench
