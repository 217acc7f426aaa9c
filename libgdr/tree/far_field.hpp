// What distant clusters do to groups of targets, by expansions: multipoles of clusters become local
// expansions of nodes, which hold the groups (the fast multipole method, with an octree of sources
// and one of targets; Dehnen 2002, J. Comput. Phys. 179, 27). The sources close to a group are left
// for sums over pairs.
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <vector>

#include "libgdr/tree/group_sums.hpp"
#include "libgdr/tree/harmonics.hpp"
#include "libgdr/tree/softening.hpp"

namespace gdr::tree {

/// When a cluster is distant from a node.
struct Separation {
  double theta = 0.5;  ///< the sum of their radii is less than theta times their distance
  /// And the square of their distance is larger than this many times that of their softening.
  /// Beyond, one softening of all pairs is that of the cluster's mass at its centre, to first order
  /// around the node; softening of each particle is none.
  double square_reach = 0;

  bool operator==(const Separation&) const = default;
};

class FarField {
 public:
  /// `mass` is in the order of the tree of the sources. Groups have at most `group_size` targets.
  FarField(const Octree& sources, std::span<const Moments> moments, std::span<const double> mass,
           const SquareSoftening& softening, const Octree& targets, std::size_t group_size);

  /// Makes the multipoles up to a degree.
  void set_degree(unsigned degree);
  unsigned degree() const noexcept { return degree_; }

  /// The groups in the order of their particles, which begin their lists with the clusters that are
  /// not distant.
  std::span<const Group> groups() const noexcept { return groups_; }
  /// Makes the expansions and lists of some groups, given by their numbers in rising order. Those
  /// that have been made with the same degree and separation are kept.
  void compute(const Separation& separation, std::span<const std::uint32_t> groups);
  /// Adds the accelerations and potentials of the distant clusters at some targets of a group.
  void add(std::size_t group, std::span<const Source> targets, std::span<ResultRow> rows) const;

  double translations = 0;  ///< number of multipoles that became local expansions, in `compute`

 private:
  /// Targets with a local expansion: a cluster with many, or a group.
  struct Node {
    std::size_t first = 0, count = 0;
    double radius = 0;  ///< no target is further from the centre of the frame
    Frame frame = {};
    std::uint32_t parent = 0;
    Box box = {};
    double softening = 0;  ///< the largest square that one of its targets adds
    unsigned degree = 0;   ///< degree of the local expansion
    bool group = false;
    bool needed = false;
    bool made = false;  ///< whether its expansion has this degree and separation
  };

  void make_nodes(std::size_t group_size);
  void make_multipole(std::size_t cluster);
  void compute_node(std::size_t node);
  /// Whether the acceleration changes much within a node: one that is large for its distance from
  /// most of the mass. Errors of many clusters are then the same in size and direction.
  bool is_coarse(const Node& node, std::span<const std::uint32_t> clusters) const;
  double* local_of(std::size_t node) { return &local_[node * expansion_size(max_local_degree())]; }
  unsigned max_local_degree() const;
  /// The degree of expansions that suffices for a cluster: less for those further away, where the
  /// error is as small; 0 if it is not distant from the node.
  unsigned degree_for(const Node& node, std::uint32_t cluster) const;
  Expansion multipole(std::uint32_t cluster) const {
    const Moments& m = moments_[cluster];
    return {{m.centre, m.radius}, &multipoles_[cluster * expansion_size(degree_)]};
  }

  const Octree& sources_;
  std::span<const Moments> moments_;
  std::span<const double> mass_;
  SquareSoftening softening_;
  const Octree& targets_;
  unsigned degree_ = 0;
  Separation separation_;
  double square_reach_ = 0;
  /// Squares of the largest ratios of radii and distance, by degree.
  std::array<double, max_harmonics + 1> square_ratios_ = {};
  std::vector<double> multipoles_;   ///< expansions of all clusters
  std::vector<Node> nodes_;          ///< parents come first
  std::vector<std::size_t> levels_;  ///< first node of each level, and the number of nodes
  std::vector<double> local_;        ///< expansions of all nodes
  std::vector<std::vector<std::uint32_t>> close_;  ///< clusters that are not distant from a node
  std::vector<std::uint32_t> counts_;              ///< translations of nodes
  std::vector<Group> groups_;
  std::vector<std::uint32_t> node_of_group_;
};

}  // namespace gdr::tree
