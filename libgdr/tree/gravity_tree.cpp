#include "libgdr/tree/gravity_tree.hpp"

#include <algorithm>
#include <cmath>
#include <optional>

#include "emulator/host/stopwatch.hpp"
#include "gdr/error.hpp"
#include "libgdr/tree/gravity_choice.hpp"
#include "libgdr/tree/gravity_search.hpp"
#include "libgdr/tree/gravity_sums.hpp"

namespace gdr::tree {
namespace {

/// Targets of a second sample, among small accelerations.
constexpr std::size_t small_samples = 128;

class GravityTree {
 public:
  GravityTree(SetJob& job, const GravityInput& input, const TreeOptions& options,
              bool keeps_accuracy, unsigned threads, const DirectSums& direct,
              const DirectSums& direct_jerk, const HostSteps& host, GroupShare* share)
      : options_(options),
        direct_(direct),
        direct_jerk_(direct_jerk),
        sums_(job, input, options, keeps_accuracy, threads, host, share),
        search_(sums_, input, options, share) {}

  /// Chooses degree and theta; false if direct sums are faster or needed.
  bool choose() {
    const bool found = search_.choose(direct_, direct_jerk_);
    sums_.reset_times();
    return found;
  }

  /// Computes all targets, with a smaller theta as long as the error is too large.
  bool compute() {
    for (;;) {
      sums_.compute_all();
      measure_errors();
      // Direct sums name the particle with an acceleration that is not finite.
      if (!std::isfinite(error_.rms)) return false;
      if (options_.theta > 0 || error_.rms <= options_.accuracy) return true;
      const double smaller = std::pow(accuracy_of_sample * options_.accuracy / error_.rms,
                                      1 / power_of_theta(sums_.degree()));
      const double step = std::clamp(smaller, 0.5, 0.8);
      sums_.set_theta(step * sums_.theta());
      // Lists grow by more than the square of the distances.
      if (sums_.theta() < smallest_theta || !search_.is_fast(sums_.mean_length() / (step * step)))
        return false;
    }
  }

  void write(const GravityResults& to) const { sums_.write(to); }

  TreeReport report() const {
    TreeReport r;
    r.degree = sums_.degree();
    r.method = sums_.expands() ? TreeMethod::Expansion
               : r.degree == 1 ? TreeMethod::Monopole
                               : TreeMethod::Multipole;
    r.theta = sums_.theta();
    r.error = error_.rms;
    r.largest_error = error_.largest;
    if (sums_.has_jerk()) {
      const Sample& sample = search_.jerk_sample();
      r.jerk_error = sample.error_of(sample.rows_of(sums_.jerks())).rms;
    }
    r.samples = search_.sample().places().size();
    r.clusters = sums_.sources().clusters().size();
    r.groups = sums_.groups().size();
    r.sources_per_target = sums_.mean_length();
    sums_.add_times(r);
    r.error_seconds = error_seconds_;
    return r;
  }

 private:
  /// Those of the sample, and of a second one: few targets with small accelerations may have most
  /// of them.
  void measure_errors() {
    const AddElapsed timer(error_seconds_);
    const Sample& sample = search_.sample();
    error_ = sample.error_of(sample.rows_of(sums_.rows()));
    if (sample.is_whole()) return;
    const Sample small(sums_.targets(), sums_.rows(), small_samples, direct_);
    error_ = sample.error_with(small, sums_.rows());
  }

  const TreeOptions& options_;
  const DirectSums &direct_, &direct_jerk_;
  GravitySums sums_;
  GravitySearch search_;
  SampleError error_;
  double error_seconds_ = 0;
};

/// The sum with options that do not refer to an earlier one.
TreeReport compute_once(SetJob& job, const GravityInput& input, const TreeOptions& options,
                        bool keeps_accuracy, unsigned threads, const DirectSums& direct,
                        const DirectSums& direct_jerk, const GravityResults& results,
                        const HostSteps& host, GroupShare* share) {
  if (options.method == TreeMethod::Expansion && input.source_velocity != nullptr)
    throw Error(ErrorCategory::Usage,
                "TreeOptions: expansions have no jerks; choose TreeMethod::Multipole or Auto");
  if (options.method == TreeMethod::Direct || input.n_targets == 0 || input.n_sources == 0 ||
      !in_range(input, threads) || !tree_is_affordable(input, options))
    return {};
  TreeReport report;
  std::optional<GravityTree> made;
  {
    const AddElapsed timer(report.build_seconds);
    in_step(share, "a tree", [&] {
      host([&] {
        made.emplace(job, input, options, keeps_accuracy, threads, direct, direct_jerk, host,
                     share);
      });
    });
  }
  GravityTree& tree = *made;
  bool found = false;
  {
    const AddElapsed timer(report.choice_seconds);
    found = tree.choose();
  }
  if (!found) return report;
  if (!tree.compute()) return report;
  tree.write(results);
  TreeReport computed = tree.report();
  computed.build_seconds = report.build_seconds;
  computed.choice_seconds = report.choice_seconds;
  return computed;
}

}  // namespace

TreeReport compute_with_tree(SetJob& job, const GravityInput& given, const TreeOptions& options,
                             unsigned threads, const DirectSums& direct,
                             const DirectSums& direct_jerk, const GravityResults& results,
                             const HostSteps& host, GroupShare* share) {
  GravityInput input = given;
  input.has_negative =
      std::any_of(given.mass, given.mass + given.n_sources, [](double m) { return m < 0; });
  const auto compute = [&](const TreeOptions& o, bool keeps_accuracy) {
    return compute_once(job, input, o, keeps_accuracy, threads, direct, direct_jerk, results, host,
                        share);
  };
  if (options.earlier == nullptr) return compute(options, false);
  if (options.earlier->method == TreeMethod::Direct) return {};
  // Jerks need proxies.
  if (options.earlier->method != TreeMethod::Expansion || input.source_velocity == nullptr) {
    const TreeReport report = compute(with_earlier_choice(options), true);
    if (report.method != TreeMethod::Direct && report.error <= options.accuracy) return report;
  }
  return compute(with_new_choice(options), false);
}

}  // namespace gdr::tree
