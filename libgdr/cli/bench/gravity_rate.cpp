// Interactions a second by engine, alternating with the native loop in the same run.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "gdr/gravity.hpp"
#include "libgdr/cli/bench/figure.hpp"
#include "libgdr/cli/bench/native.hpp"
#include "libgdr/cli/bench/timing.hpp"
#include "libgdr/cli/bench/workload.hpp"

namespace gdr::bench {
namespace {

constexpr double eps = 1.0 / 64;
constexpr std::size_t most_particles = 16384;
constexpr double wanted_seconds = 4.0;  // of one repetition, at most

/// One engine with one instruction set, as it was asked for or as the host has it.
struct Path {
  std::string engine, isa;
};

std::vector<Path> paths(const Context& context) {
  std::vector<Path> list;
  for (const std::string_view engine : engine_names()) {
    if (!context.device.engine.empty() && context.device.engine != engine) continue;
    if (engine == "reference") {
      list.push_back({std::string(engine), context.device.isa});
      continue;
    }
    for (const Isa isa : host_isas())
      if (context.device.isa.empty() || context.device.isa == isa_name(isa))
        list.push_back({std::string(engine), std::string(isa_name(isa))});
  }
  return list;
}

/// The native loop at its best: the fastest variant, found once.
class Native {
 public:
  Native(const Sphere& sphere, const Context& context)
      : particles_(native_particles(sphere.size(), sphere.position.data(), sphere.mass.data())),
        threads_(context.threads) {
    const Isa isa = context.device.isa.empty()
                        ? host_isas().front()
                        : find_isa(context.device.isa).value_or(Isa::Portable);
    double best = 0;
    for (const NativeVariant& variant : native_variants(isa)) {
      std::vector<double> times;
      for (int k = 0; k < 4; ++k) times.push_back(once(variant));
      const double seconds = *std::min_element(times.begin(), times.end());
      if (best == 0 || seconds < best) {
        best = seconds;
        variant_ = variant;
      }
    }
    // Long enough for the clock and the caches, short enough to stand beside the emulator's turn.
    times_ = std::max(1, static_cast<int>(std::lround(0.1 / best)));
  }

  /// Interactions a second.
  double rate() {
    double seconds = 0;
    for (int k = 0; k < times_; ++k) seconds += once(variant_);
    const auto n = static_cast<double>(particles_.n);
    return n * n * times_ / seconds;
  }
  const NativeVariant& variant() const noexcept { return variant_; }

 private:
  double once(const NativeVariant& variant) {
    return seconds_of([&] { native_forces(variant, particles_, eps * eps, threads_, forces_); });
  }
  NativeParticles particles_;
  NativeForces forces_;
  NativeVariant variant_{};
  unsigned threads_;
  int times_ = 1;
};

/// The emulator on the first n particles of a sphere.
class Emulated {
 public:
  Emulated(const Path& path, const Sphere& sphere, const Context& context)
      : device_(open(path, context)), gravity_(device_), sphere_(sphere) {
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
      gravity_.compute(n_, sphere_.position.data(), sphere_.mass.data(), eps, acceleration_.data(),
                       potential_.data());
    });
  }
  static Device open(const Path& path, const Context& context) {
    cli::DeviceChoice choice = context.device;
    choice.engine = path.engine;
    choice.isa = path.isa;
    choice.threads = context.threads;
    return cli::open_device(choice);
  }
  Device device_;
  Gravity gravity_;
  const Sphere& sphere_;
  std::vector<double> acceleration_, potential_;
  std::size_t n_ = 0;
};

}  // namespace

std::vector<Figure> gravity_rate(const Context& context) {
  const Sphere sphere = plummer_sphere(most_particles, context.seed);
  Native native(sphere, context);
  std::vector<double> native_rates;
  std::vector<Figure> figures;
  for (const Path& path : paths(context)) {
    Emulated emulated(path, sphere, context);
    std::vector<double> rates, ratios;
    for (unsigned k = 0; k < context.repetitions; ++k) {
      native_rates.push_back(native.rate());
      rates.push_back(emulated.rate());
      ratios.push_back(rates.back() / native_rates.back());
    }
    Figure rate{
        fmt::format("{} engine, {}", path.engine, path.engine == "reference" ? "scalar" : path.isa),
        median(rates) * 1e-6,
        "million interactions/s",
        fmt::format("{:.3g} % of native, {} particles", median(ratios) * 100, emulated.particles()),
        {},
        false,
        {}};
    // What is required, of the vector engine at its best: one of the two is enough.
    const bool is_first_vector =
        path.engine == "vector" &&
        std::none_of(figures.begin(), figures.end(), [](const Figure& f) { return f.required; });
    if (is_first_vector) {
      rate.required = 100;
      rate.met_otherwise = rate.value >= 100 || median(ratios) >= 0.03;
      rate.comment += "; or 3 % of native";
    }
    figures.push_back(rate);
  }
  figures.insert(figures.begin(),
                 Figure{fmt::format("native double loop, {}", isa_name(native.variant().isa)),
                        median(native_rates) * 1e-6,
                        "million interactions/s",
                        std::string(native.variant().name),
                        {},
                        false,
                        {}});
  return figures;
}

}  // namespace gdr::bench
