#include "kernels/compiler/regalloc/live_ranges.hpp"

#include <algorithm>
#include <bit>
#include <cstddef>
#include <limits>
#include <numeric>
#include <utility>

namespace gdr::kc {
namespace {

/// Instructions from one of the body to another, around its end.
int distance(int from, int to, int body_length) {
  return to >= from ? to - from : to - from + body_length;
}

bool interfere(const Segment& a, int at_a, const Segment& b, int at_b, int body_length) {
  const int pa = at_a + a.offset, pb = at_b + b.offset;
  if (pa + a.shorts <= pb || pb + b.shorts <= pa) return false;
  if (a.length >= body_length || b.length >= body_length) return true;
  const int ab = distance(a.from, b.from, body_length);
  const int ba = distance(b.from, a.from, body_length);
  if (ab < a.length || ba < b.length) return true;
  const bool in_step = a.shape != 0 && a.shape == b.shape && pa == pb;
  return !in_step && (ab == a.length || ba == b.length);
}

/// Whether two live ranges may interfere at some addresses, by their times alone.
bool meet(const LiveRange& a, const LiveRange& b, int body_length) {
  const auto segments_meet = [&](const Segment& p, const Segment& q) {
    if (p.length >= body_length || q.length >= body_length) return true;
    return distance(p.from, q.from, body_length) <= p.length ||
           distance(q.from, p.from, body_length) <= q.length;
  };
  for (const Segment& p : a.segments)
    for (const Segment& q : b.segments)
      if (segments_meet(p, q)) return true;
  return false;
}

bool interfere(const LiveRange& a, int at_a, const LiveRange& b, int at_b, int body_length) {
  for (const Segment& p : a.segments)
    for (const Segment& q : b.segments)
      if (interfere(p, at_a, q, at_b, body_length)) return true;
  return false;
}

bool spans_body(const LiveRange& t, int body_length) {
  return std::any_of(t.segments.begin(), t.segments.end(),
                     [&](const Segment& p) { return p.length >= body_length; });
}

/// Backtracking search that continues with the live range that has the fewest possible addresses,
/// of those the widest.
class RangeSearch {
 public:
  RangeSearch(std::vector<LiveRange>& ranges, int body_length, unsigned capacity, unsigned steps)
      : ranges_(ranges),
        body_length_(body_length),
        capacity_(static_cast<int>(capacity)),
        steps_left_(steps),
        open_(ranges.size(), 0),
        key_(ranges.size(), assigned),
        neighbours_(ranges.size()) {}

  bool run() {
    for (std::size_t i = 0; i < ranges_.size(); ++i)
      for (std::size_t j = 0; j < i; ++j)
        if (meet(ranges_[i], ranges_[j], body_length_)) {
          neighbours_[i].push_back(j);
          neighbours_[j].push_back(i);
        }
    for (std::size_t i = 0; i < ranges_.size(); ++i) {
      const LiveRange& t = ranges_[i];
      if (t.address >= 0) continue;
      std::uint64_t open = 0;
      for (int k = 0; k < 64 && k * t.align + t.span <= capacity_; ++k)
        open |= std::uint64_t{1} << k;
      set_open(i, open);
    }
    for (std::size_t i = 0; i < ranges_.size(); ++i)
      if (ranges_[i].address >= 0) restrict(i);
    return descend();
  }

 private:
  static constexpr std::uint32_t assigned = std::numeric_limits<std::uint32_t>::max();
  /// Less for fewer addresses, then for wider ranges.
  static constexpr std::uint32_t one_address = 1U << 16;

  void set_open(std::size_t i, std::uint64_t open) {
    open_[i] = open;
    key_[i] = static_cast<std::uint32_t>(std::popcount(open)) * one_address + one_address - 1 -
              static_cast<std::uint32_t>(ranges_[i].span);
  }

  /// Remove the addresses of other live ranges that interfere with live range `i`.
  void restrict(std::size_t i) {
    const LiveRange& t = ranges_[i];
    for (const std::size_t j : neighbours_[i]) {
      const LiveRange& other = ranges_[j];
      if (other.address >= 0) continue;
      std::uint64_t open = open_[j];
      for (std::uint64_t left = open; left != 0; left &= left - 1) {
        const int k = std::countr_zero(left);
        if (interfere(t, t.address, other, k * other.align, body_length_))
          open &= ~(std::uint64_t{1} << k);
      }
      if (open == open_[j]) continue;
      replaced_.emplace_back(j, open_[j]);
      set_open(j, open);
    }
  }

  bool descend() {
    const auto least = std::ranges::min_element(key_);
    if (least == key_.end() || *least == assigned) return true;
    if (*least < one_address) return false;
    const auto next = static_cast<std::size_t>(least - key_.begin());
    const std::uint32_t key = *least;
    LiveRange& t = ranges_[next];
    for (std::uint64_t left = open_[next]; left != 0; left &= left - 1) {
      if (steps_left_ == 0) return false;
      --steps_left_;
      t.address = std::countr_zero(left) * t.align;
      key_[next] = assigned;
      const std::size_t mark = replaced_.size();
      restrict(next);
      if (descend()) return true;
      for (; replaced_.size() > mark; replaced_.pop_back())
        set_open(replaced_.back().first, replaced_.back().second);
      key_[next] = key;
      t.address = -1;
    }
    return false;
  }

  std::vector<LiveRange>& ranges_;
  int body_length_, capacity_;
  unsigned steps_left_;
  std::vector<std::uint64_t>
      open_;                        ///< possible addresses of each range, in units of its alignment
  std::vector<std::uint32_t> key_;  ///< cost of a range, which the choice of the next one minimises
  std::vector<std::vector<std::size_t>> neighbours_;  ///< ranges that meet it
  /// Words of `open_` before restrictions, to take these back.
  std::vector<std::pair<std::size_t, std::uint64_t>> replaced_;
};

/// Allocated live ranges: the shorts that are in use in each instruction of the body, and the
/// ranges that begin and end there.
class OccupancyMap {
 public:
  OccupancyMap(std::vector<LiveRange>& ranges, int body_length, unsigned capacity)
      : ranges_(ranges),
        body_length_(body_length),
        capacity_(static_cast<int>(capacity)),
        words_((capacity + 63) / 64),
        used_(static_cast<std::size_t>(body_length) * words_),
        used_in_block_((static_cast<std::size_t>(body_length) / block + 1) * words_),
        begins_(static_cast<std::size_t>(body_length)),
        ends_(static_cast<std::size_t>(body_length)) {
    for (std::size_t i = 0; i < ranges_.size(); ++i)
      if (ranges_[i].address >= 0) add(i);
  }

  /// Assign the first free address; false if there is none.
  bool first_fit(std::size_t i) {
    LiveRange& t = ranges_[i];
    find_used(t);
    for (int at = 0; at + t.span <= capacity_; at += t.align) {
      if (!is_free(t, at)) continue;
      t.address = at;
      add(i);
      return true;
    }
    return false;
  }

 private:
  static constexpr std::size_t block = 32;  ///< instructions

  std::size_t instruction(int time) const { return static_cast<std::size_t>(time % body_length_); }

  /// Visit the instructions of a segment as one or two ranges of the body.
  template <typename Action>
  void for_ranges(const Segment& p, const Action& action) const {
    const auto length = static_cast<std::size_t>(std::min(p.length, body_length_));
    const auto body = static_cast<std::size_t>(body_length_);
    const std::size_t first = instruction(p.from), end = std::min(first + length, body);
    action(first, end);
    if (first + length > body) action(std::size_t{0}, first + length - body);
  }

  void mark(std::size_t first, std::size_t end, std::size_t word, std::uint64_t bits) {
    for (std::size_t t = first; t < end; ++t) used_[t * words_ + word] |= bits;
    for (std::size_t b = first / block; b * block < end; ++b)
      used_in_block_[b * words_ + word] |= bits;
  }

  /// Add the shorts in use from one instruction to another: at the ends by instruction, between
  /// them by block.
  void collect(std::size_t first, std::size_t end, std::uint64_t* into) const {
    const auto add = [&](const std::uint64_t* used) {
      for (std::size_t w = 0; w < words_; ++w) into[w] |= used[w];
    };
    for (std::size_t t = first; t < end;) {
      if (t % block == 0 && t + block <= end) {
        add(&used_in_block_[t / block * words_]);
        t += block;
      } else {
        add(&used_[t++ * words_]);
      }
    }
  }

  /// Visit the shorts of a segment at an address of its range, as words and bits.
  template <typename Action>
  void for_shorts(const Segment& p, int at, const Action& action) const {
    for (int k = std::max(at + p.offset, 0); k < std::min(at + p.offset + p.shorts, capacity_); ++k)
      action(static_cast<std::size_t>(k / 64), std::uint64_t{1} << (k % 64));
  }

  void add(std::size_t i) {
    const LiveRange& t = ranges_[i];
    for (const Segment& p : t.segments) {
      std::vector<std::uint64_t> bits(words_, 0);
      for_shorts(p, t.address, [&](std::size_t word, std::uint64_t bit) { bits[word] |= bit; });
      for (std::size_t w = 0; w < words_; ++w)
        if (bits[w] != 0)
          for_ranges(p, [&](std::size_t first, std::size_t end) { mark(first, end, w, bits[w]); });
      begins_[instruction(p.from)].push_back(i);
      ends_[instruction(p.from + p.length)].push_back(i);
    }
  }

  /// The shorts that are in use during each segment.
  void find_used(const LiveRange& t) {
    used_during_.assign(t.segments.size() * words_, 0);
    for (std::size_t s = 0; s < t.segments.size(); ++s)
      for_ranges(t.segments[s], [&](std::size_t first, std::size_t end) {
        collect(first, end, &used_during_[s * words_]);
      });
  }

  /// Ranges that only touch in time interfere unless they are written element after element.
  bool is_free(const LiveRange& t, int at) const {
    for (std::size_t s = 0; s < t.segments.size(); ++s) {
      bool free = true;
      for_shorts(t.segments[s], at, [&](std::size_t word, std::uint64_t bit) {
        free = free && (used_during_[s * words_ + word] & bit) == 0;
      });
      if (!free) return false;
    }
    const auto interferes = [&](std::size_t i) {
      return interfere(t, at, ranges_[i], ranges_[i].address, body_length_);
    };
    return std::ranges::none_of(t.segments, [&](const Segment& p) {
      return std::ranges::any_of(ends_[instruction(p.from)], interferes) ||
             std::ranges::any_of(begins_[instruction(p.from + p.length)], interferes);
    });
  }

  std::vector<LiveRange>& ranges_;
  int body_length_, capacity_;
  std::size_t words_;                         ///< words of 64 shorts
  std::vector<std::uint64_t> used_;           ///< shorts in use, indexed by instruction
  std::vector<std::uint64_t> used_in_block_;  ///< addresses used in any instruction of a block
  std::vector<std::vector<std::size_t>> begins_, ends_;  ///< ranges by instruction
  std::vector<std::uint64_t> used_during_;  ///< used shorts, by segment of the current range
};

}  // namespace

Pressure max_pressure(const std::vector<LiveRange>& ranges, int body_length) {
  // Differences of usage between successive instructions.
  std::vector<int> usage(static_cast<std::size_t>(body_length), 0);
  for (const LiveRange& t : ranges)
    for (const Segment& p : t.segments) {
      const int length = std::min(p.length, body_length), from = p.from % body_length;
      if (length <= 0) continue;
      usage[static_cast<std::size_t>(from)] += p.shorts;
      if (from + length < body_length) {
        usage[static_cast<std::size_t>(from + length)] -= p.shorts;
      } else if (from + length > body_length) {
        usage[0] += p.shorts;
        usage[static_cast<std::size_t>(from + length - body_length)] -= p.shorts;
      }
    }
  std::partial_sum(usage.begin(), usage.end(), usage.begin());
  const auto most = std::max_element(usage.begin(), usage.end());
  return {*most, static_cast<int>(most - usage.begin())};
}

bool assign_addresses(std::vector<LiveRange>& ranges, int body_length, unsigned capacity,
                      unsigned steps) {
  // Ranges that span the whole body are packed first, the widest first.
  std::vector<std::size_t> order;
  for (std::size_t i = 0; i < ranges.size(); ++i)
    if (spans_body(ranges[i], body_length)) order.push_back(i);
  std::stable_sort(order.begin(), order.end(),
                   [&](std::size_t a, std::size_t b) { return ranges[a].span > ranges[b].span; });
  OccupancyMap occupancy(ranges, body_length, capacity);
  for (const std::size_t i : order)
    if (!occupancy.first_fit(i)) return false;
  constexpr std::size_t max_searched = 1000;  // the search is quadratic in the number of ranges
  if (ranges.size() > max_searched) return assign_first_fit(ranges, body_length, capacity);
  return RangeSearch(ranges, body_length, capacity, steps).run();
}

bool assign_first_fit(std::vector<LiveRange>& ranges, int body_length, unsigned capacity) {
  OccupancyMap occupancy(ranges, body_length, capacity);
  for (std::size_t i = 0; i < ranges.size(); ++i)
    if (ranges[i].address < 0 && !occupancy.first_fit(i)) return false;
  return true;
}

}  // namespace gdr::kc
