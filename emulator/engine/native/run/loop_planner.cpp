#include "emulator/engine/native/run/loop_planner.hpp"

#include <algorithm>
#include <bit>
#include <limits>

#include "emulator/engine/native/words/word_conversion.hpp"

namespace gdr::native {
namespace {

/// The bits of a lane as an integer of their sign.
std::int64_t lane_bits(const PlannedLoop& loop, const std::byte* at) {
  return loop.target.precision == Precision::Float ? std::int64_t{load_lane<std::int32_t>(at)}
                                                   : load_lane<std::int64_t>(at);
}

/// Calls visit(lane) for the lanes of a slot that hold targets, until it returns false.
template <typename Visit>
bool all_lanes(const PlannedLoop& loop, std::uint32_t slot, std::size_t first, std::size_t count,
               Visit visit) {
  const std::size_t lanes = loop.target.lanes(), bytes = loop.code.layout.bytes();
  for (std::size_t i = first; i < first + count; ++i) {
    const std::byte* at = loop.items + i * bytes + loop.code.input_offset[slot];
    const std::size_t live = std::min(lanes, loop.live - i % loop.vectors * lanes);
    for (std::size_t n = 0; n < live; ++n, at += loop.target.lane_bytes())
      if (!visit(at)) return false;
  }
  return true;
}

/// Negative if an integer is from least to most.
constexpr std::int64_t sign_if_between(std::int64_t integer, std::int64_t least,
                                       std::int64_t most) {
  return ~((integer - least) | (most - integer));
}

/// Whether all inputs and words required to be positive are positive.
bool is_positive(const PlannedLoop& loop, std::size_t first, std::size_t count) {
  const UnguardedLoop& free = loop.code.unguarded;
  const std::int64_t least = loop.target.precision == Precision::Float
                                 ? std::bit_cast<std::int32_t>(std::numeric_limits<float>::min())
                                 : std::bit_cast<std::int64_t>(std::numeric_limits<double>::min());
  const auto positive = [&](const std::byte* at) { return lane_bits(loop, at) >= least; };
  return std::ranges::all_of(free.positive_uniforms,
                             [&](LeafKey word) {
                               return positive(loop.uniforms + loop.uniform_words.number(word) *
                                                                   loop.target.lane_bytes());
                             }) &&
         std::ranges::all_of(free.positive_slots, [&](std::uint32_t slot) {
           return all_lanes(loop, slot, first, count, positive);
         });
}

}  // namespace

const LoopRun* LoopPlanner::plan(const PlannedLoop& loop, std::size_t first, std::size_t count) {
  if (!loop.code.has_runs()) return nullptr;
  plan_unguarded(loop, first, count);
  if (loop.code.sums.count == 0) return runs_.data();
  divide_at_blocks(runs_, loop.code.sums.iterations, divided_);
  return divided_.data();
}

void LoopPlanner::plan_unguarded(const PlannedLoop& loop, std::size_t first, std::size_t count) {
  const UnguardedLoop& free = loop.code.unguarded;
  hit_.assign((loop.iterations + SourceWindows::groups - 1) / SourceWindows::groups, 0);
  bool known = free.usable && is_positive(loop, first, count);
  const EqualWords* before = nullptr;
  for (const EqualWords& equal : free.equal) {
    if (!known) break;
    if (before == nullptr || before->slot != equal.slot)
      gather_compared(loop, equal.slot, first, count);
    known = find_hits(loop, equal.source);
    before = &equal;
  }
  if (!known) std::ranges::fill(hit_, std::uint8_t{1});
  plan_loop_runs(loop.iterations, hit_, runs_);
}

/// The integers of a slot in targets.
void LoopPlanner::gather_compared(const PlannedLoop& loop, std::uint32_t slot, std::size_t first,
                                  std::size_t count) {
  compared_.clear();
  const bool floats = loop.target.precision == Precision::Float;
  all_lanes(loop, slot, first, count, [&](const std::byte* at) {
    compared_.push_back(floats ? lane_integer(load_lane<std::int32_t>(at))
                               : lane_integer(load_lane<std::int64_t>(at)));
    return true;
  });
  // Without branches: the targets of a block of time steps are in no order.
  least_ = std::numeric_limits<std::int64_t>::max();
  greatest_ = std::numeric_limits<std::int64_t>::min();
  for (const std::int64_t integer : compared_) {
    least_ = std::min(least_, integer);
    greatest_ = std::max(greatest_, integer);
  }
}

/// Marks windows of sources whose range of words overlaps the gathered targets. False if the ranges
/// are unknown.
bool LoopPlanner::find_hits(const PlannedLoop& loop, LeafKey source) {
  constexpr std::uint8_t hit = 1, near = 2;
  if (loop.windows == nullptr) return false;
  const auto word = std::ranges::find(loop.windows->words, source);
  if (word == loop.windows->words.end()) return false;
  const auto number = static_cast<std::size_t>(word - loop.windows->words.begin());
  const SourceWindows::Ranges& ranges = loop.windows->ranges[number];
  const std::int64_t* const least = ranges.least.data() + loop.first_window;
  const std::int64_t* const most = ranges.most.data() + loop.first_window;
  const std::int64_t first = least_, last = greatest_;
  std::uint8_t* const hits = hit_.data();
  const std::size_t windows = hit_.size();
  // Nearly all windows are disjoint from all targets; a branch-free sign test detects that.
  std::int64_t any = 0;
  for (std::size_t w = 0; w < windows; ++w) {
    const std::int64_t meets = ~((most[w] - first) | (last - least[w])) >> 63;
    hits[w] = static_cast<std::uint8_t>(hits[w] | (meets & near));
    any |= meets;
  }
  for (std::size_t w = 0; any != 0 && w < windows; ++w) {
    if (hits[w] < near) continue;
    std::int64_t found = 0;
    for (const std::int64_t integer : compared_)
      found |= sign_if_between(integer, least[w], most[w]);
    hits[w] = found < 0 ? hit : hits[w] & hit;
  }
  return true;
}

void plan_loop_runs(std::uint64_t iterations, std::span<const std::uint8_t> hit,
                    std::vector<LoopRun>& runs) {
  runs.clear();
  const std::uint64_t end = iterations < 2 ? 1 : iterations - 1;
  for (std::uint64_t p = 1; p < end;) {
    const std::uint64_t window =
        std::min<std::uint64_t>((p - 1) / SourceWindows::groups, hit.size());
    const auto next = std::find(hit.begin() + static_cast<std::ptrdiff_t>(window), hit.end(), 1);
    const auto first = static_cast<std::uint64_t>(next - hit.begin()) * SourceWindows::groups;
    const std::uint64_t begin = next == hit.end() ? end : std::clamp(first, p, end);
    // The iteration after a window also reads its last group.
    const std::uint64_t behind = std::min(end, first + SourceWindows::groups + 1);
    if (begin > p) {
      if (runs.empty()) runs.push_back({});
      runs.back().free += begin - p;
      p = begin;
    }
    if (p == end) break;
    if (runs.empty() || runs.back().free != 0) runs.push_back({});
    runs.back().guarded += behind - p;
    p = behind;
  }
  runs.push_back({});
}

void divide_at_blocks(std::span<const LoopRun> runs, std::uint64_t block,
                      std::vector<LoopRun>& divided) {
  divided.clear();
  std::uint64_t left = block;
  for (LoopRun rest : runs) {
    while (rest.guarded + rest.free > 0) {
      LoopRun part;
      part.guarded = std::min(rest.guarded, left);
      part.free = std::min(rest.free, left - part.guarded);
      left -= part.guarded + part.free;
      part.ends_block = left == 0 ? 1 : 0;
      if (left == 0) left = block;
      rest.guarded -= part.guarded;
      rest.free -= part.free;
      divided.push_back(part);
    }
  }
  divided.push_back({});
}

}  // namespace gdr::native
