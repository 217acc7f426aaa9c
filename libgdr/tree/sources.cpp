#include "libgdr/tree/sources.hpp"

#include "gdr/error.hpp"
#include "libgdr/tree/designs.hpp"

namespace gdr::tree {
namespace {

/// Numbers the proxies of clusters with more than `particles` particles, for which `has` is true,
/// and appends them with the mass 0.
template <typename Has>
void append(const Octree& tree, std::size_t particles, const Has& has, Proxies& proxies,
            std::vector<Source>& sources) {
  const std::span<const Cluster> clusters = tree.clusters();
  proxies.first.assign(clusters.size(), Proxies::none);
  std::size_t next = sources.size();
  for (std::size_t q = 0; q < clusters.size(); ++q)
    if (clusters[q].count > particles && has(q)) {
      proxies.first[q] = static_cast<std::uint32_t>(next);
      next += proxies.points;
      if (next > std::size_t{std::numeric_limits<std::int32_t>::max()})
        throw Error(ErrorCategory::Unsupported,
                    "a tree has at most 2^31 - 1 particles and proxies; use larger leaves or a "
                    "smaller degree");
    }
  sources.resize(next, {0, 0, 0, 0, proxy_id});
}

/// Adds the multipoles of a point mass at x, in units of the sphere's radius, to the masses on the
/// sphere: m_k += mass sum over l of (2 l + 1) |x|^l P_l(cos gamma_k), in a form of Legendre's
/// recurrence without quotients.
template <unsigned degree>
void add_mass(const Design& design, const Point& x, double mass, double* m) {
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
    m[k] += mass * sum;
  }
}

using AddMass = void (*)(const Design&, const Point&, double, double*);
constexpr std::array<AddMass, 5> add_mass_of{add_mass<2>, add_mass<3>, add_mass<4>, add_mass<5>,
                                             add_mass<6>};

/// The pseudo-particles of a cluster from those of its children, which have the same moments up to
/// the degree, or from particles.
class PseudoParticles {
 public:
  PseudoParticles(const Octree& tree, std::span<const Moments> moments, const Proxies& proxies,
                  std::span<Source> sources)
      : tree_(tree),
        moments_(moments),
        proxies_(proxies),
        sources_(sources),
        design_(design_for(proxies.degree)),
        add_(add_mass_of[proxies.degree - least_degree]) {}

  void make(std::size_t cluster) const {
    if (proxies_.first[cluster] == Proxies::none) return;
    const Moments& moments = moments_[cluster];
    // With this radius the sum of m r^2 is that of the particles, too, so that a softening, with
    // which potentials are not harmonic, has a small effect. Far smaller than the cluster, masses
    // would be large and of either sign.
    const double a = std::max(moments.rms, 0.4 * moments.radius);
    std::array<double, 84> mass = {};
    const Cluster& c = tree_.clusters()[cluster];
    if (c.children == 0) add(sources_.subspan(c.first, c.count), moments.centre, a, mass.data());
    for (std::size_t k = c.child; k < c.child + c.children; ++k)
      add(stand_ins(k), moments.centre, a, mass.data());
    const auto n = static_cast<double>(design_.size());
    for (std::size_t k = 0; k < design_.size(); ++k)
      sources_[proxies_.first[cluster] + k] = {
          moments.centre[0] + a * design_.at[0][k], moments.centre[1] + a * design_.at[1][k],
          moments.centre[2] + a * design_.at[2][k], mass[k] / n, proxy_id};
  }

 private:
  std::span<const Source> stand_ins(std::size_t cluster) const {
    const Cluster& c = tree_.clusters()[cluster];
    if (proxies_.first[cluster] == Proxies::none) return sources_.subspan(c.first, c.count);
    return sources_.subspan(proxies_.first[cluster], proxies_.points);
  }
  void add(std::span<const Source> some, const Point& centre, double a, double* mass) const {
    for (const Source& s : some)
      add_(design_, {(s.x - centre[0]) / a, (s.y - centre[1]) / a, (s.z - centre[2]) / a}, s.mass,
           mass);
  }

  const Octree& tree_;
  std::span<const Moments> moments_;
  const Proxies& proxies_;
  std::span<Source> sources_;
  const Design& design_;
  AddMass add_;
};

}  // namespace

std::vector<Source> particles_of(const Octree& tree, std::span<const double> mass) {
  std::vector<Source> sources(tree.size());
  for_blocks(tree.size(), 1 << 14, tree.threads(), [&](std::size_t first, std::size_t last) {
    for (std::size_t k = first; k < last; ++k) {
      const Point x = tree.point(k);
      sources[k] = {x[0], x[1], x[2], mass[k], static_cast<std::int64_t>(k)};
    }
  });
  return sources;
}

Proxies add_monopoles(const Octree& tree, std::span<const Moments> moments,
                      std::vector<Source>& sources) {
  Proxies proxies;
  append(
      tree, 1, [](std::size_t) { return true; }, proxies, sources);
  for (std::size_t q = 0; q < proxies.first.size(); ++q)
    if (proxies.first[q] != Proxies::none) {
      const Moments& m = moments[q];
      sources[proxies.first[q]] = {m.centre[0], m.centre[1], m.centre[2], m.mass, proxy_id};
    }
  return proxies;
}

Proxies add_multipoles(const Octree& tree, std::span<const Moments> moments, unsigned degree,
                       std::vector<Source>& sources) {
  Proxies proxies;
  proxies.degree = degree;
  proxies.points = static_cast<unsigned>(design_for(degree).size());
  append(
      tree, proxies.points, [&](std::size_t q) { return moments[q].radius > 0; }, proxies, sources);
  const PseudoParticles pseudo(tree, moments, proxies, sources);
  tree.upwards([&](std::size_t q) { pseudo.make(q); });
  return proxies;
}

}  // namespace gdr::tree
