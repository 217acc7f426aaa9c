// C interface: the search for neighbours.
#include <algorithm>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "libgdr/capi/capi.hpp"
#include "libgdr/device/arrays.hpp"

using gdr::capi::box_of;
using gdr::capi::create;
using gdr::capi::guarded;
using gdr::capi::need;

namespace {

template <typename Number>
std::span<const Number> numbers(std::size_t n, const Number* values, std::size_t each,
                                const char* name) {
  gdr::check_count(n, static_cast<std::uint32_t>(each), "particles");
  if (n > 0) need(values, name);
  return {values, each * n};
}

void find(gdr_neighbours& search, std::span<const double> targets, std::span<const double> sources,
          std::span<const double> radii, const char* quantities, bool exclude_same_number) {
  gdr::NeighbourOptions options = search.options;
  options.source_ids = search.source_ids;
  options.target_ids = search.target_ids;
  options.exclude_same_number = exclude_same_number;
  const std::string kept = quantities;
  gdr::NeighbourLists lists;
  gdr::NeighbourPairs pairs;
  if (kept.empty())
    lists = gdr::find_neighbours(sources, targets, radii, options);
  else
    pairs = gdr::find_neighbour_pairs(sources, targets, radii, kept, options);
  search.lists = std::move(lists);
  search.pairs = std::move(pairs);
  search.quantities = kept;
  search.targets = targets.size() / 3;
  // Any of the arrays that were asked for.
  const gdr::NeighbourPairs& p = search.pairs;
  search.entries = std::max({search.lists.indices.size(), p.targets.size(), p.sources.size(),
                             p.distances.size(), p.differences.size() / 3, p.shifts.size() / 3});
}

/// Copies an array of the pairs, unless the pointer is null.
template <typename Number>
void copy_pairs(const gdr_neighbours& search, char letter, const std::vector<Number>& from,
                Number* to) {
  if (to == nullptr) return;
  if (search.quantities.find(letter) == std::string::npos)
    throw gdr::Error(gdr::ErrorCategory::Usage,
                     "the last search kept \"" + search.quantities + "\", not the quantity " +
                         std::string(1, letter) + "; ask for it in gdr_neighbours_find");
  std::copy(from.begin(), from.end(), to);
}

}  // namespace

gdr_status gdr_neighbours_create(unsigned threads, gdr_neighbours** search) {
  return create(search, "search", [&] {
    gdr_neighbours made;
    made.options.threads = threads;
    return made;
  });
}

void gdr_neighbours_free(gdr_neighbours* search) { delete search; }

gdr_status gdr_neighbours_set_box(gdr_neighbours* search, const double* vectors,
                                  const int* periodic) {
  return guarded({{search, "search"}}, [&] { search->options.box = box_of(vectors, periodic); });
}

gdr_status gdr_neighbours_set_ids(gdr_neighbours* search, size_t n_sources,
                                  const int64_t* source_ids, size_t n_targets,
                                  const int64_t* target_ids) {
  return guarded({{search, "search"}}, [&] {
    const auto of_sources = numbers(n_sources, source_ids, 1, "source_ids");
    const auto of_targets = numbers(n_targets, target_ids, 1, "target_ids");
    search->source_ids.assign(of_sources.begin(), of_sources.end());
    search->target_ids.assign(of_targets.begin(), of_targets.end());
  });
}

gdr_status gdr_neighbours_find(gdr_neighbours* search, size_t n, const double* position,
                               size_t n_radii, const double* radius, const char* quantities) {
  return guarded({{search, "search"}, {quantities, "quantities"}}, [&] {
    const auto at = numbers(n, position, 3, "position");
    find(*search, at, at, numbers(n_radii, radius, 1, "radius"), quantities, true);
  });
}

gdr_status gdr_neighbours_find_on(gdr_neighbours* search, size_t n_targets, const double* target,
                                  size_t n_sources, const double* source, size_t n_radii,
                                  const double* radius, const char* quantities) {
  return guarded({{search, "search"}, {quantities, "quantities"}}, [&] {
    const auto at = numbers(n_targets, target, 3, "target");
    find(*search, at, numbers(n_sources, source, 3, "source"),
         numbers(n_radii, radius, 1, "radius"), quantities, false);
  });
}

gdr_status gdr_neighbours_counts(const gdr_neighbours* search, size_t* targets, size_t* entries) {
  return guarded({{search, "search"}, {targets, "targets"}, {entries, "entries"}}, [&] {
    *targets = search->targets;
    *entries = search->entries;
  });
}

gdr_status gdr_neighbours_lists(const gdr_neighbours* search, int64_t* offsets, int64_t* indices) {
  return guarded({{search, "search"}, {offsets, "offsets"}}, [&] {
    if (!search->quantities.empty())
      throw gdr::Error(gdr::ErrorCategory::Usage,
                       "the last search kept pairs, \"" + search->quantities +
                           "\", not lists; give gdr_neighbours_find the quantities \"\"");
    const gdr::NeighbourLists& lists = search->lists;
    if (!lists.indices.empty()) need(indices, "indices");
    if (lists.offsets.empty()) *offsets = 0;  // there was no search
    std::copy(lists.offsets.begin(), lists.offsets.end(), offsets);
    std::copy(lists.indices.begin(), lists.indices.end(), indices);
  });
}

gdr_status gdr_neighbours_pairs(const gdr_neighbours* search, int64_t* targets, int64_t* sources,
                                double* distances, double* differences, int64_t* shifts) {
  return guarded({{search, "search"}}, [&] {
    const gdr::NeighbourPairs& pairs = search->pairs;
    copy_pairs(*search, 'i', pairs.targets, targets);
    copy_pairs(*search, 'j', pairs.sources, sources);
    copy_pairs(*search, 'd', pairs.distances, distances);
    copy_pairs(*search, 'D', pairs.differences, differences);
    copy_pairs(*search, 'S', pairs.shifts, shifts);
  });
}
