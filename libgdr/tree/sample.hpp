// A sample of targets, whose errors are measured against direct sums.
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <vector>

#include "libgdr/tree/group_sums.hpp"

namespace gdr::tree {

/// Direct sums at some targets, given by their numbers: fills triples of accelerations.
using DirectSums =
    std::function<void(std::span<const std::uint32_t> targets, double* acceleration)>;

/// Random places, in rising order.
struct SamplePlaces {
  std::vector<std::uint32_t> places;
  std::size_t blocks = 0;  ///< consecutive parts of nearly the same length, which are independent

  /// The first place of a block; that past the last one.
  std::size_t begin(std::size_t block) const { return places.size() * block / blocks; }
};

/// The number of blocks of a sample of `count` places, of which a block is to have `each`. Blocks
/// are smaller if there were less than 16, whose means would not show how much errors scatter.
std::size_t blocks_of_sample(std::size_t count, std::size_t each);

/// `count` of the places of some groups, which are consecutive and begin with 0, from a fixed seed;
/// all if there are fewer. A block has `each` places (blocks_of_sample) of one group, if that has
/// so many: targets with a common list, whose trial takes about as long as that of one. All places
/// are drawn with the same probability.
SamplePlaces sample_places(std::span<const Group> groups, std::size_t count, std::size_t each);

/// Errors relative to the acceleration, or to a thousandth of the root mean square of all if that
/// is larger.
struct SampleError {
  double rms = 0, largest = 0;
  /// Root mean square plus twice the standard error of the mean square, from the blocks of the
  /// sample: few targets with large errors, which a sample may miss, make it large.
  double bound = 0;
};

/// The square of the standard error of the mean over a sample, from the means of its blocks.
class BlockScatter {
 public:
  /// Adds the mean over a block, which has this share of the sample.
  void add(double mean, double share);
  /// One block does not show a scatter: it is then taken to be as large as the mean.
  double square_error() const;

 private:
  std::size_t blocks_ = 0;
  double mean_ = 0, shares_ = 0, products_ = 0, squares_ = 0;
};

class Sample {
 public:
  /// Targets at places of the tree's order.
  Sample(const Octree& targets, SamplePlaces places, const DirectSums& direct);
  /// Targets that are drawn in proportion to 1 / max(|a|, f)^2, a their acceleration among results
  /// that the tree has computed, f a thousandth of the root mean square of all of them. Where
  /// forces cancel, few targets have most of the relative errors, and other samples miss them.
  Sample(const Octree& targets, std::span<const ResultRow> results, std::size_t count,
         const DirectSums& direct);

  /// Places of the targets in the order of the tree.
  std::span<const std::uint32_t> places() const noexcept { return at_.places; }
  /// Whether these are all targets.
  bool is_whole() const noexcept { return at_.places.size() == targets_; }
  /// The errors of the sample's results, in the order of its places.
  SampleError error_of(std::span<const ResultRow> own) const;
  /// Those of the sample among all results, which are in the order of the tree.
  std::vector<ResultRow> rows_of(std::span<const ResultRow> results) const;
  /// The same with a sample of small accelerations among these results. An error counts by how
  /// often both samples draw such a target (the balance heuristic of Veach and Guibas 1995), so
  /// that the mean is that of all targets, and few large errors do not scatter it.
  SampleError error_with(const Sample& small, std::span<const ResultRow> results) const;

 private:
  void sum_directly(const Octree& targets, const DirectSums& direct);

  std::size_t targets_;  ///< number of all
  SamplePlaces at_;
  std::vector<double> acceleration_;  ///< triples, those of direct sums
  double weights_ = 0;                ///< sum over all targets of weights of small accelerations
  double least_ = 0;                  ///< the smallest divisor of an error
};

}  // namespace gdr::tree
