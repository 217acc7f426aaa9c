// Sph: for each class of smoothing lengths a PairSum with its particles as sources, all as targets.
#include "gdr/sph.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "emulator/host/float_mode.hpp"
#include "gdr/error.hpp"
#include "gdr/pairs.hpp"
#include "libgdr/particle/lattice.hpp"
#include "libgdr/sph/length_classes.hpp"

namespace gdr {
namespace {

using sph::LengthClass;

/// Reach of lists beyond the cut-off, in the shortest smoothing length, and how far it may be from
/// that before lists get another one.
constexpr double skin_lengths = 0.1, most_skin_ratio = 2;
/// Radii exceed the sum of two lengths by more than the roundings of any engine.
constexpr double radius_margin = 1 + 1e-6;
/// Limits of the change of a length's logarithm in an iteration, and of the derivative that
/// predicts it.
constexpr double largest_step = 0.7, least_slope = -20, most_slope = -0.5;

/// The name of an array of a call, and what its values must be.
struct ExpectedValues {
  const char* name;
  std::size_t each;
  bool positive;
};

void check_gas(const ExpectedValues& e, std::span<const double> values, std::size_t n) {
  if (values.size() != e.each * n)
    throw Error(ErrorCategory::Usage, std::string(e.name) + " has " +
                                          std::to_string(values.size()) + " numbers; expected " +
                                          std::to_string(e.each * n) + " for " + std::to_string(n) +
                                          " particles");
  for (std::size_t k = 0; k < values.size(); ++k)
    if (!std::isfinite(values[k]) || (e.positive && !(values[k] > 0)))
      throw Error(ErrorCategory::Input, std::string(e.name) + "[" + std::to_string(k / e.each) +
                                            "] is " + std::to_string(values[k]) + "; expected a " +
                                            (e.positive ? "positive" : "finite") + " number");
}

template <typename T>
void check_gas_result(const char* name, std::span<T> values, std::size_t size, bool optional) {
  if (values.size() == size || (optional && values.empty())) return;
  throw Error(ErrorCategory::Usage, std::string(name) + " has " + std::to_string(values.size()) +
                                        " numbers; expected " + std::to_string(size));
}

std::vector<double> half_of(std::span<const double> values) {
  std::vector<double> half(values.begin(), values.end());
  for (double& v : half) v *= 0.5;
  return half;
}

/// One component of vectors.
std::vector<double> component_of(std::span<const double> vectors, std::size_t c) {
  std::vector<double> out(vectors.size() / 3);
  for (std::size_t i = 0; i < out.size(); ++i) out[i] = vectors[3 * i + c];
  return out;
}

/// A property of all particles: a variable of targets and of sources, or of sources only.
struct GasProperty {
  const char* target;
  const char* source;
  std::vector<double> values;
};

/// A kernel over the pairs of all classes.
class ClassSums {
 public:
  ClassSums(Device& device, const char* kernel)
      : device_(&device), kernel_(Kernel::builtin(kernel)) {}

  void set_box(const std::optional<PeriodicBox>& box) { box_ = box; }
  void set(const char* name, double value) { params_[name] = value; }

  /// Runs each class; `collect` is called after each one, to add the results.
  template <typename Collect>
  void run(std::span<const double> pos, std::span<const double> h,
           const std::vector<GasProperty>& properties, std::span<const NamedResult> results,
           const Collect& collect) {
    classes_.follow(h);
    const double skin = skin_lengths * *std::ranges::min_element(h);
    std::vector<NamedInput> targets;
    for (const GasProperty& p : properties)
      if (p.target != nullptr) targets.push_back({p.target, p.values});
    for (std::size_t k = 0; k < classes_.classes().size(); ++k) {
      const LengthClass& c = classes_.classes()[k];
      std::vector<double> radii(classes_.limits());
      for (double& r : radii) r = radius_margin * (r + c.longest);
      PairSum& sum = prepared(k, radii, skin);
      const std::vector<double> at = members(pos, 3, c);
      std::vector<std::vector<double>> columns;
      columns.reserve(properties.size());
      for (const GasProperty& p : properties) columns.push_back(members(p.values, 1, c));
      std::vector<NamedInput> sources;
      for (std::size_t j = 0; j < columns.size(); ++j)
        sources.push_back({properties[j].source, columns[j]});
      sum.run({.pos = at,
               .target_pos = pos,
               .sources = sources,
               .targets = targets,
               .results = results});
      collect();
    }
  }

 private:
  struct Prepared {
    PairSum sum;
    double skin;
  };

  static std::vector<double> members(std::span<const double> values, std::size_t each,
                                     const LengthClass& c) {
    std::vector<double> out;
    out.reserve(each * c.members.size());
    for (const std::size_t i : c.members)
      for (std::size_t k = 0; k < each; ++k) out.push_back(values[each * i + k]);
    return out;
  }

  PairSum& prepared(std::size_t k, const std::vector<double>& radii, double skin) {
    if (k < sums_.size() &&
        (skin > most_skin_ratio * sums_[k].skin || skin * most_skin_ratio < sums_[k].skin))
      sums_[k] = made(radii, skin);
    if (k == sums_.size()) sums_.push_back(made(radii, skin));
    PairSum& sum = sums_[k].sum;
    sum.set_box(box_);
    sum.set_cutoff(radii);
    for (const auto& [name, value] : params_) sum.set(name, value);
    return sum;
  }

  Prepared made(const std::vector<double>& radii, double skin) const {
    return {PairSum(*device_, kernel_, {.cutoff = radii, .box = box_, .skin = skin}), skin};
  }

  Device* device_;
  Kernel kernel_;
  std::optional<PeriodicBox> box_;
  std::map<std::string, double> params_;
  sph::LengthClasses classes_;
  std::vector<Prepared> sums_;
};

}  // namespace

struct Sph::Impl {
  Impl(Device& device, const std::optional<PeriodicBox>& box)
      : densities(device, "sph_density"), pressures(device, "sph_force") {
    if (device.ranks() > 1)
      throw Error(ErrorCategory::Unsupported,
                  "SPH sums are not distributed over ranks; open a device in each process");
    set_box(box);
  }

  void set_box(const std::optional<PeriodicBox>& box) {
    lattice = Lattice(box);
    densities.set_box(box);
    pressures.set_box(box);
  }

  /// First smoothing lengths, of the particles within the box.
  void estimate(const SphParticles& p, double eta, std::span<double> h) const {
    std::vector<double> within(p.pos.begin(), p.pos.end());
    for (std::size_t i = 0; i < p.mass.size(); ++i) {
      Point x{within[3 * i], within[3 * i + 1], within[3 * i + 2]};
      lattice.wrap(x);  // the sums refuse positions that are too far away
      std::ranges::copy(x, within.begin() + static_cast<std::ptrdiff_t>(3 * i));
    }
    std::ranges::copy(sph::estimate_lengths(within, p.mass, eta), h.begin());
  }

  static void check(const SphParticles& p, bool lengths, bool positive_mass) {
    const std::size_t n = p.mass.size();
    check_gas({"pos", 3, false}, p.pos, n);
    check_gas({"mass", 1, positive_mass}, p.mass, n);
    if (lengths) check_gas({"h", 1, true}, p.h, n);
  }

  void density(const SphParticles& p, std::span<double> rho, std::span<std::int64_t> near) {
    const std::size_t n = p.mass.size();
    std::ranges::fill(rho, 0);
    std::ranges::fill(near, 0);
    if (n == 0) return;
    std::vector<double> rho_of(n);
    std::vector<std::int64_t> near_of(n);
    const std::vector<GasProperty> properties{{nullptr, "mj", {p.mass.begin(), p.mass.end()}},
                                              {"hhi", "hhj", half_of(p.h)}};
    const std::vector<NamedResult> results{{"rho", rho_of}, {"near", near_of}};
    densities.run(p.pos, p.h, properties, results, [&] {
      for (std::size_t i = 0; i < n; ++i) rho[i] += rho_of[i];
      for (std::size_t i = 0; i < near.size(); ++i) near[i] += near_of[i];
    });
  }

  void forces(const SphParticles& p, const SphGas& gas, const SphForces& to) {
    const std::size_t n = p.mass.size();
    for (const std::span<double> r : {to.acc, to.dudt, to.mumax}) std::ranges::fill(r, 0);
    if (n == 0) return;
    pressures.set("alpha", gas.alpha);
    pressures.set("beta", gas.beta);
    pressures.set("eta", gas.eta);
    std::vector<double> scaled(gas.pressure.begin(), gas.pressure.end());
    for (std::size_t i = 0; i < n; ++i) scaled[i] /= gas.rho[i] * gas.rho[i];
    check_gas({"pressure / rho^2", 1, false}, scaled, n);
    const std::vector<GasProperty> properties{{nullptr, "mj", {p.mass.begin(), p.mass.end()}},
                                              {"vxi", "vxj", component_of(gas.vel, 0)},
                                              {"vyi", "vyj", component_of(gas.vel, 1)},
                                              {"vzi", "vzj", component_of(gas.vel, 2)},
                                              {"hhi", "hhj", half_of(p.h)},
                                              {"hci", "hcj", half_of(gas.sound)},
                                              {"hrhoi", "hrhoj", half_of(gas.rho)},
                                              {"pi", "pj", std::move(scaled)}};
    std::vector<double> ax(n), ay(n), az(n), dudt(n), mumax(n);
    const std::vector<NamedResult> results{
        {"ax", ax}, {"ay", ay}, {"az", az}, {"dudt", dudt}, {"mumax", mumax}};
    pressures.run(p.pos, p.h, properties, results, [&] {
      for (std::size_t i = 0; i < n && !to.acc.empty(); ++i) {
        to.acc[3 * i] += ax[i];
        to.acc[3 * i + 1] += ay[i];
        to.acc[3 * i + 2] += az[i];
      }
      for (std::size_t i = 0; i < to.dudt.size(); ++i) to.dudt[i] += dudt[i];
      for (std::size_t i = 0; i < to.mumax.size(); ++i)
        to.mumax[i] = std::max(to.mumax[i], mumax[i]);
    });
  }

  ClassSums densities, pressures;
  Lattice lattice;
};

namespace {

/// The iteration for h = f(h) = eta (mass / rho(h))^(1/3) of all particles: secant steps for the
/// root of log(f / h), as a function of log(h). Its derivative is about -1 within many particles, 0
/// far from all others, and less than -1 where the spline begins to reach them.
class LengthIteration {
 public:
  LengthIteration(const SphLengthOptions& options, std::span<const double> mass)
      : options_(options),
        mass_(mass),
        before_h_(mass.size()),
        before_log_(mass.size()),
        slope_(mass.size(), -1) {}

  /// The particle whose length differs most from f(h), and by how much, relative to it.
  std::pair<std::size_t, double> difference(std::span<const double> h,
                                            std::span<const double> rho) const {
    std::pair<std::size_t, double> most{0, -1};
    for (std::size_t i = 0; i < h.size(); ++i) {
      const double d = std::abs(wanted(i, rho[i]) / h[i] - 1);
      if (!(d <= most.second)) most = {i, d};
      if (std::isnan(d)) break;
    }
    return most;
  }

  void step(std::span<double> h, std::span<const double> rho) {
    for (std::size_t i = 0; i < h.size(); ++i) {
      const double log = std::log(wanted(i, rho[i]) / h[i]);
      const double dh = started_ ? std::log(h[i] / before_h_[i]) : 0;
      if (std::abs(dh) > 1e-9)
        slope_[i] = std::clamp((log - before_log_[i]) / dh, least_slope, most_slope);
      before_h_[i] = h[i];
      before_log_[i] = log;
      h[i] = limited(h[i] * std::exp(std::clamp(-log / slope_[i], -largest_step, largest_step)));
    }
    started_ = true;
  }

  /// Whether a length shrinks without end: the density is that of particles at the same place,
  /// which grows as h^-3, so that f(h) / h stays the same.
  bool hopeless(std::size_t i, double h, double rho) const {
    const double log = std::log(wanted(i, rho) / h);
    return started_ && log < 0 && h < before_h_[i] && std::abs(log - before_log_[i]) < 1e-9;
  }

  double limited(double h) const { return std::clamp(h, options_.least, options_.most); }

 private:
  double wanted(std::size_t i, double rho) const {
    return limited(options_.eta * std::cbrt(mass_[i] / rho));
  }

  SphLengthOptions options_;
  std::span<const double> mass_;
  std::vector<double> before_h_, before_log_, slope_;
  bool started_ = false;
};

void check_length_options(const SphLengthOptions& o) {
  const auto refuse = [](const char* name, double value, const char* expected) {
    throw Error(ErrorCategory::Input, fmt::format("{} is {}; expected {}", name, value, expected));
  };
  if (!(o.eta > 0 && std::isfinite(o.eta))) refuse("eta", o.eta, "a positive number");
  if (!(o.tolerance > 0 && o.tolerance < 1)) refuse("tolerance", o.tolerance, "above 0, below 1");
  if (!(o.least >= 0 && std::isfinite(o.least))) refuse("least", o.least, "0 or a length");
  if (!(o.most > 0 && o.most >= o.least)) refuse("most", o.most, "a length above `least`");
}

[[noreturn]] void not_converged(std::size_t i, double h, unsigned iterations, bool growing) {
  throw Error(ErrorCategory::Input,
              "smoothing lengths have not converged in " + std::to_string(iterations) +
                  " iterations: that of particle " + std::to_string(i) + " is " +
                  fmt::format("{:.6g}", h) + " and " +
                  (growing ? "grows, since too few particles are around it"
                           : "shrinks, since too many particles are at its place") +
                  "; limit the lengths (`least`, `most`), or use another eta or tolerance");
}

}  // namespace

Sph::Sph(Device& device, const std::optional<PeriodicBox>& box)
    : impl_(std::make_unique<Impl>(device, box)) {}
Sph::~Sph() = default;
Sph::Sph(Sph&&) noexcept = default;
Sph& Sph::operator=(Sph&&) noexcept = default;

void Sph::set_box(const std::optional<PeriodicBox>& box) { impl_->set_box(box); }

void Sph::density(const SphParticles& particles, std::span<double> rho,
                  std::span<std::int64_t> near) {
  const HostFloatMode mode;
  Impl::check(particles, true, false);
  check_gas_result("rho", rho, particles.mass.size(), false);
  check_gas_result("near", near, particles.mass.size(), true);
  impl_->density(particles, rho, near);
}

unsigned Sph::smoothing_lengths(const SphParticles& particles, const SphLengthOptions& options,
                                std::span<double> h, std::span<double> rho,
                                std::span<std::int64_t> near) {
  const HostFloatMode mode;
  check_length_options(options);
  const std::size_t n = particles.mass.size();
  Impl::check(particles, !particles.h.empty(), true);
  check_gas_result("h", h, n, false);
  check_gas_result("rho", rho, n, false);
  check_gas_result("near", near, n, true);
  if (n == 0) return 0;
  if (!particles.h.empty())
    std::ranges::copy(particles.h, h.begin());
  else
    impl_->estimate(particles, options.eta, h);
  LengthIteration iteration(options, particles.mass);
  for (double& length : h) length = iteration.limited(length);
  for (unsigned k = 1;; ++k) {
    impl_->density({.pos = particles.pos, .mass = particles.mass, .h = h}, rho, near);
    const auto [worst, difference] = iteration.difference(h, rho);
    if (difference <= options.tolerance) return k;
    const double before = h[worst];
    if (k >= options.iterations || !(before > 1e-100 && before < 1e100) || std::isnan(difference) ||
        iteration.hopeless(worst, before, rho[worst])) {
      iteration.step(h, rho);
      not_converged(worst, before, k, h[worst] > before);
    }
    iteration.step(h, rho);
  }
}

void Sph::forces(const SphParticles& particles, const SphGas& gas, const SphForces& results) {
  const HostFloatMode mode;
  const std::size_t n = particles.mass.size();
  Impl::check(particles, true, false);
  check_gas({"vel", 3, false}, gas.vel, n);
  check_gas({"rho", 1, true}, gas.rho, n);
  check_gas({"pressure", 1, false}, gas.pressure, n);
  check_gas({"sound", 1, false}, gas.sound, n);
  check_gas_result("acc", results.acc, 3 * n, true);
  check_gas_result("dudt", results.dudt, n, true);
  check_gas_result("mumax", results.mumax, n, true);
  impl_->forces(particles, gas, results);
}

}  // namespace gdr
