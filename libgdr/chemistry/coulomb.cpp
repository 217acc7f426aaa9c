// The public J-engine: lists of sources and targets from a basis and a density.
#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <numbers>
#include <numeric>
#include <optional>

#include "emulator/host/float_mode.hpp"
#include "gdr/chemistry.hpp"
#include "gdr/error.hpp"
#include "libgdr/chemistry/derivatives.hpp"
#include "libgdr/chemistry/field.hpp"
#include "libgdr/chemistry/overlap.hpp"
#include "libgdr/chemistry/pairs.hpp"
#include "libgdr/chemistry/range_separation.hpp"
#include "libgdr/ranks/ranks.hpp"

namespace gdr::chemistry {
namespace {

/// The exponent of a point charge: far above that of any basis function, so that its finite size
/// changes no result; a power of two.
constexpr double point_exponent = 0x1p70;
/// The height of a Gaussian of this exponent with charge one.
const double point_height = std::pow(point_exponent / std::numbers::pi, 1.5);

void check_finite(const double* values, std::size_t n, const char* what) {
  for (std::size_t k = 0; k < n; ++k)
    if (!std::isfinite(values[k]))
      throw Error(ErrorCategory::Input, fmt::format("element {} of the {} is not finite", k, what));
}

/// Indices 0, 1, ... in descending order of values; equal values in ascending order.
std::vector<std::size_t> descending(std::span<const double> values) {
  std::vector<std::size_t> order(values.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::ranges::stable_sort(order,
                           [&](std::size_t a, std::size_t b) { return values[a] > values[b]; });
  return order;
}

double seconds_since(std::chrono::steady_clock::time_point begin) {
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
}

std::vector<Point> points_of(std::size_t n, const double* triples) {
  std::vector<Point> points(n);
  for (std::size_t k = 0; k < n; ++k)
    points[k] = {triples[3 * k], triples[3 * k + 1], triples[3 * k + 2]};
  return points;
}

}  // namespace

struct Coulomb::Impl {
  Impl(Device& on, std::span<const Shell> given, const CoulombOptions& settings)
      : field(on, settings.call_cost),
        options(settings),
        shells(given.begin(), given.end()),
        list(given, DeviceRanks::core(on)->job_threads()) {
    if (!(options.threshold >= 0))
      throw Error(ErrorCategory::Input, "the threshold must not be negative");
    check_omega(options.omega);
    check_independence(list, options.least_overlap);
    std::vector<double> bounds;
    for (const Pair& pair : list.pairs()) bounds.push_back(pair.bound);
    for (const std::size_t k : descending(bounds)) {
      const Pair& pair = list.pairs()[k];
      TargetList& targets = all_targets[pair.l];
      targets.centre.push_back(pair.centre);
      targets.exponent.push_back(pair.p);
      targets.bound.push_back(pair.bound);
      target_pairs[pair.l].push_back(k);
    }
    for (TargetList& targets : all_targets) targets.kept = true;
  }

  /// The charge of a density as sources of the interaction of `omega`, by magnitude. Distributions
  /// without charge are absent.
  SourceLists sources_of(const double* density, double omega) {
    return sources_of(list.hermite_density(density), 0, list.pairs().size(), omega);
  }
  /// The same for some pairs, with the Hermite coefficients of all of them.
  SourceLists sources_of(std::span<const double> charge, std::size_t from, std::size_t to,
                         double omega) {
    std::vector<std::pair<const Pair*, Substitute>> charged;
    std::vector<double> magnitude;
    for (const Pair& pair : list.pairs().subspan(from, to - from)) {
      for (const Substitute& s : substitutes(pair.p, omega)) {
        charged.emplace_back(&pair, s);
        magnitude.push_back(
            std::abs(s.factor) *
            std::sqrt(self_interaction(pair.l, s.exponent, charge.data() + pair.hermite)));
      }
    }
    SourceLists made;
    work.pairs = 0;
    for (const std::size_t k : descending(magnitude)) {
      if (magnitude[k] == 0) break;
      const auto& [pair, substitute] = charged[k];
      SourceList& sources = made[pair->l];
      sources.centre.push_back(pair->centre);
      sources.exponent.push_back(substitute.exponent);
      sources.magnitude.push_back(magnitude[k]);
      for (const double c : charge.subspan(pair->hermite, hermite_count(pair->l)))
        sources.charge.push_back(substitute.factor * c);
      ++work.pairs;
    }
    return made;
  }

  void evaluate(const SourceLists& sources, TargetLists& targets, double error) {
    const auto started = std::chrono::steady_clock::now();
    field.evaluate(sources, targets, error);
    work.seconds_on_device += seconds_since(started);
    work.interactions += field.interactions();
    work.short_interactions += field.short_interactions();
  }

  /// The matrix of the potential of sources.
  void matrix_of(const SourceLists& sources, double* matrix) {
    const double products = static_cast<double>(list.largest_contraction());
    evaluate(sources, all_targets, options.threshold / products);
    std::vector<double> potential(list.coefficients());
    for (unsigned l = 0; l <= max_pair; ++l) {
      const std::size_t each = hermite_count(l);
      for (std::size_t t = 0; t < target_pairs[l].size(); ++t)
        std::copy_n(all_targets[l].potential.data() + t * each, each,
                    potential.data() + list.pairs()[target_pairs[l][t]].hermite);
    }
    list.contract(potential, matrix);
  }

  void begin_work() {
    begin = std::chrono::steady_clock::now();
    work = {};
  }
  void end_work() { work.seconds = seconds_since(begin); }

  Field field;
  CoulombOptions options;
  std::vector<Shell> shells;
  PairList list;
  TargetLists all_targets;
  std::array<std::vector<std::size_t>, max_pair + 1> target_pairs;  ///< pairs of the targets
  CoulombWork work;
  std::chrono::steady_clock::time_point begin;
};

Coulomb::Coulomb(Device& device, std::span<const Shell> shells, const CoulombOptions& options)
    : impl_([&] {
        const HostFloatMode mode;
        return std::make_unique<Impl>(device, shells, options);
      }()) {}
Coulomb::~Coulomb() = default;
Coulomb::Coulomb(Coulomb&&) noexcept = default;
Coulomb& Coulomb::operator=(Coulomb&&) noexcept = default;

std::size_t Coulomb::functions() const noexcept { return impl_->list.functions(); }
const CoulombWork& Coulomb::work() const noexcept { return impl_->work; }

void Coulomb::matrix(Numbers<const double> density_matrix, Numbers<double> coulomb_matrix) {
  const HostFloatMode mode;
  const std::size_t elements = functions() * functions();
  const double* const density = density_matrix.need(elements, "density");
  double* const coulomb = coulomb_matrix.need(elements, "coulomb");
  check_finite(density, functions() * functions(), "density");
  impl_->begin_work();
  impl_->matrix_of(impl_->sources_of(density, impl_->options.omega), coulomb);
  impl_->end_work();
}

void Coulomb::potential(Numbers<const double> density_matrix, std::size_t n,
                        Numbers<const double> triples, Numbers<double> potentials) {
  const HostFloatMode mode;
  const double* const density = density_matrix.need(functions() * functions(), "density");
  const double* const points = triples.need(3 * n, "points");
  double* const values = potentials.need(n, "values");
  check_finite(density, functions() * functions(), "density");
  check_finite(points, 3 * n, "points");
  impl_->begin_work();
  TargetLists targets;
  targets[0].centre = points_of(n, points);
  targets[0].exponent.assign(n, point_exponent);
  impl_->evaluate(impl_->sources_of(density, 0), targets, 0);
  for (std::size_t k = 0; k < n; ++k) values[k] = point_height * targets[0].potential[k];
  impl_->end_work();
}

void Coulomb::nuclear_attraction(std::size_t n, Numbers<const double> triples,
                                 Numbers<const double> nuclei, Numbers<double> attraction) {
  const HostFloatMode mode;
  const double* const positions = triples.need(3 * n, "positions");
  const double* const charges = nuclei.need(n, "charges");
  double* const matrix = attraction.need(functions() * functions(), "matrix");
  check_finite(positions, 3 * n, "positions");
  check_finite(charges, n, "charges");
  impl_->begin_work();
  SourceLists sources;
  sources[0].centre = points_of(n, positions);
  sources[0].exponent.assign(n, point_exponent);
  for (std::size_t k = 0; k < n; ++k) sources[0].charge.push_back(-charges[k] * point_height);
  impl_->matrix_of(sources, matrix);
  impl_->end_work();
}

void Coulomb::integrals(std::size_t shell_c, std::size_t shell_d, Numbers<double> integrals) {
  const HostFloatMode mode;
  const std::size_t shells = impl_->shells.size(), n = functions();
  if (shell_c >= shells || shell_d >= shells)
    throw Error(ErrorCategory::Usage, fmt::format("there is no shell {}; the basis has {}",
                                                  std::max(shell_c, shell_d), shells));
  const auto range = [&](std::size_t shell) {
    const std::span all(impl_->shells);
    const std::size_t first = function_count(all.first(shell));
    return std::pair(first, first + function_count(all.subspan(shell, 1)));
  };
  const auto [c_begin, c_end] = range(shell_c);
  const auto [d_begin, d_end] = range(shell_d);
  double* values = integrals.need((c_end - c_begin) * (d_end - d_begin) * n * n, "values");
  impl_->begin_work();
  // Only the pairs of the two shells' centres have a charge.
  const PairList& list = impl_->list;
  const CentrePair& centres = list.centres_of(c_begin, d_begin);
  std::vector<double> density(n * n, 0.0), charge(list.coefficients(), 0.0);
  const double* const first = values;
  for (std::size_t c = c_begin; c < c_end; ++c) {
    for (std::size_t d = d_begin; d < d_end; ++d, values += n * n) {
      if (shell_c == shell_d && d < c) {  // computed for (d, c)
        const std::size_t width = d_end - d_begin;
        std::copy_n(first + ((d - c_begin) * width + (c - d_begin)) * n * n, n * n, values);
        continue;
      }
      density[c * n + d] = 1;
      list.set_hermite_density(centres, density.data(), charge.data());
      impl_->matrix_of(impl_->sources_of(charge, centres.begin, centres.end, impl_->options.omega),
                       values);
      density[c * n + d] = 0;
    }
  }
  impl_->end_work();
}

}  // namespace gdr::chemistry
