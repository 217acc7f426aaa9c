// A list of sets for a SetJob, from separate sets or from flattened lists.
//
//   gdr::SetList list;
//   list.add_sets(target_offsets, {{"xi", x}, ...}, {{"ax", ax}, ...});
//   list.add_source_lists(source_offsets, {index.size(), arrays, index.data(), n});
//   job.run(list.sets());
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <initializer_list>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "gdr/sets.hpp"

namespace gdr {

/// Sets with copies of their names and of the descriptions of their arrays. The data of the arrays
/// and the indices are not copied: they must be valid until the call with the list has returned.
///
/// Flattened lists are those of compressed sparse rows, and what tree codes and neighbour searches
/// give: list k consists of the entries offsets[k] .. offsets[k + 1] - 1.
class SetList {
 public:
  SetList() = default;
  SetList(SetList&&) = default;
  SetList& operator=(SetList&&) = default;
  SetList(const SetList&) = delete;
  SetList& operator=(const SetList&) = delete;

  /// Remove all sets.
  void clear() noexcept;
  /// Number of sets.
  std::size_t size() const noexcept { return sets_.size(); }

  /// Add a set of n targets, items 0 .. n - 1 of the arrays of targets and of results.
  void add_set(std::size_t n, std::span<const NamedInput> targets,
               std::span<const NamedResult> results);
  void add_set(std::size_t n, std::initializer_list<NamedInput> targets,
               std::initializer_list<NamedResult> results) {
    add_set(n, view(targets), view(results));
  }
  /// Add sources to the last set, after those that it has. Throws Error (Usage) if there is no set.
  void add_sources(const SourceSegment& sources);

  /// Add offsets.size() - 1 sets: the targets of set k, and its results, are items offsets[k] ..
  /// offsets[k + 1] - 1 of the arrays. Throws Error (Usage) for offsets that are negative or
  /// decrease.
  void add_sets(std::span<const std::int64_t> offsets, std::span<const NamedInput> targets,
                std::span<const NamedResult> results);
  void add_sets(std::span<const std::int64_t> offsets, std::initializer_list<NamedInput> targets,
                std::initializer_list<NamedResult> results) {
    add_sets(offsets, view(targets), view(results));
  }
  /// Add sources to each of the last offsets.size() - 1 sets, after those that it has: the k-th of
  /// them gets the items lists.index[offsets[k]] .. lists.index[offsets[k + 1] - 1] of the arrays,
  /// or without an index the items lists.first + offsets[k] .. lists.first + offsets[k + 1] - 1.
  /// Throws Error (Usage) for offsets that are negative, decrease or exceed lists.n, and if there
  /// are fewer sets.
  void add_source_lists(std::span<const std::int64_t> offsets, const SourceSegment& lists);

  /// Add many independent systems, whose items are told apart by labels in any order: the targets
  /// with a label, and the sources with the same one. Each run of targets with equal labels becomes
  /// a set, with all sources of the label in their order. Labels have a value for each item of the
  /// arrays; a source whose label no target has belongs to no set. Throws Error (Usage) for more
  /// than 2^31 - 1 sources.
  void add_systems(std::span<const std::int64_t> target_labels, std::span<const NamedInput> targets,
                   std::span<const NamedResult> results,
                   std::span<const std::int64_t> source_labels,
                   std::span<const NamedInput> sources);
  void add_systems(std::span<const std::int64_t> target_labels,
                   std::initializer_list<NamedInput> targets,
                   std::initializer_list<NamedResult> results,
                   std::span<const std::int64_t> source_labels,
                   std::initializer_list<NamedInput> sources) {
    add_systems(target_labels, view(targets), view(results), source_labels, view(sources));
  }

  /// The sets, for SetJob; valid until the list is changed.
  std::span<const InteractionSet> sets();

 private:
  /// Sources with the number of their set.
  struct Added {
    std::size_t set;
    SourceSegment sources;
  };

  template <typename T>
  static std::span<const T> view(std::initializer_list<T> list) {
    return {list.begin(), list.size()};
  }
  std::string_view stored(std::string_view name);
  std::span<const NamedInput> stored(std::span<const NamedInput> arrays);
  std::span<const NamedResult> stored(std::span<const NamedResult> arrays);

  std::deque<std::string> names_;  // at stable addresses, as are the elements of the vectors below
  std::size_t next_name_ = 0;      ///< position of the name that is expected next
  std::deque<std::vector<NamedInput>> inputs_;
  std::deque<std::vector<NamedResult>> results_;
  std::deque<std::vector<std::int32_t>> orders_;  ///< sources by their labels
  std::vector<InteractionSet> sets_;
  std::vector<Added> added_;             ///< sets in the order of the calls
  std::vector<SourceSegment> segments_;  ///< segments of all sets, in their order
};

}  // namespace gdr
