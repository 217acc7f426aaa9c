#include "emulator/engine/native/translate/idiom_domain.hpp"

#include <cmath>
#include <iterator>

namespace gdr::native {
namespace {

IdiomDomain make_idiom_domain() {
  IdiomDomain domain;
  std::size_t lane = 0;
  const auto add = [&](bool negative, unsigned exponent, std::uint64_t fraction) {
    if (lane == 0) domain.points.emplace_back();
    SamplePoints& p = domain.points.back();
    p.x[lane] = (std::uint64_t{negative} << 63) | (std::uint64_t{exponent} << 52) | fraction;
    p.recip[lane] = number_at(p.x, lane);
    p.rsqrt[lane] = std::sqrt(std::abs(number_at(p.x, lane)));
    lane = (lane + 1) % row_lanes;
  };
  // Multiples of the golden ratio, which are evenly distributed between 0 and 1.
  std::uint64_t golden = 0;
  const auto fraction = [&] { return (golden += 0x9e3779b97f4a7c15U) >> 12; };
  for (std::size_t i = 0; i < row_lanes; ++i) {
    // Three of four are positive.
    const int exponent = static_cast<int>(i * 37 % 407) - 203;
    add(i % 4 == 3, static_cast<unsigned>(static_cast<int>(exponent_bias) + exponent), fraction());
  }
  for (const bool negative : {false, true}) {
    for (unsigned exponent = 1; exponent <= last_exponent; ++exponent) {
      add(negative, exponent, fraction());
      add(negative, exponent, fraction());
    }
    for (const unsigned exponent : {exponent_bias, exponent_bias + 1}) {
      constexpr std::uint64_t step = std::uint64_t{1} << 46;
      for (std::uint64_t m = 0; m < 64; ++m) add(negative, exponent, m * step);
      for (std::uint64_t m = 1; m <= 64; ++m) add(negative, exponent, m * step - 1);
    }
  }
  while (lane != 0) add(false, exponent_bias, 0);
  domain.special.fill(std::bit_cast<std::uint64_t>(1.0));
  const double specials[] = {0.0, -0.0, INFINITY, -INFINITY, NAN};
  for (std::size_t i = 0; i < std::size(specials); ++i) {
    domain.special[i] = std::bit_cast<std::uint64_t>(specials[i]);
  }
  return domain;
}

}  // namespace

const IdiomDomain& idiom_domain() {
  static const IdiomDomain made = make_idiom_domain();
  return made;
}

}  // namespace gdr::native
