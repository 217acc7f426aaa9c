// What acts on the targets of a tree: particles, and proxies that stand for distant clusters.
#pragma once

#include <array>
#include <cstdint>
#include <limits>
#include <span>
#include <vector>

#include "emulator/host/line_allocator.hpp"
#include "gdr/device.hpp"
#include "libgdr/tree/moments.hpp"

namespace gdr::tree {

struct Source {
  double x, y, z, mass;
  std::int64_t id;  ///< number in the order of the tree; -2 for proxies
};
constexpr std::int64_t proxy_id = -2;

/// The velocity of a source or of a target.
using Velocity = Point;

/// The arrays of sources, or of targets, for a job.
using SourceArrays = std::array<NamedInput, 5>;
inline SourceArrays arrays_of(std::span<const Source> s) {
  constexpr std::ptrdiff_t stride = sizeof(Source);
  return {{{"xj", ConstArray(&s[0].x, stride)},
           {"yj", ConstArray(&s[0].y, stride)},
           {"zj", ConstArray(&s[0].z, stride)},
           {"mj", ConstArray(&s[0].mass, stride)},
           {"idj", ConstArray(&s[0].id, stride)}}};
}

/// Proxies of one kind. Those of a cluster stand for its particles at distances d from its centre
/// with an error that falls as (radius / d)^(degree + 1).
struct Proxies {
  static constexpr std::uint32_t none = std::numeric_limits<std::uint32_t>::max();
  unsigned degree = 1;
  unsigned points = 1;               ///< number for each cluster
  std::vector<std::uint32_t> first;  ///< those of each cluster among the sources; none: no proxies
};

/// The particles of a tree as sources; `mass` is in the order of the tree.
LineVector<Source> particles_of(const Octree& tree, std::span<const double> mass);

/// Appends one proxy for each cluster of several particles: its mass at its centre.
Proxies add_monopoles(const Octree& tree, std::span<const Moments> moments,
                      LineVector<Source>& sources);

/// Appends three pseudo-particles for each cluster, with its multipole moments up to degree 2
/// (`three_points`), for masses that are not negative. Clusters with fewer particles than that have
/// none.
Proxies add_quadrupoles(const Octree& tree, std::span<const Moments> moments,
                        LineVector<Source>& sources);

/// Appends pseudo-particles on a sphere around the centre of each cluster, with the cluster's
/// multipole moments up to a degree (Makino 1999, J. Comput. Phys. 151, 910): for potentials that
/// are harmonic outside of the cluster. Clusters with fewer particles than that have none.
Proxies add_multipoles(const Octree& tree, std::span<const Moments> moments, unsigned degree,
                       LineVector<Source>& sources);

/// Number of the pseudo-particles of `add_quadrupoles`.
constexpr unsigned points_of_quadrupole = 3;

/// Proxies without sources, so that the lengths of lists can be counted: one for degree 1, else
/// `points`, of clusters with more particles.
Proxies plan_proxies(const Octree& tree, std::span<const Moments> moments, unsigned degree,
                     unsigned points);

/// The velocities of all sources, from those of the particles: sums over the proxies of a cluster
/// have the time derivatives of the multipole moments. As many momenta as masses are represented:
/// the momentum of a proxy is what its mass would be if the particles' masses were their momenta,
/// and its velocity is the quotient. Proxies whose masses are nearly zero get small ones for that,
/// 1e-12 of those of their cluster.
LineVector<Velocity> velocities_of(const Octree& tree, std::span<const Moments> moments,
                                   std::span<const Proxies> proxies,
                                   std::span<const Velocity> particles,
                                   LineVector<Source>& sources);

}  // namespace gdr::tree
