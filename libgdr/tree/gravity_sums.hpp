// The sums of gravity with a tree: particles, proxies or expansions of clusters, and the results of
// all targets or of a sample of them.
#pragma once

#include <optional>
#include <span>
#include <vector>

#include "libgdr/tree/far_field.hpp"
#include "libgdr/tree/gravity_tree.hpp"
#include "libgdr/tree/group_sums.hpp"

namespace gdr::tree {

class GravitySums {
 public:
  /// `keeps_accuracy`: whether softening is judged by the accuracy, although theta is given. What
  /// is passed must outlive the object, which is not moved.
  GravitySums(SetJob& job, const GravityInput& input, const TreeOptions& options,
              bool keeps_accuracy, unsigned threads, const HostSteps& host, GroupShare* share);
  GravitySums(const GravitySums&) = delete;
  GravitySums& operator=(const GravitySums&) = delete;

  const Octree& sources() const noexcept { return tree_; }
  const Octree& targets() const noexcept { return in_.same ? tree_ : *target_tree_; }
  std::span<const Group> groups() const noexcept { return groups_; }
  bool has_jerk() const noexcept { return in_.source_velocity != nullptr; }
  bool is_softened() const noexcept { return in_.softening > 0 || softening_.of_each(); }
  bool wants_expansions() const noexcept { return wants_expansions_; }

  /// Expansions are used from now on, or proxies, and groups of targets that suit them. There are
  /// none yet: degrees follow.
  void use_expansions();
  void use_proxies();
  bool expands() const noexcept { return far_.has_value(); }
  /// Makes the multipoles of expansions; false if there were those of this degree.
  bool set_expansions(unsigned degree);
  /// Makes the proxies of all degrees up to this one.
  void set_proxies(unsigned degree);
  /// Plans the proxies without making them, so that lengths of lists can be counted.
  void plan_proxies_up_to(unsigned degree);
  /// That of expansions, or the highest one of proxies.
  unsigned degree() const { return far_ ? far_->degree() : proxies_.back().degree; }
  /// The degree of expansions; 0: there are none.
  unsigned harmonics() const noexcept { return far_ ? far_->degree() : 0; }
  void set_theta(double theta) noexcept { hierarchy_.theta = theta; }
  double theta() const noexcept { return hierarchy_.theta; }

  /// The number of targets of some groups, given by their numbers in rising order, and the mean
  /// length of their lists, which are made for that.
  struct Lengths {
    double targets = 0, mean = 0;
  };
  Lengths lengths_of(std::span<const std::uint32_t> groups);

  /// Makes these places of the order of the targets a sample, which gets the boxes of the groups.
  void set_sample(std::span<const std::uint32_t> places);
  std::size_t lists_of_sample() const noexcept { return sample_groups_.size(); }
  /// The sums of the sample, in the order of its places.
  std::span<const ResultRow> compute_sample();
  /// The mean length of the lists of the last ones.
  double length_of_sample() const;

  /// Computes all targets: each process its groups, whose results are then those of all.
  void compute_all();
  /// The results of all targets, in the order of their tree.
  std::span<const ResultRow> rows() const noexcept { return all_.rows; }
  std::span<const ResultRow> jerks() const noexcept { return all_.jerks; }
  /// The same in the order of the caller.
  void write(const GravityResults& to) const;
  double mean_length() const;
  /// Times and counts of all sums since `reset_times`.
  void add_times(TreeReport& report) const;
  void reset_times() noexcept { expansion_seconds_ = 0; }

 private:
  std::size_t group_size() const noexcept;
  std::size_t leaf_size() const noexcept;
  void make_groups(std::span<const Group> groups);
  void number_targets();
  void take_softening();
  void set_softening_of_proxies();
  double square_reach() const noexcept;
  void sum(GroupSums& sums, std::span<const Group> some, std::span<const std::uint32_t> numbers);

  const HostSteps& host_;
  const GravityInput& in_;
  const TreeOptions& options_;
  GroupShare* share_;  ///< null: one process
  bool wants_expansions_;
  bool keeps_accuracy_;
  Octree tree_;
  std::optional<Octree> target_tree_;
  LineVector<double> mass_;
  LineVector<Moments> moments_;
  LineVector<Source> sources_;  ///< sources with their proxies
  std::vector<Proxies> proxies_;
  LineVector<double> source_square_;  ///< softening of each particle, with that of proxies
  std::vector<ClusterSoftening> cluster_softening_;
  SquareSoftening softening_;
  LineVector<Velocity> particle_velocity_;
  LineVector<Velocity> source_velocity_;  ///< velocities of sources and proxies
  TargetRows all_, sample_;
  GroupSums sums_, sample_sums_;
  std::optional<FarField> far_;
  double expansion_seconds_ = 0;
  std::vector<Group> groups_, sample_groups_;
  std::vector<std::uint32_t> numbers_of_sample_;  ///< numbers of the groups
  Hierarchy hierarchy_;
};

}  // namespace gdr::tree
