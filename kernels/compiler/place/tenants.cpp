#include "kernels/compiler/place/tenants.hpp"

#include <algorithm>
#include <bit>
#include <cstddef>
#include <numeric>

namespace gdr::kc {
namespace {

bool clash(const Piece& a, int at_a, const Piece& b, int at_b, int ring) {
  const int pa = at_a + a.offset, pb = at_b + b.offset;
  if (pa + a.shorts <= pb || pb + b.shorts <= pa) return false;
  if (a.length >= ring || b.length >= ring) return true;
  const int ab = ((b.from - a.from) % ring + ring) % ring;
  const int ba = ((a.from - b.from) % ring + ring) % ring;
  if (ab < a.length || ba < b.length) return true;
  const bool in_step = a.shape != 0 && a.shape == b.shape && pa == pb;
  return !in_step && (ab == a.length || ba == b.length);
}

bool clash(const Tenant& a, int at_a, const Tenant& b, int at_b, int ring) {
  for (const Piece& p : a.pieces)
    for (const Piece& q : b.pieces)
      if (clash(p, at_a, q, at_b, ring)) return true;
  return false;
}

bool whole(const Tenant& t, int ring) {
  return std::any_of(t.pieces.begin(), t.pieces.end(),
                     [&](const Piece& p) { return p.length >= ring; });
}

/// Depth-first search that always goes on with the tenant that has the fewest addresses left.
class Search {
 public:
  Search(std::vector<Tenant>& tenants, int ring, int places, unsigned steps)
      : tenants_(tenants), ring_(ring), places_(places), steps_(steps) {}

  bool run() {
    std::vector<std::uint64_t> open(tenants_.size(), 0);
    for (std::size_t i = 0; i < tenants_.size(); ++i) {
      const Tenant& t = tenants_[i];
      if (t.address >= 0) continue;
      for (int k = 0; k < 64 && k * t.align + t.span <= places_; ++k)
        open[i] |= std::uint64_t{1} << k;
    }
    for (std::size_t i = 0; i < tenants_.size(); ++i)
      if (tenants_[i].address >= 0) restrict(open, i);
    return descend(open);
  }

 private:
  /// Take from the others the addresses that tenant `i` makes impossible.
  void restrict(std::vector<std::uint64_t>& open, std::size_t i) const {
    const Tenant& t = tenants_[i];
    for (std::size_t j = 0; j < tenants_.size(); ++j) {
      const Tenant& other = tenants_[j];
      if (other.address >= 0) continue;
      for (std::uint64_t left = open[j]; left != 0; left &= left - 1) {
        const int k = std::countr_zero(left);
        if (clash(t, t.address, other, k * other.align, ring_)) open[j] &= ~(std::uint64_t{1} << k);
      }
    }
  }

  bool descend(const std::vector<std::uint64_t>& open) {
    std::size_t next = tenants_.size();
    int fewest = 65;
    for (std::size_t i = 0; i < tenants_.size(); ++i) {
      if (tenants_[i].address >= 0) continue;
      const int n = std::popcount(open[i]);
      if (n == 0) return false;
      if (n < fewest || (n == fewest && tenants_[i].span > tenants_[next].span)) {
        fewest = n;
        next = i;
      }
    }
    if (next == tenants_.size()) return true;
    Tenant& t = tenants_[next];
    for (std::uint64_t left = open[next]; left != 0; left &= left - 1) {
      if (steps_ == 0) return false;
      --steps_;
      t.address = std::countr_zero(left) * t.align;
      std::vector<std::uint64_t> rest = open;
      restrict(rest, next);
      if (descend(rest)) return true;
      t.address = -1;
    }
    return false;
  }

  std::vector<Tenant>& tenants_;
  int ring_, places_;
  unsigned steps_;
};

/// Tenants that have an address, by the shorts and the stretch of the ring that they take: only
/// those in the same shorts at about the same time can be in the way of another.
class Occupied {
 public:
  Occupied(std::vector<Tenant>& tenants, int ring, int places)
      : tenants_(tenants),
        ring_(ring),
        places_(places),
        stretches_(ring / stretch + 1),
        taken_(static_cast<std::size_t>(places * stretches_)) {
    for (std::size_t i = 0; i < tenants_.size(); ++i)
      if (tenants_[i].address >= 0) add(i);
  }

  /// Gives a tenant the first address that is free; false if there is none.
  bool first_fit(std::size_t i) {
    Tenant& t = tenants_[i];
    for (int at = 0; at + t.span <= places_; at += t.align) {
      if (!is_free(t, at)) continue;
      t.address = at;
      add(i);
      return true;
    }
    return false;
  }

 private:
  static constexpr int stretch = 64;  ///< instructions

  /// Does something for each place and stretch, until it returns false. A piece touches the
  /// instruction behind its end, too.
  template <typename Action>
  bool for_all(const Tenant& t, int at, const Action& action) const {
    for (const Piece& p : t.pieces) {
      const int last = p.from + std::min(p.length, ring_);
      for (int k = std::max(at + p.offset, 0); k < std::min(at + p.offset + p.shorts, places_); ++k)
        for (int time = p.from; time <= last;) {
          const int in_ring = time % ring_;
          if (!action(static_cast<std::size_t>(k * stretches_ + in_ring / stretch))) return false;
          // On to the next stretch, which the end of the ring cuts short.
          time += std::min(stretch - in_ring % stretch, ring_ - in_ring);
        }
    }
    return true;
  }

  void add(std::size_t i) {
    for_all(tenants_[i], tenants_[i].address, [&](std::size_t k) {
      taken_[k].push_back(i);
      return true;
    });
  }

  bool is_free(const Tenant& t, int at) const {
    return for_all(t, at, [&](std::size_t k) {
      return std::none_of(taken_[k].begin(), taken_[k].end(), [&](std::size_t i) {
        return clash(t, at, tenants_[i], tenants_[i].address, ring_);
      });
    });
  }

  std::vector<Tenant>& tenants_;
  int ring_, places_, stretches_;
  std::vector<std::vector<std::size_t>> taken_;
};

}  // namespace

Pressure highest_pressure(const std::vector<Tenant>& tenants, int ring) {
  // By how much more is taken at each instruction than at the one before it.
  std::vector<int> taken(static_cast<std::size_t>(ring), 0);
  for (const Tenant& t : tenants)
    for (const Piece& p : t.pieces) {
      const int length = std::min(p.length, ring), from = p.from % ring;
      if (length <= 0) continue;
      taken[static_cast<std::size_t>(from)] += p.shorts;
      if (from + length < ring) {
        taken[static_cast<std::size_t>(from + length)] -= p.shorts;
      } else if (from + length > ring) {
        taken[0] += p.shorts;
        taken[static_cast<std::size_t>(from + length - ring)] -= p.shorts;
      }
    }
  std::partial_sum(taken.begin(), taken.end(), taken.begin());
  const auto most = std::max_element(taken.begin(), taken.end());
  return {*most, static_cast<int>(most - taken.begin())};
}

bool assign(std::vector<Tenant>& tenants, int ring, int places, unsigned steps) {
  // What stays for the whole loop goes side by side, the widest first.
  std::vector<std::size_t> order;
  for (std::size_t i = 0; i < tenants.size(); ++i)
    if (whole(tenants[i], ring)) order.push_back(i);
  std::stable_sort(order.begin(), order.end(),
                   [&](std::size_t a, std::size_t b) { return tenants[a].span > tenants[b].span; });
  Occupied occupied(tenants, ring, places);
  for (const std::size_t i : order)
    if (!occupied.first_fit(i)) return false;
  constexpr std::size_t most_searched = 1000;  // the search takes the square of their number
  if (tenants.size() > most_searched) return assign_in_order(tenants, ring, places);
  return Search(tenants, ring, places, steps).run();
}

bool assign_in_order(std::vector<Tenant>& tenants, int ring, int places) {
  Occupied occupied(tenants, ring, places);
  for (std::size_t i = 0; i < tenants.size(); ++i)
    if (tenants[i].address < 0 && !occupied.first_fit(i)) return false;
  return true;
}

}  // namespace gdr::kc
