// Sums within a cut-off on a device of many ranks: every rank passes its own particles and gets the
// results of its own targets. All ranks get all particles and make the same lists, and each
// computes a share of the groups.
#pragma once

#include <cstddef>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "gdr/pairs.hpp"
#include "libgdr/pairs/pair_lists.hpp"
#include "libgdr/pairs/sorted_columns.hpp"
#include "libgdr/ranks/group_parts.hpp"
#include "libgdr/ranks/ranks.hpp"

namespace gdr {

/// What must be equal on all ranks, as hashes, and this rank's cut-offs.
struct RankArguments {
  std::uint64_t kernel = 0, params = 0, box = 0, skin = 0;
  std::span<const double> radii;  ///< one, or one for each of this rank's targets
  std::optional<std::span<const double>> source_radii;  ///< one for each of this rank's sources
};

class PairRanks {
 public:
  explicit PairRanks(Device& device)
      : core_(DeviceRanks::core(device)), ranks_(DeviceRanks::group(device)) {}

  /// Takes a step on all ranks, and throws on all if it throws on one, or if `name` differs.
  void step(const std::string& name, const std::function<void()>& work) const;

  /// Gathers the particles of all ranks, whose arrays have been checked. The call, whose results
  /// are those of all targets, is valid until the next one. Collective.
  const PairCall& gather(const PairCall& own, const JobData& variables,
                         const RankArguments& arguments, unsigned threads);
  /// The cut-offs of all targets: one, or one for each.
  const std::vector<double>& radii() const noexcept { return radii_; }
  /// The radii of all sources, if they have some.
  const std::vector<double>& source_radii() const noexcept { return source_radii_; }
  /// Copies the results of this rank's targets to its own arrays.
  void copy_results(unsigned threads);

  /// Whether the lists serve on all ranks, and were made in the same run on all of them. If not,
  /// all ranks make new ones.
  bool agree(bool lists_serve);
  /// The value of the first rank: ranks that have taken part in other runs, before one has failed,
  /// may have another. Collective; throws only if a rank has failed.
  double of_first_rank(double value) const {
    ranks_->broadcast(&value, sizeof value, 0);
    return value;
  }
  /// The groups that this rank computes, with about the same number of pairs for each rank.
  std::span<const TargetGroup> own(std::span<const TargetGroup> groups) const;
  /// Completes results in the order of the lists, of which each rank has those of its groups.
  void join(std::span<const TargetGroup> groups, std::size_t targets,
            std::vector<SortedResult>& columns);
  /// Adds a run of so many seconds to the report of this rank.
  void report(std::span<const TargetGroup> groups, double seconds);

 private:
  /// An array of all ranks, each item without gaps.
  struct Column {
    std::vector<std::byte> values;
    std::size_t item_bytes = 0;
  };

  void compare(const PairCall& own, const RankArguments& arguments) const;
  void gather_radii(const RankArguments& own);
  void gather_positions(const PairCall& own);
  void gather_inputs(std::span<const NamedInput> arrays, const LinkGroup& group,
                     std::span<const std::size_t> offsets, unsigned threads,
                     std::vector<Column>& columns, std::vector<NamedInput>& inputs);
  void make_results(const PairCall& own, const LinkGroup& group);
  GroupParts parts_of(std::span<const TargetGroup> groups) const;
  std::size_t mine(std::span<const std::size_t> offsets) const {
    return offsets[ranks_->rank() + 1] - offsets[ranks_->rank()];
  }
  std::shared_ptr<DeviceCore> core_;
  RankGroup* ranks_;
  PairCall call_;  ///< the call with the particles of all ranks
  std::vector<std::size_t> source_offsets_, target_offsets_;
  std::vector<double> radii_, source_radii_, pos_, target_pos_;
  std::vector<Column> sources_, targets_, results_;
  std::vector<NamedInput> source_inputs_, target_inputs_;
  std::vector<NamedResult> named_results_;
  std::vector<SortedResult> own_results_;
  std::uint64_t version_ = 0;  ///< number of the run that made the lists, equal on all ranks
  std::size_t bytes_received_ = 0;
};

}  // namespace gdr
