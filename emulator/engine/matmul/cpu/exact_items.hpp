// The packed B of exact products: the items of a task, truncated to the multiplier's 50 bits, with
// their exponents.
#pragma once

#include "emulator/engine/matmul/cpu/functions.hpp"

namespace gdr {

/// How hosts with few lanes pack items. `Host`: its type lies in an unnamed namespace, so that
/// every instruction set has functions of its own.
template <class Host>
struct ItemsOneByOne {
  /// Interleaves four columns (null: zeros), truncated to the multiplier's bits. Zeros keep their
  /// sign, infinities and NaN all bits for the integer fallback. `least`: exponent of each factor.
  static ExponentInterval gather(const std::uint64_t* const (&columns)[4], std::size_t n,
                                 double* to, std::int16_t* least) {
    ExponentInterval interval{last_exponent, 0};
    for (std::size_t k = 0; k < n; ++k) {
      std::uint64_t row[4];
      int min_here = last_exponent;
      for (std::size_t j = 0; j < 4; ++j) {
        const std::uint64_t x = columns[j] == nullptr ? 0 : columns[j][k];
        const int e = static_cast<int>(x >> 52 & last_exponent);
        row[j] = x & ~std::uint64_t{7};
        if (e == 0) row[j] = x & std::uint64_t{1} << 63;
        if (e == last_exponent) row[j] = x;
        if (e != 0 && e < min_here) min_here = e;
        if (e > interval.most) interval.most = e;
      }
      __builtin_memcpy(to + 4 * k, row, sizeof row);
      least[k] = static_cast<std::int16_t>(min_here);
      if (min_here < interval.least) interval.least = min_here;
    }
    return interval;
  }
};

/// Groups of nr items, interleaved. `Host`: vectors of the instruction set.
template <class Host>
class ExactItems {
 public:
  static constexpr std::size_t nr = exact_nr;

  static std::size_t groups(const MatmulTask& t) { return (t.columns + nr - 1) / nr; }
  /// Doubles of memory.
  static std::size_t size(const MatmulTask& t) {
    return groups(t) * group_size(t) + intervals_size(t) + min_size(t);
  }

  ExactItems(const MatmulTask& t, double* memory)
      : t_(t),
        items_(memory),
        intervals_(reinterpret_cast<ExponentInterval*>(items_ + groups(t) * group_size(t))),
        least_(reinterpret_cast<std::int16_t*>(intervals_ + intervals_size(t))) {
    static_assert(sizeof(ExponentInterval) == sizeof(double));
  }

  void pack() {
    const std::size_t depth = t_.factors.depth;
    for (std::size_t g = 0; g < groups(t_); ++g) {
      for (std::size_t chip = 0; chip < t_.factors.chips; ++chip) {
        for (std::size_t block = 0; block < t_.factors.blocks; ++block) {
          const std::size_t at = chip * t_.factors.blocks + block;
          const std::uint64_t* columns[nr];  // zeros where there is none
          for (std::size_t j = 0; j < nr; ++j) {
            const std::size_t column = g * nr + j;
            columns[j] = column < t_.columns
                             ? t_.records[column * t_.factors.chips + chip] + block * depth
                             : nullptr;
          }
          const std::size_t place = g * blocks(t_) + at;
          const ExponentInterval interval =
              Host::gather(columns, depth, items_ + place * depth * nr, least_ + place * depth);
          intervals_[place] = interval.least > interval.most ? ExponentInterval{} : interval;
        }
      }
    }
  }

  /// A group's items: [chip][block][factor][item].
  const double* items(std::size_t group) const { return items_ + group * group_size(t_); }
  /// Their intervals: [chip][block].
  const ExponentInterval* intervals(std::size_t group) const {
    return intervals_ + group * blocks(t_);
  }
  /// Least exponents: [chip][block][factor].
  const std::int16_t* least(std::size_t group) const {
    return least_ + group * blocks(t_) * t_.factors.depth;
  }

 private:
  static std::size_t blocks(const MatmulTask& t) { return t.factors.chips * t.factors.blocks; }
  static std::size_t group_size(const MatmulTask& t) { return blocks(t) * t.factors.depth * nr; }
  static std::size_t intervals_size(const MatmulTask& t) {
    return whole_lines(groups(t) * blocks(t));
  }
  static std::size_t min_size(const MatmulTask& t) {
    return whole_lines((groups(t) * blocks(t) * t.factors.depth + 3) / 4);
  }
  static std::size_t whole_lines(std::size_t doubles) { return (doubles + 7) / 8 * 8; }

  const MatmulTask& t_;
  double* const items_;
  ExponentInterval* const intervals_;
  std::int16_t* const least_;
};

}  // namespace gdr
