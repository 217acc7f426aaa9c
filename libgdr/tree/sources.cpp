#include "libgdr/tree/sources.hpp"

#include <cmath>

#include "gdr/error.hpp"
#include "libgdr/tree/designs.hpp"
#include "libgdr/tree/quadrupole.hpp"

namespace gdr::tree {
namespace {

/// Whether a cluster's pseudo-particles have a sphere to be on.
bool has_sphere(const Moments& m) { return m.radius > 0; }

/// Numbers the proxies of clusters with more than `particles` particles, for which `has` is true,
/// from `next`. Returns the number past them.
template <typename Has>
std::size_t number(const Octree& tree, std::size_t particles, const Has& has, Proxies& proxies,
                   std::size_t next) {
  const std::span<const Cluster> clusters = tree.clusters();
  proxies.first.assign(clusters.size(), Proxies::none);
  for (std::size_t q = 0; q < clusters.size(); ++q)
    if (clusters[q].count > particles && has(q)) {
      proxies.first[q] = static_cast<std::uint32_t>(next);
      next += proxies.points;
      if (next > std::size_t{std::numeric_limits<std::int32_t>::max()})
        throw Error(ErrorCategory::Unsupported,
                    "a tree has at most 2^31 - 1 particles and proxies; use larger leaves or a "
                    "smaller degree");
    }
  return next;
}

/// The same for proxies that are appended to the sources, with the mass 0.
template <typename Has>
void append(const Octree& tree, std::size_t particles, const Has& has, Proxies& proxies,
            LineVector<Source>& sources) {
  sources.resize(number(tree, particles, has, proxies, sources.size()), {0, 0, 0, 0, proxy_id});
}

/// The masses on the sphere that have the multipoles of a unit mass at x, in units of the sphere's
/// radius and times the number of points: sum over l of (2 l + 1) |x|^l P_l(cos gamma_k), in a form
/// of Legendre's recurrence without quotients.
template <unsigned degree>
void spread_mass(const Design& design, const Point& x, double* part) {
  const double square = x[0] * x[0] + x[1] * x[1] + x[2] * x[2];
  const double *sx = design.at[0].data(), *sy = design.at[1].data(), *sz = design.at[2].data();
  const std::size_t n = design.size();
  for (std::size_t k = 0; k < n; ++k) {
    const double u = x[0] * sx[k] + x[1] * sy[k] + x[2] * sz[k];
    double before = 1, now = u, sum = 1 + 3 * u;
    for (unsigned l = 1; l < degree; ++l) {
      const double up = (2 * l + 1) / (l + 1.0), down = l / (l + 1.0);
      const double next = up * u * now - down * square * before;
      before = now;
      now = next;
      sum += (2 * l + 3) * now;
    }
    part[k] = sum;
  }
}

using SpreadMass = void (*)(const Design&, const Point&, double*);
constexpr std::array<SpreadMass, 5> spread_mass_of{spread_mass<2>, spread_mass<3>, spread_mass<4>,
                                                   spread_mass<5>, spread_mass<6>};

/// The pseudo-particles of a cluster from those of its children, which have the same moments up to
/// the degree, or from particles.
class PseudoParticles {
 public:
  static constexpr std::size_t max_points = 84;

  PseudoParticles(const Octree& tree, std::span<const Moments> moments, const Proxies& proxies)
      : tree_(tree),
        moments_(moments),
        proxies_(proxies),
        design_(design_for(proxies.degree)),
        spread_(spread_mass_of[proxies.degree - min_degree]) {}

  /// With this radius the sum of m r^2 is that of the particles, too, so that a softening, with
  /// which potentials are not harmonic, has a small effect. Far smaller than the cluster, masses
  /// would be large and of either sign.
  double radius(std::size_t cluster) const {
    return std::max(moments_[cluster].rms, 0.4 * moments_[cluster].radius);
  }
  Point at(std::size_t cluster, std::size_t k) const {
    const Point& centre = moments_[cluster].centre;
    const double a = radius(cluster);
    return {centre[0] + a * design_.at[0][k], centre[1] + a * design_.at[1][k],
            centre[2] + a * design_.at[2][k]};
  }

  /// Adds the charges of what a cluster consists of, given by their numbers among the sources:
  /// sums[c][k] are those of the pseudo-particle k.
  template <std::size_t n, typename Charge>
  std::array<std::array<double, max_points>, n> sums(std::size_t cluster,
                                                     std::span<const Source> sources,
                                                     const Charge& charge) const {
    std::array<std::array<double, max_points>, n> sum = {};
    std::array<double, max_points> part;
    const Point& centre = moments_[cluster].centre;
    const double a = radius(cluster);
    const std::size_t points = design_.size();
    const auto add = [&](std::size_t first, std::size_t count) {
      for (std::size_t j = first; j < first + count; ++j) {
        const Source& s = sources[j];
        spread_(design_, {(s.x - centre[0]) / a, (s.y - centre[1]) / a, (s.z - centre[2]) / a},
                part.data());
        const std::array<double, n> q = charge(j);
        for (std::size_t c = 0; c < n; ++c)
          for (std::size_t k = 0; k < points; ++k) sum[c][k] += q[c] * part[k];
      }
    };
    const Cluster& c = tree_.clusters()[cluster];
    if (c.children == 0) add(c.first, c.count);
    for (std::size_t k = c.child; k < c.child + c.children; ++k) {
      const Cluster& child = tree_.clusters()[k];
      if (proxies_.first[k] == Proxies::none)
        add(child.first, child.count);
      else
        add(proxies_.first[k], points);
    }
    for (std::array<double, max_points>& of_charge : sum)
      for (double& value : of_charge) value /= static_cast<double>(points);
    return sum;
  }

 private:
  const Octree& tree_;
  std::span<const Moments> moments_;
  const Proxies& proxies_;
  const Design& design_;
  SpreadMass spread_;
};

/// The momenta of the proxies of one kind, in the place of their velocities.
void add_momenta(const Octree& tree, std::span<const Moments> moments, const Proxies& proxies,
                 std::span<const Source> sources, std::span<Velocity> momenta) {
  if (proxies.points == 1) {
    tree.upwards([&](std::size_t q) {
      if (proxies.first[q] == Proxies::none) return;
      const Cluster& c = tree.clusters()[q];
      Velocity sum = {};
      const auto add = [&](const Velocity& part) {
        for (std::size_t k = 0; k < 3; ++k) sum[k] += part[k];
      };
      if (c.children == 0)
        for (std::size_t j = c.first; j < c.first + c.count; ++j) add(momenta[j]);
      for (std::size_t k = c.child; k < c.child + c.children; ++k)
        add(momenta[proxies.first[k] == Proxies::none ? tree.clusters()[k].first
                                                      : proxies.first[k]]);
      momenta[proxies.first[q]] = sum;
    });
    return;
  }
  const PseudoParticles pseudo(tree, moments, proxies);
  tree.upwards([&](std::size_t q) {
    if (proxies.first[q] == Proxies::none) return;
    const auto sums = pseudo.sums<3>(q, sources, [&](std::size_t j) { return momenta[j]; });
    for (std::size_t k = 0; k < proxies.points; ++k)
      momenta[proxies.first[q] + k] = {sums[0][k], sums[1][k], sums[2][k]};
  });
}

/// Divides momenta by masses, after giving masses to proxies that have nearly none.
void divide_by_masses(std::span<const Moments> moments, const Proxies& proxies, unsigned threads,
                      std::span<Source> sources, std::span<Velocity> momenta) {
  for_blocks(proxies.first.size(), 1 << 10, threads, [&](std::size_t first, std::size_t last) {
    for (std::size_t q = first; q < last; ++q) {
      if (proxies.first[q] == Proxies::none) continue;
      const double least = 1e-12 * moments[q].weight / proxies.points;
      for (std::size_t k = proxies.first[q]; k < proxies.first[q] + proxies.points; ++k) {
        double& mass = sources[k].mass;
        if (std::abs(mass) < least) mass = std::copysign(least, mass);
        for (double& v : momenta[k]) v = mass == 0 ? 0 : v / mass;
      }
    }
  });
}

}  // namespace

LineVector<Source> particles_of(const Octree& tree, std::span<const double> mass) {
  LineVector<Source> sources(tree.size());
  for_blocks(tree.size(), 1 << 14, tree.threads(), [&](std::size_t first, std::size_t last) {
    for (std::size_t k = first; k < last; ++k) {
      const Point x = tree.point(k);
      sources[k] = {x[0], x[1], x[2], mass[k], static_cast<std::int64_t>(k)};
    }
  });
  return sources;
}

Proxies add_monopoles(const Octree& tree, std::span<const Moments> moments,
                      LineVector<Source>& sources) {
  Proxies proxies;
  append(
      tree, 1, [](std::size_t) { return true; }, proxies, sources);
  for_blocks(
      proxies.first.size(), 1 << 12, tree.threads(), [&](std::size_t first, std::size_t last) {
        for (std::size_t q = first; q < last; ++q) {
          if (proxies.first[q] == Proxies::none) continue;
          const Moments& m = moments[q];
          sources[proxies.first[q]] = {m.centre[0], m.centre[1], m.centre[2], m.mass, proxy_id};
        }
      });
  return proxies;
}

Proxies add_multipoles(const Octree& tree, std::span<const Moments> moments, unsigned degree,
                       LineVector<Source>& sources) {
  Proxies proxies;
  proxies.degree = degree;
  proxies.points = static_cast<unsigned>(design_for(degree).size());
  append(
      tree, proxies.points, [&](std::size_t q) { return has_sphere(moments[q]); }, proxies,
      sources);
  const PseudoParticles pseudo(tree, moments, proxies);
  tree.upwards([&](std::size_t q) {
    if (proxies.first[q] == Proxies::none) return;
    const auto sums = pseudo.sums<1>(
        q, sources, [&](std::size_t j) { return std::array<double, 1>{sources[j].mass}; });
    for (std::size_t k = 0; k < proxies.points; ++k) {
      const Point x = pseudo.at(q, k);
      sources[proxies.first[q] + k] = {x[0], x[1], x[2], sums[0][k], proxy_id};
    }
  });
  return proxies;
}

Proxies add_quadrupoles(const Octree& tree, std::span<const Moments> moments,
                        LineVector<Source>& sources) {
  Proxies proxies;
  proxies.degree = 2;
  proxies.points = points_of_quadrupole;
  append(
      tree, proxies.points, [&](std::size_t q) { return has_sphere(moments[q]); }, proxies,
      sources);
  tree.upwards([&](std::size_t q) {
    if (proxies.first[q] == Proxies::none) return;
    const Moments& m = moments[q];
    SecondMoments second;
    const auto add = [&](std::size_t first, std::size_t count) {
      for (std::size_t j = first; j < first + count; ++j) {
        const Source& s = sources[j];
        second.add(m.mass > 0 ? s.mass / m.mass : 0,
                   {(s.x - m.centre[0]) / m.radius, (s.y - m.centre[1]) / m.radius,
                    (s.z - m.centre[2]) / m.radius});
      }
    };
    const Cluster& c = tree.clusters()[q];
    if (c.children == 0) add(c.first, c.count);
    for (std::size_t k = c.child; k < c.child + c.children; ++k)
      if (proxies.first[k] == Proxies::none)
        add(tree.clusters()[k].first, tree.clusters()[k].count);
      else
        add(proxies.first[k], proxies.points);
    Source* to = &sources[proxies.first[q]];
    for (const Point& x : three_points(second))
      *to++ = {m.centre[0] + m.radius * x[0], m.centre[1] + m.radius * x[1],
               m.centre[2] + m.radius * x[2], m.mass / points_of_quadrupole, proxy_id};
  });
  return proxies;
}

Proxies plan_proxies(const Octree& tree, std::span<const Moments> moments, unsigned degree,
                     unsigned points) {
  Proxies proxies;
  proxies.degree = degree;
  proxies.points = points;
  number(
      tree, points, [&](std::size_t q) { return degree < min_degree || has_sphere(moments[q]); },
      proxies, 0);
  return proxies;
}

LineVector<Velocity> velocities_of(const Octree& tree, std::span<const Moments> moments,
                                   std::span<const Proxies> proxies,
                                   std::span<const Velocity> particles,
                                   LineVector<Source>& sources) {
  LineVector<Velocity> all(sources.size());
  for_blocks(tree.size(), 1 << 14, tree.threads(), [&](std::size_t first, std::size_t last) {
    for (std::size_t j = first; j < last; ++j)
      for (std::size_t k = 0; k < 3; ++k) all[j][k] = sources[j].mass * particles[j][k];
  });
  for (const Proxies& kind : proxies) add_momenta(tree, moments, kind, sources, all);
  for (const Proxies& kind : proxies) divide_by_masses(moments, kind, tree.threads(), sources, all);
  std::ranges::copy(particles, all.begin());
  return all;
}

}  // namespace gdr::tree
