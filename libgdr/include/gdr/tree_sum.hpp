// Sums of a kernel over many particles to an accuracy, with a tree.
//
//   gdr::TreeSum yukawa(device, gdr::Kernel::compile(text), {.accuracy = 1e-4});
//   yukawa.set("kappa", 2);
//   const gdr::TreeSumReport report = yukawa.run(
//       {.pos = x, .sources = {{{"qj", charge}}}, .results = results});
#pragma once

#include <cstddef>
#include <initializer_list>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "gdr/device.hpp"

namespace gdr {

/// How TreeSum may approximate. The default lets the library choose everything but the accuracy.
struct TreeSumOptions {
  /// Largest error of each result, above 0: root mean square over the targets, relative to that of
  /// the result.
  double accuracy = 1e-3;
  unsigned degree = 0;  ///< degree of the interpolation, 1 to 8; 0: chosen
  /// Mean ratio of a cluster's radius and its distance, above 0 and at most 0.75, below which it is
  /// replaced, smaller for clusters with more charge; `accuracy` is not used then. 0: chosen.
  double theta = 0;
  std::size_t group_size = 0;  ///< largest number of targets with a common list; 0: chosen
  std::size_t leaf_size = 0;   ///< largest number of particles of an undivided cluster; 0: chosen
  std::size_t samples = 0;     ///< number of targets whose errors are measured; 0: 256
  unsigned threads = 0;        ///< limit of the threads that make trees; 0: that of the device
};

/// The particles of a run. Arrays are those of Job::sources, Job::targets and Job::run, without
/// positions.
struct TreeCall {
  std::span<const double> pos;  ///< three coordinates of each source
  /// Three coordinates of each target. None: the sources are the targets, with `targets` as their
  /// variables as targets.
  std::optional<std::span<const double>> target_pos = {};
  std::span<const NamedInput> sources = {};   ///< other `jvar`s
  std::span<const NamedInput> targets = {};   ///< other `ivar`s
  std::span<const NamedResult> results = {};  ///< `fvar`s, one value for each target
};

/// The measured error of a result, or of results that are the components of a vector: elements of
/// one array, or names that differ by a letter x, y or z.
struct ResultError {
  std::string name;          ///< name of an array, or of the components: "ax, ay, az"
  double error = 0;          ///< root mean square over the sample, relative to that of the result
  double largest_error = 0;  ///< largest of the sample, relative to the same
};

/// How TreeSum has computed, and with which errors.
struct TreeSumReport {
  unsigned degree = 0;                    ///< degree of the interpolation; 0: direct sums
  double theta = 0;                       ///< mean ratio of radius and distance; 0: direct sums
  double error = 0;                       ///< the largest of the results' errors
  double largest_error = 0;               ///< the largest of the results' largest errors
  std::vector<ResultError> results = {};  ///< errors of the results; none: direct sums
  std::string reason = {};                ///< why direct sums were used; empty: they were not
  std::size_t samples = 0;                ///< number of targets whose errors were measured
  std::size_t clusters = 0;               ///< number of clusters of the sources' tree
  std::size_t groups = 0;                 ///< number of groups of targets
  double sources_per_target = 0;  ///< mean number of particles and proxies in a target's sums
  double build_seconds = 0;       ///< time of making the tree
  double choice_seconds = 0;      ///< time of choosing degree and distance, by errors of trials
  double list_seconds = 0;        ///< time of making lists
  double sum_seconds = 0;         ///< time of the sums
  double error_seconds = 0;       ///< time of measuring the errors of the results
};

/// A kernel summed over all sources to an accuracy, in O(N log N): clusters of sources that are far
/// from a target are replaced by few, on Gauss-Legendre points, with interpolated charges. The same
/// kernel computes them, with all its results, on every engine.
///
/// The kernel's results must be sums whose terms have one charge as a factor: a source's variable
/// like the charge of an electric field, or one of several, as the components of a force. What else
/// a term depends on, the position of the source, must be smooth at a distance. Other variables of
/// the source may multiply a charge, as the velocity in a jerk, or be numbers that are compared
/// with a target's, as the particle's own. The compiler finds the charges, or what is in their way.
///
/// The error is measured on a sample of targets, against direct sums on the same device, and is in
/// the report. Direct sums are used where they are faster or no tree is as accurate, and where
/// targets and distant sources have equal numbers. Results do not depend on the number of threads.
///
/// On a device of kind "mpi" all calls are collective: every rank passes its own particles and
/// targets, and gets the results of its targets. All ranks get all particles and make the same
/// tree, and each computes a share of the groups: the bits do not depend on the number of ranks.
/// Kernel, params and options must be equal on all. Numbers of particles that are left out are
/// those through all ranks.
///
/// Must be used by one thread at a time. The device must outlive it.
class TreeSum {
 public:
  /// Throws Error (Unsupported), with the reason, for a kernel that has no charges or no text in
  /// the kernel language; Error (Usage) for options out of range.
  TreeSum(Device& device, const Kernel& kernel, const TreeSumOptions& options = {});
  ~TreeSum();
  TreeSum(TreeSum&&) noexcept;
  TreeSum& operator=(TreeSum&&) noexcept;

  /// Set a `param`, as Job::set.
  void set(std::string_view name, double value) { set(name, {&value, 1}); }
  void set(std::string_view name, std::span<const double> values);
  void set(std::string_view name, std::initializer_list<double> values) {
    set(name, std::span(values.begin(), values.size()));
  }

  /// Compute. A variable of targets and sources that holds their numbers may be left out if the
  /// sources are the targets: it is then different for all particles, so that the kernel excludes
  /// that of a particle with itself. Throws Error (Usage) for wrong names, types and lengths, and
  /// Error (Input) for values that are not finite, with their index. The results are undefined
  /// after an error.
  TreeSumReport run(const TreeCall& call);

  /// The charges of the kernel, and the variables that multiply them.
  std::vector<std::string> charges() const;

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace gdr
