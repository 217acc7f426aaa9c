// Sph: sums over the pairs within the sum of two lengths, and the iteration for lengths.
#include "gdr/sph.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <numbers>
#include <string>
#include <utility>
#include <vector>

#include "emulator/host/float_mode.hpp"
#include "emulator/host/hash.hpp"
#include "gdr/error.hpp"
#include "libgdr/pairs/cutoff_sum.hpp"
#include "libgdr/particle/lattice.hpp"
#include "libgdr/ranks/gathered.hpp"
#include "libgdr/ranks/ranks.hpp"
#include "libgdr/sph/lengths.hpp"

namespace gdr {
namespace {

/// Reach of lists beyond the cut-off, in the shortest smoothing length.
constexpr double skin_lengths = 0.1;
/// Radii exceed the sum of two lengths by more than the roundings of any engine.
constexpr double radius_margin = 1 + 1e-6;
/// Squares of smaller cut-offs are not normal numbers.
constexpr double min_radius = 1e-150;
/// Limits of the change of a length's logarithm in an iteration, and of the derivative that
/// predicts it.
constexpr double largest_step = 0.7, min_slope = -20, max_slope = -0.5;

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
                                            "] is " + fmt::to_string(values[k]) + "; expected a " +
                                            (e.positive ? "positive" : "finite") + " number");
}

template <typename T>
void check_gas_result(const char* name, std::span<T> values, std::size_t size, bool optional) {
  if (values.size() == size || (optional && values.empty())) return;
  throw Error(ErrorCategory::Usage, std::string(name) + " has " + std::to_string(values.size()) +
                                        " numbers; expected " + std::to_string(size));
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

/// A kernel over the pairs within the sum of two lengths.
class GasSum {
 public:
  GasSum(Device& device, const char* kernel)
      : ranks_(DeviceRanks::group(device)),
        sum_(device, Kernel::builtin(kernel), {.cutoff = {1}}) {}

  /// Of this process; ranks compare box and params when they run.
  void set_box(const std::optional<PeriodicBox>& box) { sum_.set_box(box); }
  void set(const char* name, double value) { sum_.set(name, value); }

  void run(std::span<const double> pos, std::span<const double> h,
           const std::vector<GasProperty>& properties, std::span<const NamedResult> results) {
    double shortest = std::numeric_limits<double>::infinity();
    for (const double length : h) shortest = std::min(shortest, length);
    struct Lengths {
      double shortest;
      bool serve;
    };
    bool serve = true;
    for (const Lengths& l : values_of_ranks(ranks_, Lengths{shortest, limits_.serve(h)})) {
      shortest = std::min(shortest, l.shortest);
      serve = serve && l.serve;
    }
    std::vector<NamedInput> targets, sources;
    collectively(ranks_, "lengths of SPH", [&] {
      if (!serve) limits_.renew(h);
      std::vector<double> radii = limits_.values();
      for (double& r : radii) r = std::max(radius_margin * r, min_radius);
      sum_.set_source_radii(radii);
      if (radii.empty()) radii.push_back(1);  // of no targets
      sum_.set_cutoff(radii);
      // A power of two, so that it seldom changes.
      sum_.set_skin(std::ldexp(1, std::ilogb(skin_lengths * shortest)));
      for (const GasProperty& p : properties) {
        if (p.target != nullptr) targets.push_back({p.target, p.values});
        sources.push_back({p.source, p.values});
      }
    });
    sum_.run({.pos = pos,
              .target_pos = pos,
              .sources = sources,
              .targets = targets,
              .results = results});
  }

 private:
  RankGroup* ranks_;  ///< ranks of the device; null if it has one process
  CutoffSum sum_;
  sph::LengthLimits limits_;
};

}  // namespace

struct Sph::Impl {
  explicit Impl(Device& device)
      : ranks(DeviceRanks::group(device)),
        densities(device, "sph_density"),
        pressures(device, "sph_force") {}

  void set_box(const std::optional<PeriodicBox>& box) {
    lattice = Lattice(box);
    densities.set_box(box);
    pressures.set_box(box);
  }

  /// The number of particles of all ranks.
  std::size_t total(std::size_t n) const {
    return ranks == nullptr ? n : offsets_of_ranks(*ranks, n).back();
  }

  /// First smoothing lengths, of the particles within the box.
  void estimate(const SphParticles& p, double eta, std::span<double> h) const {
    const std::size_t first =
        ranks == nullptr ? 0 : offsets_of_ranks(*ranks, h.size()).at(ranks->rank());
    std::vector<double> within(p.pos.begin(), p.pos.end());
    for (std::size_t i = 0; i < p.mass.size(); ++i) {
      Point x{within[3 * i], within[3 * i + 1], within[3 * i + 2]};
      lattice.wrap(x);  // the sums refuse positions that are too far away
      std::ranges::copy(x, within.begin() + static_cast<std::ptrdiff_t>(3 * i));
    }
    const std::vector<double> all = gathered_numbers(ranks, within, 3);
    const std::vector<double> masses = gathered_numbers(ranks, p.mass, 1);
    collectively(ranks, [&] {
      const std::vector<double> estimates = sph::estimate_lengths(all, masses, eta);
      std::copy_n(estimates.begin() + static_cast<std::ptrdiff_t>(first), h.size(), h.begin());
    });
  }

  /// The mass of the particles of all ranks at a place, or at an image of it. Collective.
  double mass_at(const SphParticles& p, const Point& place) const {
    double own = 0, sum = 0;
    for (std::size_t i = 0; i < p.mass.size(); ++i) {
      Point d{p.pos[3 * i] - place[0], p.pos[3 * i + 1] - place[1], p.pos[3 * i + 2] - place[2]};
      lattice.shorten(d);
      if (d == Point{}) own += p.mass[i];
    }
    for (const double mass : values_of_ranks(ranks, own)) sum += mass;
    return sum;
  }

  static void check(const SphParticles& p, bool lengths, bool positive_mass) {
    const std::size_t n = p.mass.size();
    check_gas({"pos", 3, false}, p.pos, n);
    check_gas({"mass", 1, positive_mass}, p.mass, n);
    if (lengths) check_gas({"h", 1, true}, p.h, n);
  }

  /// The particles of this rank have been checked. Collective.
  void density(const SphParticles& p, std::span<double> rho, std::span<std::int64_t> near) {
    if (total(p.mass.size()) == 0) return;
    std::vector<std::int64_t> counts(p.mass.size());
    const std::vector<GasProperty> properties{{nullptr, "mj", {p.mass.begin(), p.mass.end()}},
                                              {"hi", "hj", {p.h.begin(), p.h.end()}}};
    const std::vector<NamedResult> results{{"rho", rho}, {"near", counts}};
    densities.run(p.pos, p.h, properties, results);
    if (!near.empty()) std::ranges::copy(counts, near.begin());
  }

  void forces(const SphParticles& p, const SphGas& gas, const SphForces& to) {
    const std::size_t n = p.mass.size();
    std::vector<double> scaled(gas.pressure.begin(), gas.pressure.end());
    collectively(ranks, [&] {
      for (std::size_t i = 0; i < n; ++i) scaled[i] /= gas.rho[i] * gas.rho[i];
      check_gas({"pressure / rho^2", 1, false}, scaled, n);
      pressures.set("alpha", gas.alpha);
      pressures.set("beta", gas.beta);
      pressures.set("eta", gas.eta);
    });
    if (total(n) == 0) return;
    const std::vector<GasProperty> properties{{nullptr, "mj", {p.mass.begin(), p.mass.end()}},
                                              {"vxi", "vxj", component_of(gas.vel, 0)},
                                              {"vyi", "vyj", component_of(gas.vel, 1)},
                                              {"vzi", "vzj", component_of(gas.vel, 2)},
                                              {"hi", "hj", {p.h.begin(), p.h.end()}},
                                              {"ci", "cj", {gas.sound.begin(), gas.sound.end()}},
                                              {"rhoi", "rhoj", {gas.rho.begin(), gas.rho.end()}},
                                              {"pi", "pj", std::move(scaled)}};
    // All results, as ranks without particles cannot say which are needed.
    std::vector<double> acc(3 * n), dudt(n), mumax(n);
    constexpr std::ptrdiff_t triple = 3 * sizeof(double);
    const std::vector<NamedResult> results{{"ax", {acc.data(), triple}},
                                           {"ay", {acc.data() + 1, triple}},
                                           {"az", {acc.data() + 2, triple}},
                                           {"dudt", dudt},
                                           {"mumax", mumax}};
    pressures.run(p.pos, p.h, properties, results);
    const auto copy = [](const std::vector<double>& from, std::span<double> result) {
      if (!result.empty()) std::ranges::copy(from, result.begin());
    };
    copy(acc, to.acc);
    copy(dudt, to.dudt);
    for (double& m : mumax) m = std::max(m, 0.0);  // 0: no pair approaches
    copy(mumax, to.mumax);
  }

  RankGroup* ranks;  ///< ranks of the device; null if it has one process
  GasSum densities, pressures;
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

  /// The particle whose length differs most from f(h), and by how much, relative to it: infinite if
  /// that is not a number, below 0 without particles.
  std::pair<std::size_t, double> difference(std::span<const double> h,
                                            std::span<const double> rho) const {
    std::pair<std::size_t, double> most{0, -1};
    for (std::size_t i = 0; i < h.size(); ++i) {
      const double d = std::abs(wanted(i, rho[i]) / h[i] - 1);
      const double sized = std::isnan(d) ? std::numeric_limits<double>::infinity() : d;
      if (sized > most.second) most = {i, sized};
    }
    return most;
  }

  void step(std::span<double> h, std::span<const double> rho) {
    for (std::size_t i = 0; i < h.size(); ++i) {
      const double log = std::log(wanted(i, rho[i]) / h[i]);
      const double dh = started_ ? std::log(h[i] / before_h_[i]) : 0;
      if (std::abs(dh) > 1e-9)
        slope_[i] = std::clamp((log - before_log_[i]) / dh, min_slope, max_slope);
      before_h_[i] = h[i];
      before_log_[i] = log;
      h[i] = limited(h[i] * std::exp(std::clamp(-log / slope_[i], -largest_step, largest_step)));
    }
    started_ = true;
  }

  /// Whether f(h) / h stays the same: the density is that of particles at the same place, which
  /// grows as h^-3, or of particles whose distances are much shorter than h.
  bool stays(std::size_t i, double h, double rho) const {
    const double log = std::log(wanted(i, rho) / h);
    return started_ && std::abs(log - before_log_[i]) < 1e-9;
  }

  /// Whether the length of a particle shrinks without end if particles at its place, with itself,
  /// have this mass: its density is at least theirs, mass / (pi h^3).
  bool shrinks_without_end(std::size_t i, double mass_there) const {
    const double pi = std::numbers::pi;
    return limited(0) == 0 &&
           options_.eta * std::cbrt(pi * (mass_[i] / mass_there)) < 1 - options_.tolerance;
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

void require_equal_options(RankGroup& ranks, const SphLengthOptions& o) {
  Hash hash;
  hash.add(o.eta).add(o.tolerance).add(o.least).add(o.most).add(o.iterations);
  require_equal(ranks, hash.value(), "gives other options of smoothing lengths than rank 0");
}

/// Whether the first smoothing lengths are given, on all ranks with particles or on none.
bool starts_given(RankGroup* ranks, const SphParticles& p) {
  constexpr unsigned none = 1, given = 2;
  unsigned all = 0;
  const unsigned own = p.mass.empty() ? 0 : p.h.empty() ? none : given;
  for (const unsigned start : values_of_ranks(ranks, own)) all |= start;
  if (all == (none | given))
    throw CollectiveError(ErrorCategory::Usage,
                          "some ranks give first smoothing lengths and others none");
  return all == given;
}

/// Why the iteration ends without lengths.
enum class NoLength { TooMany, TooFew, Slow };

[[noreturn]] void not_converged(std::size_t i, double h, unsigned iterations, NoLength reason) {
  const char* said =
      "still changes; allow more iterations or a larger tolerance, or begin with "
      "other lengths";
  if (reason == NoLength::TooMany)
    said =
        "shrinks, since too many particles are at its place for this eta; limit the lengths "
        "(`least`), or use a larger eta";
  if (reason == NoLength::TooFew)
    said =
        "grows, since too few particles are around it; limit the lengths (`most`), or use a "
        "smaller eta";
  throw Error(ErrorCategory::Input,
              fmt::format("smoothing lengths have not converged in {} iteration{}: that of "
                          "particle {} is {:.6g} and {}",
                          iterations, iterations == 1 ? "" : "s", i, h, said));
}

}  // namespace

Sph::Sph(Device& device, const std::optional<PeriodicBox>& box)
    : impl_(std::make_unique<Impl>(device)) {
  if (box) set_box(box);
}
Sph::~Sph() = default;
Sph::Sph(Sph&&) noexcept = default;
Sph& Sph::operator=(Sph&&) noexcept = default;

void Sph::set_box(const std::optional<PeriodicBox>& box) {
  collectively(impl_->ranks, "Sph::set_box", [&] { impl_->set_box(box); });
}

void Sph::density(const SphParticles& particles, std::span<double> rho,
                  std::span<std::int64_t> near) {
  const HostFloatMode mode;
  collectively(impl_->ranks, "Sph::density", [&] {
    Impl::check(particles, true, false);
    check_gas_result("rho", rho, particles.mass.size(), false);
    check_gas_result("near", near, particles.mass.size(), true);
  });
  impl_->density(particles, rho, near);
}

unsigned Sph::smoothing_lengths(const SphParticles& particles, const SphLengthOptions& options,
                                std::span<double> h, std::span<double> rho,
                                std::span<std::int64_t> near) {
  const HostFloatMode mode;
  RankGroup* const ranks = impl_->ranks;
  const std::size_t n = particles.mass.size();
  collectively(ranks, "Sph::smoothing_lengths", [&] {
    check_length_options(options);
    Impl::check(particles, !particles.h.empty(), true);
    check_gas_result("h", h, n, false);
    check_gas_result("rho", rho, n, false);
    check_gas_result("near", near, n, true);
  });
  if (ranks != nullptr) require_equal_options(*ranks, options);
  if (impl_->total(n) == 0) return 0;
  if (starts_given(ranks, particles))
    std::ranges::copy(particles.h, h.begin());
  else
    impl_->estimate(particles, options.eta, h);
  LengthIteration iteration(options, particles.mass);
  for (double& length : h) length = iteration.limited(length);
  for (unsigned k = 1;; ++k) {
    impl_->density({.pos = particles.pos, .mass = particles.mass, .h = h}, rho, near);
    // No structured binding: Clang 16 captures none where OpenMP is on.
    const std::pair<std::size_t, double> found = iteration.difference(h, rho);
    const std::size_t worst = found.first;
    const double difference = found.second;
    // The worst particle of all ranks, the first of several.
    struct Worst {
      Point at{};  ///< place of the particle, if its length may have no end
      double difference = 0;
      bool stays = false;
    };
    Worst own{.difference = difference};
    if (difference > options.tolerance) {
      own.stays = iteration.stays(worst, h[worst], rho[worst]);
      std::copy_n(particles.pos.begin() + static_cast<std::ptrdiff_t>(3 * worst), 3,
                  own.at.begin());
    }
    const std::vector<Worst> of_ranks = values_of_ranks(ranks, own);
    const auto largest = std::ranges::max_element(of_ranks, {}, &Worst::difference);
    if (largest->difference <= options.tolerance) return k;
    const double there = largest->stays ? impl_->mass_at(particles, largest->at) : 0;
    const auto rank = static_cast<std::size_t>(largest - of_ranks.begin());
    const bool is_here = ranks == nullptr || rank == ranks->rank();
    collectively(ranks, "an iteration of smoothing lengths", [&] {
      const double before = is_here ? h[worst] : 1;
      const bool too_many = is_here && there > 0 && iteration.shrinks_without_end(worst, there);
      const bool ends =
          is_here && (k >= options.iterations || !(before > 1e-100 && before < 1e100) ||
                      std::isinf(difference) || too_many);
      iteration.step(h, rho);
      if (!ends) return;
      constexpr double far_off = 0.01;  // not the last digits of a length that is found
      const bool too_few = own.stays && difference > far_off && h[worst] > before;
      not_converged(worst, before, k,
                    too_many  ? NoLength::TooMany
                    : too_few ? NoLength::TooFew
                              : NoLength::Slow);
    });
  }
}

void Sph::forces(const SphParticles& particles, const SphGas& gas, const SphForces& results) {
  const HostFloatMode mode;
  const std::size_t n = particles.mass.size();
  collectively(impl_->ranks, "Sph::forces", [&] {
    Impl::check(particles, true, false);
    check_gas({"vel", 3, false}, gas.vel, n);
    check_gas({"rho", 1, true}, gas.rho, n);
    check_gas({"pressure", 1, false}, gas.pressure, n);
    check_gas({"sound", 1, false}, gas.sound, n);
    check_gas_result("acc", results.acc, 3 * n, true);
    check_gas_result("dudt", results.dudt, n, true);
    check_gas_result("mumax", results.mumax, n, true);
  });
  impl_->forces(particles, gas, results);
}

}  // namespace gdr
