#include "libgdr/device/set_inputs.hpp"

#include <algorithm>
#include <limits>
#include <string>

#include "emulator/host/for_each_isa.hpp"
#include "gdr/error.hpp"

namespace gdr {
namespace {

/// Calls `work`; its errors get the name of the set, or of the segment of a set, in front.
template <typename Work>
void named(std::size_t set, const std::size_t* segment, const Work& work) {
  try {
    work();
  } catch (const Error& error) {
    std::string place = "set " + std::to_string(set);
    if (segment != nullptr) place += ", segment " + std::to_string(*segment);
    throw Error(error.category(), place + ": " + error.what());
  }
}

void check_index(const SourceSegment& segment) {
  if (segment.index != nullptr && segment.items == 0)
    throw Error(ErrorCategory::Usage,
                "an index is given, but the number of items of its arrays (`items`) is 0");
}

/// The largest of n indices as unsigned numbers.
GDR_FOR_EACH_ISA std::uint32_t largest_index(const std::int32_t* index, std::size_t n) noexcept {
  std::uint32_t largest = 0;
#pragma omp simd reduction(max : largest)
  for (std::size_t k = 0; k < n; ++k)
    largest = std::max(largest, static_cast<std::uint32_t>(index[k]));
  return largest;
}

/// Throws Error (Input) for the first index outside of the arrays.
void check_indices(const SourceSegment& segment) {
  if (segment.index == nullptr) return;
  constexpr std::size_t most = std::numeric_limits<std::int32_t>::max();
  const std::size_t items = std::min(segment.items, most + 1);
  if (largest_index(segment.index, segment.n) < items) return;
  for (std::size_t k = 0; k < segment.n; ++k)
    if (!(static_cast<std::uint32_t>(segment.index[k]) < items))
      throw Error(ErrorCategory::Input,
                  "index[" + std::to_string(k) + "] is " + std::to_string(segment.index[k]) +
                      ", but the arrays have " + std::to_string(segment.items) + " items");
}

}  // namespace

void SetPacker::check(const InteractionSet& set, std::size_t number) {
  named(number, nullptr, [&] {
    check_count(set.targets, job_->targets_group.words, "targets");
    if (set.targets == 0) return;
    targets_.check(set.first + set.targets, set.target_arrays);
    bind_results(job_->results_group, set.first + set.targets, set.results, bound_);
  });
  for (std::size_t s = 0; s < set.sources.size(); ++s) {
    const SourceSegment& segment = set.sources[s];
    if (segment.n == 0) continue;
    named(number, &s, [&] {
      check_count(segment.n, job_->sources_group.words, "sources");
      check_index(segment);
      sources_.check(items_of(segment), segment.arrays);
    });
  }
}

void SetPacker::pack(const InteractionSet& set, std::size_t number, const SharedSources& shared,
                     PackedSet& packed) {
  packed.target_count = set.targets;
  packed.targets.resize(set.targets * job_->targets_group.words);
  packed.results.clear();
  if (set.targets > 0)
    named(number, nullptr, [&] {
      targets_.check(set.first + set.targets, set.target_arrays);
      targets_.pack({set.targets, set.first}, set.target_arrays, packed.targets.data());
      bind_results(job_->results_group, set.first + set.targets, set.results, packed.results);
      begin_results_at(set.first, packed.results);
    });
  const std::size_t words = job_->sources_group.words;
  packed.source_count = 0;
  for (const SourceSegment& segment : set.sources) packed.source_count += segment.n;
  packed.sources.resize(packed.source_count * words);
  std::uint64_t* to = packed.sources.data();
  for (std::size_t s = 0; s < set.sources.size(); ++s) {
    const SourceSegment& segment = set.sources[s];
    if (segment.n == 0) continue;
    named(number, &s, [&] {
      check_indices(segment);
      if (shared.copy(segment, to)) return;
      sources_.check(items_of(segment), segment.arrays);
      sources_.pack({segment.n, segment.first, segment.index}, segment.arrays, to);
    });
    to += segment.n * words;
  }
}

}  // namespace gdr
