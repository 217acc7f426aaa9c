#include "gdr/set_list.hpp"

#include <algorithm>
#include <limits>
#include <numeric>
#include <string>

#include "libgdr/device/usage_error.hpp"

namespace gdr {
namespace {

std::string offset_text(std::span<const std::int64_t> offsets, std::size_t k) {
  return "offsets[" + std::to_string(k) + "] is " + std::to_string(offsets[k]);
}

/// Throws Error (Usage) unless offsets are numbers from 0 on that do not decrease.
void check_offsets(std::span<const std::int64_t> offsets) {
  if (offsets.empty())
    usage_error("there are no offsets; a list of sets needs one more offset than sets");
  if (offsets[0] < 0) usage_error(offset_text(offsets, 0) + ", which is negative");
  for (std::size_t k = 1; k < offsets.size(); ++k)
    if (offsets[k] < offsets[k - 1])
      usage_error(offset_text(offsets, k) + ", less than " + offset_text(offsets, k - 1) +
                  "; offsets must not decrease");
}

}  // namespace

void SetList::clear() noexcept {
  names_.clear();
  next_name_ = 0;
  inputs_.clear();
  results_.clear();
  sets_.clear();
  orders_.clear();
  added_.clear();
  segments_.clear();
}

// Sets name their arrays in the same order, so that the first comparison usually succeeds.
std::string_view SetList::stored(std::string_view name) {
  for (std::size_t k = 0; k < names_.size(); ++k) {
    if (next_name_ >= names_.size()) next_name_ = 0;
    const std::string& known = names_[next_name_++];
    if (known == name) return known;
  }
  return names_.emplace_back(name);
}

std::span<const NamedInput> SetList::stored(std::span<const NamedInput> arrays) {
  std::vector<NamedInput>& copy = inputs_.emplace_back(arrays.begin(), arrays.end());
  for (NamedInput& input : copy) input.name = stored(input.name);
  return copy;
}

std::span<const NamedResult> SetList::stored(std::span<const NamedResult> arrays) {
  std::vector<NamedResult>& copy = results_.emplace_back(arrays.begin(), arrays.end());
  for (NamedResult& result : copy) result.name = stored(result.name);
  return copy;
}

void SetList::add_set(std::size_t n, std::span<const NamedInput> targets,
                      std::span<const NamedResult> results) {
  const std::span<const NamedInput> inputs = stored(targets);
  sets_.push_back({n, inputs, {}, stored(results)});
}

void SetList::add_sources(const SourceSegment& sources) {
  if (sets_.empty()) usage_error("there is no set for these sources; add a set first");
  SourceSegment copy = sources;
  copy.arrays = stored(sources.arrays);
  added_.push_back({sets_.size() - 1, copy});
}

void SetList::add_sets(std::span<const std::int64_t> offsets, std::span<const NamedInput> targets,
                       std::span<const NamedResult> results) {
  check_offsets(offsets);
  const std::span<const NamedInput> inputs = stored(targets);
  const std::span<const NamedResult> outputs = stored(results);
  sets_.reserve(sets_.size() + offsets.size() - 1);
  for (std::size_t k = 0; k + 1 < offsets.size(); ++k)
    sets_.push_back({static_cast<std::size_t>(offsets[k + 1] - offsets[k]),
                     inputs,
                     {},
                     outputs,
                     static_cast<std::size_t>(offsets[k])});
}

void SetList::add_source_lists(std::span<const std::int64_t> offsets, const SourceSegment& lists) {
  check_offsets(offsets);
  const std::size_t count = offsets.size() - 1;
  if (static_cast<std::size_t>(offsets.back()) > lists.n)
    usage_error(offset_text(offsets, count) + ", but the lists have " + std::to_string(lists.n) +
                " entries");
  if (count > sets_.size())
    usage_error(std::to_string(count) + " lists of sources need as many sets, but there are " +
                std::to_string(sets_.size()));
  const std::span<const NamedInput> arrays = stored(lists.arrays);
  added_.reserve(added_.size() + count);
  for (std::size_t k = 0; k < count; ++k) {
    const auto begin = static_cast<std::size_t>(offsets[k]);
    SourceSegment list{static_cast<std::size_t>(offsets[k + 1]) - begin, arrays};
    if (lists.index != nullptr) {
      list.index = lists.index + begin;
      list.items = lists.items;
    } else {
      list.first = lists.first + begin;
    }
    added_.push_back({sets_.size() - count + k, list});
  }
}

void SetList::add_systems(std::span<const std::int64_t> target_labels,
                          std::span<const NamedInput> targets, std::span<const NamedResult> results,
                          std::span<const std::int64_t> source_labels,
                          std::span<const NamedInput> sources) {
  if (source_labels.size() > std::size_t{std::numeric_limits<std::int32_t>::max()})
    usage_error(std::to_string(source_labels.size()) +
                " sources have a label; at most 2147483647 can");
  std::vector<std::int32_t>& order = orders_.emplace_back(source_labels.size());
  std::iota(order.begin(), order.end(), 0);
  const auto label_of = [&](std::int32_t source) {
    return source_labels[static_cast<std::size_t>(source)];
  };
  std::ranges::stable_sort(order, {}, label_of);
  std::vector<std::int64_t> runs{0};
  for (std::size_t k = 1; k <= target_labels.size(); ++k)
    if (k == target_labels.size() || target_labels[k] != target_labels[k - 1])
      runs.push_back(static_cast<std::int64_t>(k));
  add_sets(runs, targets, results);
  const std::size_t first_set = sets_.size() - (runs.size() - 1);
  const std::span<const NamedInput> arrays = stored(sources);
  for (std::size_t k = 0; k + 1 < runs.size(); ++k) {
    const std::int64_t label = target_labels[static_cast<std::size_t>(runs[k])];
    const auto same = std::ranges::equal_range(order, label, {}, label_of);
    SourceSegment list{same.size(), arrays};
    list.index = same.data();
    list.items = source_labels.size();
    added_.push_back({first_set + k, list});
  }
}

std::span<const InteractionSet> SetList::sets() {
  std::vector<std::size_t> ends(sets_.size() + 1, 0);
  for (const Added& a : added_) ++ends[a.set + 1];
  for (std::size_t k = 0; k < sets_.size(); ++k) ends[k + 1] += ends[k];
  segments_.resize(added_.size());
  for (std::size_t k = 0; k < sets_.size(); ++k)
    sets_[k].sources = {segments_.data() + ends[k], ends[k + 1] - ends[k]};
  for (const Added& a : added_) segments_[ends[a.set]++] = a.sources;
  return sets_;
}

}  // namespace gdr
