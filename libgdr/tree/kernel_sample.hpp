// A sample of targets of any kernel, whose errors are measured against direct sums.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "libgdr/tree/columns.hpp"
#include "libgdr/tree/sample.hpp"

namespace gdr::tree {

/// Results whose errors are measured together: the components of a vector, or a single one.
struct ResultVector {
  std::string name;                  ///< name of an array, or of the components: "ax, ay, az"
  std::vector<std::size_t> members;  ///< their numbers among the kernel's results
};

/// The vectors of a kernel's results: elements of an array, and names that differ by a letter x, y
/// or z.
std::vector<ResultVector> result_vectors(const Kernel& kernel);

/// Errors of a vector, relative to the root mean square of its absolute value.
struct VectorError {
  double rms = 0, largest = 0;
  double bound = 0;  ///< root of the mean square plus twice its standard error
};

class KernelSample {
 public:
  /// Random targets at places in the order of the results of a tree, out of `targets`. `direct` has
  /// their results of direct sums, in the order of the places.
  KernelSample(SamplePlaces places, std::size_t targets, std::vector<VariableColumn> direct);

  /// Adds targets that were chosen for their results, so that the random ones stand for the others.
  void add(std::span<const std::uint32_t> places, std::span<const VariableColumn> direct);

  std::size_t size() const noexcept { return places_.size(); }
  /// Whether these are all targets.
  bool is_whole() const noexcept { return places_.size() >= targets_; }
  std::span<const std::uint32_t> places() const noexcept { return places_; }

  /// The error of results, of which row rows[k] is that of place k of the sample.
  VectorError error_of(const ResultVector& vector, std::span<const VariableColumn> results,
                       std::span<const std::uint32_t> rows) const;
  /// The largest bound of the vectors.
  double bound_of(std::span<const ResultVector> vectors, std::span<const VariableColumn> results,
                  std::span<const std::uint32_t> rows) const;

 private:
  std::size_t targets_;
  std::vector<std::uint32_t> places_;  ///< the random ones first
  std::size_t random_;                 ///< number of random ones
  std::size_t blocks_;                 ///< independent blocks of them, until others are added
  std::vector<VariableColumn> direct_;
};

/// The places of the `count` largest results of each vector, sorted.
std::vector<std::uint32_t> largest_results(std::span<const ResultVector> vectors,
                                           std::span<const VariableColumn> results,
                                           std::size_t targets, std::size_t count);

}  // namespace gdr::tree
