// The search for neighbour lists: groups of targets that are close to each other share the sources
// near them, which are found in a tree and sorted once for all lists of the group.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <utility>
#include <vector>

#include "gdr/neighbours.hpp"
#include "libgdr/particle/neighbour_images.hpp"
#include "libgdr/particle/neighbour_tree.hpp"

namespace gdr {

/// A search for the lists of all targets, in several threads. Its arguments have been checked.
class NeighbourSearch {
 public:
  /// `with_images`: the lists of images are made, too.
  NeighbourSearch(std::span<const double> sources, std::span<const double> targets,
                  std::span<const double> radii, const NeighbourOptions& options, bool with_images);

  /// Searches until the lists are too long: they have more than `most` pairs, or with `early` will
  /// have if the lists of the other targets are as long. Returns whether all are complete.
  bool find(std::size_t most, bool early);

  /// The number of all pairs, those that are left out for their ids among them; in a box an
  /// estimate if there are more than `most`.
  double count(std::size_t most) const;

  /// The lists that were found; those of images in the same order.
  NeighbourLists lists(std::vector<std::uint32_t>& images);

  /// Calls work(i) for all targets.
  void for_each_target(const std::function<void(std::size_t i)>& work) const;
  /// The shift between a target and a source as given, in edges.
  Point edges_between(std::size_t i, std::size_t j, std::uint32_t image) const noexcept;
  const Lattice& box() const noexcept { return box_; }

 private:
  /// Targets that are close to each other, with similar radii.
  struct Group {
    std::span<const std::uint32_t> targets;
    Bounds bounds;
    double radius = 0;  ///< the largest
  };
  /// Lists of the targets of a task, in the order of its groups.
  struct Found {
    std::vector<std::uint32_t> sources, images;
  };
  struct Worker;
  struct Progress;

  double radius(std::size_t i) const noexcept { return radii_[radii_.size() == 1 ? 0 : i]; }
  double search_radius2(double radius) const noexcept;
  std::span<const Group> groups_of(std::size_t task) const noexcept;
  void choose_images();
  std::pair<Point, Point> images_near(const Bounds& targets, double radius) const noexcept;
  void make_groups();
  void divide_group(std::span<const std::uint32_t> targets, const Bounds& bounds);
  void search_task(std::size_t task, Progress& progress);
  template <typename AtImage>
  void for_each_image(const Bounds& targets, double radius, const AtImage& at_image) const;
  void in_phase(std::size_t tasks, const std::function<void(std::size_t)>& work) const;

  Lattice box_;
  WrappedParticles sources_, targets_;
  std::span<const double> radii_;
  const NeighbourOptions& options_;
  bool with_images_;
  bool is_one_set_;  ///< targets are the sources
  std::size_t n_;
  NeighbourTree source_tree_, target_tree_;  ///< the second is empty for one set
  double slack_ = 0;                         ///< largest error of a distance by rounding
  ImageCodes codes_;
  std::vector<Group> groups_;
  unsigned threads_ = 1;
  std::vector<std::int64_t> lengths_;  ///< lengths of the lists, behind a 0
  std::vector<Found> found_;           ///< pairs that each task has found
};

}  // namespace gdr
