// The distributions of the random operands.
#include "support/oracle_cases.hpp"

#include <algorithm>
#include <array>
#include <cstdlib>

namespace oracle {
namespace {

Word make(Format format, bool negative, long field, std::uint64_t fraction) {
  const Bits mask = (Bits{1} << format.fraction_bits) - 1;
  return {format, (Bits{negative} << (format.width() - 1)) |
                      (static_cast<Bits>(field) << format.fraction_bits) | (fraction & mask)};
}

long highest_field(Format format) { return (1L << format.exponent_bits) - 1; }

}  // namespace

/// A fraction of `count` bits: random, or ones and zeros in runs, or a tie (and its neighbours) at
/// the places where the formats round: 24, 25, 50, 53 and 61 significant bits.
std::uint64_t Cases::fraction(int count) {
  const std::uint64_t all = (std::uint64_t{1} << count) - 1;
  const std::uint64_t low = (std::uint64_t{1} << below(static_cast<std::uint64_t>(count) + 1)) - 1;
  switch (below(9)) {
    case 0:
      return 0;
    case 1:
      return all;
    case 2:
      return low;  // zeros, then ones
    case 3:
      return all & ~low;  // ones, then zeros
    case 4:
      return std::uint64_t{1} << below(static_cast<std::uint64_t>(count));
    case 5:
      return bits() & bits() & bits() & all;  // few ones
    case 6: {
      constexpr std::array<int, 5> significant{24, 25, 50, 53, 61};
      const int kept = significant[below(significant.size())] - 1;
      if (kept >= count) return bits() & all;
      const std::uint64_t half = std::uint64_t{1} << (count - kept - 1);
      const std::uint64_t upper = (below(2) != 0 ? bits() : all) & all & ~(2 * half - 1);
      return (upper | half) + below(3) - 1;
    }
    default:
      return bits() & all;
  }
}

long Cases::exponent_field(Format format) {
  const long top = highest_field(format);
  const long middle = top / 2;
  switch (below(8)) {
    case 0:
      return 0;
    case 1:
      return 1 + static_cast<long>(below(3));
    case 2:
      return top - static_cast<long>(below(3));
    case 3:
      return middle + static_cast<long>(below(5)) - 2;
    case 4:
      return middle / 2 + static_cast<long>(below(130)) - 65;  // products near underflow
    case 5:
      return middle + middle / 2 + static_cast<long>(below(130)) - 65;  // and near overflow
    default:
      return static_cast<long>(below(static_cast<std::uint64_t>(top) + 1));
  }
}

Word Cases::word(Format format) {
  return make(format, below(2) != 0, exponent_field(format), fraction(format.fraction_bits));
}

/// A second operand related to the first: a sum whose bits overlap or are adjacent, or a
/// cancellation; a product close to a limit of the range.
Word Cases::relative(Word other, Format format, Op op) {
  const long top = highest_field(format);
  const long other_field = static_cast<long>(other.bits >> other.format.fraction_bits) & top;
  const bool product = op == Op::Fmul || op == Op::Dmul;
  long field = 0;
  if (product) {
    const long limit = below(2) != 0 ? 1 : 2 * 1023 + 1;  // fields that add up to one end
    field = limit + 1023 - other_field + static_cast<long>(below(5)) - 2;
  } else {
    const auto distance = static_cast<long>(below(72));
    field = below(2) != 0 ? other_field - distance : other_field + distance;
    if (below(3) == 0) field = other_field + static_cast<long>(below(3)) - 1;
  }
  field = std::clamp(field, 0L, top);
  std::uint64_t value = fraction(format.fraction_bits);
  if (!product && below(4) == 0) {  // nearly the same leading bits
    const auto whole = static_cast<std::uint64_t>(other.bits) &
                       ((std::uint64_t{1} << other.format.fraction_bits) - 1);
    const int shift = other.format.fraction_bits - format.fraction_bits;
    value = (shift >= 0 ? whole >> shift : whole << -shift) + below(5) - 2;
  }
  return make(format, below(2) != 0, field, value);
}

Case Cases::next(Op op) {
  const auto format = [&] { return below(2) != 0 ? long_format : short_format; };
  Case drawn{op, word(format()), {}, format()};
  if (op == Op::Cvt) {
    constexpr std::array formats{long_format, short_format, double_format};
    drawn.a = word(formats[below(formats.size())]);
    drawn.b = drawn.a;
    drawn.out = formats[below(formats.size())];
    return drawn;
  }
  drawn.b = below(3) == 0 ? word(format()) : relative(drawn.a, format(), op);
  if (below(2) != 0 && !(op == Op::Fmul && below(2) != 0)) std::swap(drawn.a, drawn.b);
  return drawn;
}

}  // namespace oracle
