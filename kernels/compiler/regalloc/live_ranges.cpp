#include "kernels/compiler/regalloc/live_ranges.hpp"

#include <algorithm>
#include <bit>
#include <cstddef>
#include <numeric>

namespace gdr::kc {
namespace {

bool interfere(const Segment& a, int at_a, const Segment& b, int at_b, int body_length) {
  const int pa = at_a + a.offset, pb = at_b + b.offset;
  if (pa + a.shorts <= pb || pb + b.shorts <= pa) return false;
  if (a.length >= body_length || b.length >= body_length) return true;
  const int ab = ((b.from - a.from) % body_length + body_length) % body_length;
  const int ba = ((a.from - b.from) % body_length + body_length) % body_length;
  if (ab < a.length || ba < b.length) return true;
  const bool in_step = a.shape != 0 && a.shape == b.shape && pa == pb;
  return !in_step && (ab == a.length || ba == b.length);
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

/// Backtracking search that continues with the live range that has the fewest possible addresses.
class Search {
 public:
  Search(std::vector<LiveRange>& ranges, int body_length, unsigned capacity, unsigned steps)
      : ranges_(ranges),
        body_length_(body_length),
        capacity_(static_cast<int>(capacity)),
        steps_left_(steps) {}

  bool run() {
    std::vector<std::uint64_t> open(ranges_.size(), 0);
    for (std::size_t i = 0; i < ranges_.size(); ++i) {
      const LiveRange& t = ranges_[i];
      if (t.address >= 0) continue;
      for (int k = 0; k < 64 && k * t.align + t.span <= capacity_; ++k)
        open[i] |= std::uint64_t{1} << k;
    }
    for (std::size_t i = 0; i < ranges_.size(); ++i)
      if (ranges_[i].address >= 0) restrict(open, i);
    return descend(open);
  }

 private:
  /// Remove the addresses of other live ranges that interfere with live range `i`.
  void restrict(std::vector<std::uint64_t>& open, std::size_t i) const {
    const LiveRange& t = ranges_[i];
    for (std::size_t j = 0; j < ranges_.size(); ++j) {
      const LiveRange& other = ranges_[j];
      if (other.address >= 0) continue;
      for (std::uint64_t left = open[j]; left != 0; left &= left - 1) {
        const int k = std::countr_zero(left);
        if (interfere(t, t.address, other, k * other.align, body_length_))
          open[j] &= ~(std::uint64_t{1} << k);
      }
    }
  }

  bool descend(const std::vector<std::uint64_t>& open) {
    std::size_t next = ranges_.size();
    int fewest = 65;
    for (std::size_t i = 0; i < ranges_.size(); ++i) {
      if (ranges_[i].address >= 0) continue;
      const int n = std::popcount(open[i]);
      if (n == 0) return false;
      if (n < fewest || (n == fewest && ranges_[i].span > ranges_[next].span)) {
        fewest = n;
        next = i;
      }
    }
    if (next == ranges_.size()) return true;
    LiveRange& t = ranges_[next];
    for (std::uint64_t left = open[next]; left != 0; left &= left - 1) {
      if (steps_left_ == 0) return false;
      --steps_left_;
      t.address = std::countr_zero(left) * t.align;
      std::vector<std::uint64_t> rest = open;
      restrict(rest, next);
      if (descend(rest)) return true;
      t.address = -1;
    }
    return false;
  }

  std::vector<LiveRange>& ranges_;
  int body_length_, capacity_;
  unsigned steps_left_;
};

/// Allocated live ranges, indexed by short and time bucket: only those in the same shorts at about
/// the same time can interfere.
class OccupancyMap {
 public:
  OccupancyMap(std::vector<LiveRange>& ranges, int body_length, unsigned capacity)
      : ranges_(ranges),
        body_length_(body_length),
        capacity_(static_cast<int>(capacity)),
        buckets_(body_length / bucket_length + 1),
        taken_(static_cast<std::size_t>(capacity_ * buckets_)) {
    for (std::size_t i = 0; i < ranges_.size(); ++i)
      if (ranges_[i].address >= 0) add(i);
  }

  /// Assign the first free address; false if there is none.
  bool first_fit(std::size_t i) {
    LiveRange& t = ranges_[i];
    for (int at = 0; at + t.span <= capacity_; at += t.align) {
      if (!is_free(t, at)) continue;
      t.address = at;
      add(i);
      return true;
    }
    return false;
  }

 private:
  static constexpr int bucket_length = 64;  ///< instructions per bucket

  /// Visit each short and time bucket of a range until `action` returns false. A segment includes
  /// the instruction after its end.
  template <typename Action>
  bool for_all(const LiveRange& t, int at, const Action& action) const {
    for (const Segment& p : t.segments) {
      const int last = p.from + std::min(p.length, body_length_);
      for (int k = std::max(at + p.offset, 0); k < std::min(at + p.offset + p.shorts, capacity_);
           ++k)
        for (int time = p.from; time <= last;) {
          const int in_ring = time % body_length_;
          if (!action(static_cast<std::size_t>(k * buckets_ + in_ring / bucket_length)))
            return false;
          // Continue with the next bucket; the last one of the body is shorter.
          time += std::min(bucket_length - in_ring % bucket_length, body_length_ - in_ring);
        }
    }
    return true;
  }

  void add(std::size_t i) {
    for_all(ranges_[i], ranges_[i].address, [&](std::size_t k) {
      taken_[k].push_back(i);
      return true;
    });
  }

  bool is_free(const LiveRange& t, int at) const {
    return for_all(t, at, [&](std::size_t k) {
      return std::none_of(taken_[k].begin(), taken_[k].end(), [&](std::size_t i) {
        return interfere(t, at, ranges_[i], ranges_[i].address, body_length_);
      });
    });
  }

  std::vector<LiveRange>& ranges_;
  int body_length_, capacity_, buckets_;
  std::vector<std::vector<std::size_t>> taken_;
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
  return Search(ranges, body_length, capacity, steps).run();
}

bool assign_first_fit(std::vector<LiveRange>& ranges, int body_length, unsigned capacity) {
  OccupancyMap occupancy(ranges, body_length, capacity);
  for (std::size_t i = 0; i < ranges.size(); ++i)
    if (ranges[i].address < 0 && !occupancy.first_fit(i)) return false;
  return true;
}

}  // namespace gdr::kc
