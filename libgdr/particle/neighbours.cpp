// Neighbour lists: checks of arguments and memory, and the arrays of pairs.
#include "gdr/neighbours.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <string>
#include <utility>
#include <vector>

#include "emulator/host/float_mode.hpp"
#include "gdr/error.hpp"
#include "libgdr/device/coordinates.hpp"
#include "libgdr/particle/available_memory.hpp"
#include "libgdr/particle/neighbour_lists.hpp"

namespace gdr {
namespace {

/// Memory for a pair during the search: its number in a growing array, and that in the result.
constexpr std::size_t bytes_of_list_entry = 16;
/// The same with images, without the arrays of the result.
constexpr std::size_t bytes_of_image_entry = 28;

[[noreturn]] void wrong_length(const std::string& what, std::size_t n,
                               const std::string& expected) {
  throw Error(ErrorCategory::Usage, what + " has " + std::to_string(n) + " elements; " + expected);
}

void check(std::span<const double> sources, std::span<const double> targets,
           std::span<const double> radii, const NeighbourOptions& options) {
  const std::size_t m = check_coordinates("pos", sources);
  const std::size_t n = check_coordinates("targets", targets);
  if (radii.size() != n && radii.size() != 1)
    wrong_length("radius", radii.size(),
                 "expected one for all, or one for each of the " + std::to_string(n) + " targets");
  const auto name = [&](std::size_t i) {
    return radii.size() == 1 ? std::string("radius") : fmt::format("radius[{}]", i);
  };
  for (std::size_t i = 0; i < radii.size(); ++i)
    if (!(radii[i] >= 0))
      throw Error(ErrorCategory::Input,
                  fmt::format("{} is {}; a radius must be a number >= 0", name(i), radii[i]));
  const bool has_images =
      options.box && std::ranges::find(options.box->periodic, true) != options.box->periodic.end();
  for (std::size_t i = 0; has_images && i < radii.size(); ++i)
    if (std::isinf(radii[i]))
      throw Error(ErrorCategory::Input,
                  name(i) + " is infinite; a periodic box has images at every distance");
  if (std::max(n, m) > std::numeric_limits<std::uint32_t>::max())
    throw Error(ErrorCategory::Usage,
                std::to_string(std::max(n, m)) + " particles; at most 4294967295 are possible");
  const bool ids = !options.source_ids.empty() || !options.target_ids.empty();
  if (ids && options.source_ids.size() != m)
    wrong_length("source_ids", options.source_ids.size(),
                 "expected one for each of the " + std::to_string(m) + " sources");
  if (ids && options.target_ids.size() != n)
    wrong_length("target_ids", options.target_ids.size(),
                 "expected one for each of the " + std::to_string(n) + " targets");
  if (options.exclude_same_number && n != m)
    throw Error(ErrorCategory::Usage,
                "exclude_same_number is for equal sources and targets, but there are " +
                    std::to_string(m) + " sources and " + std::to_string(n) + " targets");
}

[[noreturn]] void too_long(std::size_t targets, double pairs, std::size_t bytes_a_pair,
                           std::size_t memory) {
  throw Error(ErrorCategory::Input,
              fmt::format("the neighbour lists of {} targets would have {:.3g} pairs, about {:.0f} "
                          "for each, and take {:.3g} GB of memory, of which {:.3g} GB are "
                          "available; use smaller radii, or search for fewer targets at a time",
                          targets, pairs, pairs / static_cast<double>(targets),
                          1e-9 * static_cast<double>(bytes_a_pair) * pairs,
                          1e-9 * static_cast<double>(memory)));
}

/// Searches for all lists, unless they take more than the available memory.
void search_all(NeighbourSearch& search, std::size_t targets, const NeighbourOptions& options,
                std::size_t bytes_a_pair) {
  const std::size_t memory = available_memory(), most = memory / bytes_a_pair;
  if (search.find(most, true)) return;
  // To count long lists is much faster than to find them.
  const double pairs = search.count(most);
  const bool ids = !options.target_ids.empty();
  if ((pairs > static_cast<double>(most) && !ids) || !search.find(most, false))
    too_long(targets, pairs, bytes_a_pair, memory);
}

/// The arrays that a user asks for.
struct Quantities {
  bool i = false, j = false, d = false, vectors = false, shifts = false;

  explicit Quantities(std::string_view letters) {
    for (const char letter : letters) {
      bool* const one = letter == 'i'   ? &i
                        : letter == 'j' ? &j
                        : letter == 'd' ? &d
                        : letter == 'D' ? &vectors
                        : letter == 'S' ? &shifts
                                        : nullptr;
      if (one == nullptr || *one)
        throw Error(ErrorCategory::Usage,
                    fmt::format("quantities are '{}'; expected some of the letters i j d D S, each "
                                "once",
                                letters));
      *one = true;
    }
  }
  std::size_t bytes() const noexcept {
    return 8 * ((i ? 1 : 0) + (j ? 1 : 0) + (d ? 1 : 0) + (vectors ? 3 : 0) + (shifts ? 3 : 0));
  }
};

/// Fills the arrays of the pairs of target i, from `first` on.
void fill_pairs(const NeighbourSearch& search, std::span<const double> sources,
                std::span<const double> targets, std::size_t i, std::size_t first,
                std::span<const std::int64_t> list, const std::uint32_t* images,
                const Quantities& wanted, NeighbourPairs& pairs) {
  for (std::size_t k = 0; k < list.size(); ++k) {
    const std::size_t at = first + k, j = static_cast<std::size_t>(list[k]);
    if (wanted.i) pairs.targets[at] = static_cast<std::int64_t>(i);
    if (!wanted.d && !wanted.vectors && !wanted.shifts) continue;
    const Point edges = search.edges_between(i, j, images[k]), s = search.box().shift(edges);
    double d[3];
    for (std::size_t c = 0; c < 3; ++c) d[c] = (sources[3 * j + c] - targets[3 * i + c]) + s[c];
    if (wanted.d) pairs.distances[at] = std::sqrt(d[0] * d[0] + d[1] * d[1] + d[2] * d[2]);
    const std::array<std::int64_t, 3> numbers = search.box().in_vectors(edges);
    for (std::size_t c = 0; c < 3; ++c) {
      if (wanted.vectors) pairs.differences[3 * at + c] = d[c];
      if (wanted.shifts) pairs.shifts[3 * at + c] = numbers[c];
    }
  }
}

}  // namespace

NeighbourLists find_neighbours(std::span<const double> pos, std::span<const double> targets,
                               std::span<const double> radius, const NeighbourOptions& options) {
  const HostFloatMode mode;
  check(pos, targets, radius, options);
  NeighbourSearch search(pos, targets, radius, options, false);
  search_all(search, targets.size() / 3, options, bytes_of_list_entry);
  std::vector<std::uint32_t> images;
  return search.lists(images);
}

NeighbourPairs find_neighbour_pairs(std::span<const double> pos, std::span<const double> targets,
                                    std::span<const double> radius, std::string_view quantities,
                                    const NeighbourOptions& options) {
  const HostFloatMode mode;
  const Quantities wanted(quantities);
  check(pos, targets, radius, options);
  NeighbourSearch search(pos, targets, radius, options, true);
  search_all(search, targets.size() / 3, options, bytes_of_image_entry + wanted.bytes());
  std::vector<std::uint32_t> images;
  NeighbourLists lists = search.lists(images);
  const std::size_t n = lists.indices.size();
  NeighbourPairs pairs;
  pairs.targets.resize(wanted.i ? n : 0);
  pairs.distances.resize(wanted.d ? n : 0);
  pairs.differences.resize(wanted.vectors ? 3 * n : 0);
  pairs.shifts.resize(wanted.shifts ? 3 * n : 0);
  search.for_each_target([&](std::size_t i) {
    const auto first = static_cast<std::size_t>(lists.offsets[i]);
    fill_pairs(search, pos, targets, i, first, lists[i], images.data() + first, wanted, pairs);
  });
  if (wanted.j) pairs.sources = std::move(lists.indices);
  return pairs;
}

}  // namespace gdr
