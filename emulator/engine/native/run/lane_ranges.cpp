#include "emulator/engine/native/run/lane_ranges.hpp"

#include <algorithm>
#include <array>
#include <cstring>

#include "emulator/engine/native/translate/float_range.hpp"
#include "emulator/host/for_each_isa.hpp"

namespace gdr::native {
namespace {

// Words of groups, which are stored as vectors.
using Lane64 [[gnu::may_alias]] = std::int64_t;
using Lane32 [[gnu::may_alias]] = std::int32_t;

/// The smallest and the largest integers of some lanes.
struct LaneRange {
  std::int64_t least, most;
};

/// Lanes that are compared together: a vector of AVX2.
constexpr std::size_t bytes_at_once = bytes_behind_lanes;
using LaneRanges = std::array<LaneRange, bytes_at_once / sizeof(std::int32_t)>;

/// Ranges of adjacent lanes of n groups, `step` elements apart.
template <typename Integer, typename Lane>
[[gnu::always_inline]] inline void ranges_among(const Lane* from, std::size_t step, std::uint64_t n,
                                                LaneRanges& ranges) {
  using Row [[gnu::vector_size(bytes_at_once)]] = Integer;
  constexpr std::size_t chains = 4;  // since a minimum takes several clocks
  Row least[chains], most[chains];
  std::memcpy(&least[0], from, sizeof(Row));
  most[0] = least[0];
  for (std::size_t k = 1; k < chains; ++k) least[k] = most[k] = least[0];
  const auto add = [&](std::size_t k, std::uint64_t g) __attribute__((always_inline)) {
    Row row;
    std::memcpy(&row, from + g * step, sizeof row);
    least[k] = row < least[k] ? row : least[k];
    most[k] = row > most[k] ? row : most[k];
  };
  std::uint64_t done = 0;
  for (; done + chains <= n; done += chains)
    for (std::size_t k = 0; k < chains; ++k) add(k, done + k);
  for (; done < n; ++done) add(0, done);
  for (std::size_t k = 1; k < chains; ++k) {
    least[0] = least[k] < least[0] ? least[k] : least[0];
    most[0] = most[k] > most[0] ? most[k] : most[0];
  }
  for (std::size_t k = 0; k < bytes_at_once / sizeof(Integer); ++k)
    ranges[k] = {lane_integer(least[0][k]), lane_integer(most[0][k])};
}
GDR_FOR_EACH_ISA void ranges_of(const Lane64* from, std::size_t step, std::uint64_t n,
                                LaneRanges& ranges) {
  ranges_among<std::int64_t>(from, step, n, ranges);
}
GDR_FOR_EACH_ISA void ranges_of(const Lane32* from, std::size_t step, std::uint64_t n,
                                LaneRanges& ranges) {
  ranges_among<std::int32_t>(from, step, n, ranges);
}

}  // namespace

void find_ranges(const CompiledSection& body, const std::byte* all_groups, std::uint64_t count,
                 std::uint64_t window, SourceWindows& windows) {
  const bool floats = body.precision() == Precision::Float;
  const std::size_t lanes = body.source_words().words.size();
  const std::uint64_t begin = window * SourceWindows::groups;
  const std::uint64_t groups = std::min(count - begin, SourceWindows::groups);
  const std::byte* const at = all_groups + begin * body.stream_bytes();
  const std::size_t at_once = bytes_at_once / body.target().lane_bytes();
  LaneRanges ranges;
  std::size_t first = lanes;  // of the lanes in `ranges`
  for (std::size_t w = 0; w < windows.words.size(); ++w) {
    const std::size_t number = body.source_words().number(windows.words[w]);
    if (first == lanes || number < first || number >= first + at_once) {
      first = number / at_once * at_once;
      if (floats)
        ranges_of(reinterpret_cast<const Lane32*>(at) + first, lanes, groups, ranges);
      else
        ranges_of(reinterpret_cast<const Lane64*>(at) + first, lanes, groups, ranges);
    }
    windows.ranges[w].least[window] = ranges[number - first].least;
    windows.ranges[w].most[window] = ranges[number - first].most;
  }
}

}  // namespace gdr::native
