#include "emulator/engine/native/idiom_domain.hpp"

#include <cmath>
#include <iterator>

namespace gdr::native {

const Domain& Domain::all() {
  static const Domain domain;
  return domain;
}

Domain::Domain() {
  for (std::size_t i = 0; i < row_lanes; ++i) {
    // Three of four are positive.
    const int exponent = static_cast<int>(i * 37 % 407) - 203;
    add(i % 4 == 3, static_cast<unsigned>(static_cast<int>(bias) + exponent), fraction());
  }
  for (const bool negative : {false, true}) {
    for (unsigned exponent = 1; exponent <= last_exponent; ++exponent) {
      add(negative, exponent, fraction());
      add(negative, exponent, fraction());
    }
    for (const unsigned exponent : {bias, bias + 1}) {
      constexpr std::uint64_t step = std::uint64_t{1} << 46;
      for (std::uint64_t m = 0; m < 64; ++m) add(negative, exponent, m * step);
      for (std::uint64_t m = 1; m <= 64; ++m) add(negative, exponent, m * step - 1);
    }
  }
  while (lane_ != 0) add(false, bias, 0);
  special_.fill(std::bit_cast<std::uint64_t>(1.0));
  const double specials[] = {0.0, -0.0, INFINITY, -INFINITY, NAN};
  for (std::size_t i = 0; i < std::size(specials); ++i) {
    special_[i] = std::bit_cast<std::uint64_t>(specials[i]);
  }
}

/// Multiples of the golden ratio: any number of them lie evenly between 0 and 1.
std::uint64_t Domain::fraction() { return (golden_ += 0x9e3779b97f4a7c15U) >> 12; }

void Domain::add(bool negative, unsigned exponent, std::uint64_t fraction) {
  if (lane_ == 0) points_.emplace_back();
  Points& p = points_.back();
  p.x[lane_] = (std::uint64_t{negative} << 63) | (std::uint64_t{exponent} << 52) | fraction;
  p.recip[lane_] = number_at(p.x, lane_);
  p.rsqrt[lane_] = std::sqrt(std::abs(number_at(p.x, lane_)));
  lane_ = (lane_ + 1) % row_lanes;
}

}  // namespace gdr::native
