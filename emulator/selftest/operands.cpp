#include "emulator/selftest/operands.hpp"

#include <algorithm>
#include <array>

#include "emulator/numeric/float.hpp"

namespace gdr::selftest {
namespace {

constexpr std::uint64_t fraction_mask = (std::uint64_t{1} << 60) - 1;
constexpr u128 sign_bit = u128{1} << 71;
constexpr std::uint32_t bias = 1023, top_exponent = 2046, special = 2047;

/// Biased exponents at which a range ends: that of the formats (1, 2046), of the last bits of a
/// long as a second double (53 to 61) and of their rounding as a double (9), of factors with
/// products in range (512, 1535), of sums in integer lanes (128), of matrix products (223, 1823),
/// of shorts rounded by a multiple of 2^28 (2019), of longs converted to words (2045).
constexpr std::array edge_exponents{1U,   9U,    25U,   53U,   61U,   128U,  223U,
                                    512U, 1023U, 1535U, 1823U, 2019U, 2045U, 2046U};

constexpr std::array<std::string_view, relation_count> relation_names{
    "independent", "near equal", "ties of sums", "far apart", "low products", "high products"};

Long word_of(std::uint64_t sign, std::uint64_t exponent, std::uint64_t fraction) {
  return {(u128{sign & 1} << 71) | (u128{exponent} << 60) | (fraction & fraction_mask)};
}

/// A word of any sign. Arguments that draw numbers must be drawn before, one after the other: the
/// order of the arguments of a call differs between compilers.
Long signed_word(Rng& rng, std::uint64_t exponent, std::uint64_t fraction) {
  return word_of(rng.bits(), exponent, fraction);
}

std::uint32_t exponent_of(Long w) { return static_cast<std::uint32_t>(w.bits >> 60) & special; }

Long with_exponent(Long w, std::int64_t exponent) {
  const auto held = static_cast<std::uint64_t>(std::clamp<std::int64_t>(exponent, 1, top_exponent));
  return word_of(static_cast<std::uint64_t>(w.bits >> 71), held,
                 static_cast<std::uint64_t>(w.bits));
}

/// A fraction with a few random bits set, or with a few bits clear.
std::uint64_t sparse_fraction(Rng& rng) {
  std::uint64_t fraction = 0;
  for (unsigned n = rng.below(4); n > 0; --n) fraction |= std::uint64_t{1} << rng.below(60);
  // In shorts only the upper 24 bits are left.
  for (unsigned n = rng.below(3); n > 0; --n) fraction |= std::uint64_t{1} << rng.between(36, 59);
  return rng.chance(30) ? ~fraction : fraction;
}

/// Halfway between two numbers of 25, 50 or 53 significant bits, or one unit off.
std::uint64_t tie_fraction(Rng& rng) {
  const unsigned cut = rng.pick({36U, 36U, 11U, 8U});
  const std::uint64_t kept = (rng.chance(30) ? sparse_fraction(rng) : rng.bits()) >> cut << cut;
  return kept + (std::uint64_t{1} << (cut - 1)) + rng.below(3) - 1;
}

/// A number of the exponents from `first` to `last` with any fraction; a third of them sparse.
Long number(Rng& rng, std::uint32_t first, std::uint32_t last) {
  const std::uint64_t bits = rng.bits();
  const std::uint64_t fraction = rng.chance(30) ? sparse_fraction(rng) : rng.bits();
  return word_of(bits, first + (bits >> 1) % (last - first + 1), fraction);
}

Long moderate(Rng& rng) {
  const std::uint64_t bits = rng.bits();
  return word_of(bits, bias - 8 + (bits >> 1) % 17, rng.bits());
}

template <bool dirty>
Long zero(Rng& rng) {
  return signed_word(rng, 0, dirty ? rng.bits() : 0);
}

Long special_word(Rng& rng) {
  if (rng.chance(50)) return signed_word(rng, special, 0);
  switch (rng.below(4)) {
    case 0:
      return canonical_nan;
    case 1:  // a NaN whose upper half looks like an infinity
      return signed_word(rng, special, 1ULL << rng.below(36));
    case 2:
      return signed_word(rng, special, 1ULL << rng.between(36, 59));
    default:
      return signed_word(rng, special, rng.bits());
  }
}

Long large(Rng& rng) {
  if (rng.chance(10)) return signed_word(rng, top_exponent, fraction_mask - rng.below(3));
  return rng.chance(50) ? number(rng, bias + 994, top_exponent)
                        : number(rng, bias + 960, bias + 1000);
}

Long small(Rng& rng) {
  if (rng.chance(10)) return signed_word(rng, 1, rng.below(3));
  return rng.chance(50) ? number(rng, 1, 64) : number(rng, 1, 122);
}

Long integer(Rng& rng) {
  switch (rng.below(3)) {
    case 0:
      return {rng.below(600)};
    case 1:
      return {Long::mask - rng.below(600)};
    default: {
      const Short lower{rng.below(80)};
      return join(Short{rng.below(80)}, lower);
    }
  }
}

Long near_equal(Rng& rng, Long a) {
  const unsigned unit = rng.pick({0U, 0U, 7U, 8U, 36U});
  const u128 step = u128{rng.below(5)} << unit;
  const u128 bits = rng.chance(50) ? a.bits + step : a.bits - step;
  const u128 sign = rng.chance(50) ? 0 : sign_bit;
  return {(bits & Long::mask) ^ sign};
}

/// b for which a + b or a - b is a tie of 25 or of 61 bits, or nearly one.
Long sum_tie(Rng& rng, Long a) {
  const std::int64_t exponent = exponent_of(a);
  if (rng.chance(50)) {  // about half a unit in the last place of a
    const Long half = signed_word(rng, 1, rng.chance(50) ? rng.below(3) : rng.bits());
    return with_exponent(half, exponent - 60 - rng.below(3));
  }
  const std::int64_t exponent_of_tie = exponent + rng.below(5) - 2;
  const Long tie = with_exponent(signed_word(rng, bias, tie_fraction(rng)), exponent_of_tie);
  Flags flags = no_flags;
  return fsub(tie, a, Width::Long, flags);
}

/// b for which the biased exponents of a and b add up to `sum`, or the product is next to a power
/// of two, so that rounding determines its exponent.
Long product_partner(Rng& rng, Long a, std::int64_t sum) {
  const std::int64_t exponent = sum - exponent_of(a);
  const OperandDistribution distribution =
      rng.pick({OperandDistribution::Moderate, OperandDistribution::Sparse});
  if (rng.chance(60)) return with_exponent(random_word(rng, distribution), exponent);
  Flags flags = no_flags;
  const double fraction = double_from_long(with_exponent(Long{a.bits & ~sign_bit}, bias), flags);
  Long b = long_from_double(1 / fraction);
  if (rng.chance(60)) b = fcvt(b, Width::Short, flags);
  b.bits += u128{rng.below(3)} << rng.pick({0U, 8U, 36U});
  return with_exponent(b, exponent + rng.below(2));
}

/// Distances of exponents near the width of a format: 25, 50, 53 and 61 bits.
std::int64_t edge_distance(Rng& rng) {
  std::int64_t distance = rng.pick({8U, 24U, 28U, 49U, 52U, 60U});
  distance += rng.below(5);
  return rng.chance(50) ? distance : -distance;
}

/// Mostly moderate numbers, `percent` of the words from `rare`.
template <unsigned percent, Long (*rare)(Rng& rng)>
Long mixed(Rng& rng) {
  return rng.chance(percent) ? rare(rng) : moderate(rng);
}

Long sprinkled(Rng& rng) {
  if (rng.below(400) != 0) return moderate(rng);
  return rng.chance(50) ? difficult_word(rng) : boundary_word(rng);
}

struct Distribution {
  std::string_view name;
  Long (*draw)(Rng& rng);
};
/// In the order of OperandDistribution.
constexpr std::array<Distribution, distribution_count> distributions{{
    {"moderate", moderate},
    {"wide", [](Rng& rng) { return number(rng, bias - 300, bias + 300); }},
    {"sparse",
     [](Rng& rng) {
       const std::uint64_t fraction = sparse_fraction(rng);
       return signed_word(rng, bias - 30 + rng.below(61), fraction);
     }},
    {"ties",
     [](Rng& rng) {
       const std::uint64_t fraction = tie_fraction(rng);
       return signed_word(rng, bias - 20 + rng.below(41), fraction);
     }},
    {"doubles",
     [](Rng& rng) {
       const Long word = moderate(rng);
       return Long{word.bits & ~u128{rng.chance(70) ? 255U : Short::mask}};
     }},
    {"zeros", mixed<30, zero<false>>},
    {"dirty zeros", mixed<30, zero<true>>},
    {"large", large},
    {"small", small},
    {"edges", boundary_word},
    {"specials", mixed<30, special_word>},
    {"sprinkled", sprinkled},
    {"integers", integer},
    {"hostile", difficult_word},
}};

}  // namespace

std::string_view distribution_name(OperandDistribution distribution) noexcept {
  return distributions[static_cast<std::size_t>(distribution)].name;
}

std::string_view relation_name(Relation relation) noexcept {
  return relation_names[static_cast<std::size_t>(relation)];
}

OperandDistribution random_distribution(Rng& rng) {
  // Fast paths are made for moderate numbers.
  if (rng.chance(25)) return OperandDistribution::Moderate;
  return rng.chance(10) ? OperandDistribution::Edges
                        : static_cast<OperandDistribution>(rng.below(distribution_count));
}

Long boundary_word(Rng& rng) {
  const std::int64_t edge = edge_exponents[rng.below(edge_exponents.size())];
  const std::int64_t off = rng.chance(70) ? rng.below(5) - 2LL : edge_distance(rng);
  const std::uint64_t fraction = rng.chance(25)   ? rng.bits()
                                 : rng.chance(33) ? tie_fraction(rng)
                                                  : sparse_fraction(rng);
  return with_exponent(word_of(rng.bits(), 1, fraction), edge + off);
}

Long word_of_exponent(Rng& rng, int exponent) {
  const std::uint64_t fraction = rng.chance(60) ? 0 : sparse_fraction(rng);
  return with_exponent(word_of(rng.bits(), 1, fraction), std::int64_t{bias} + exponent);
}

Long difficult_word(Rng& rng) {
  const auto any = [&] {
    return rng.chance(50) ? rng.bits() : rng.chance(50) ? tie_fraction(rng) : sparse_fraction(rng);
  };
  switch (rng.below(13)) {
    case 0:
      return rng.chance(50) ? zero<true>(rng) : zero<false>(rng);
    case 1:
      return special_word(rng);
    case 2:
      return small(rng);
    case 3:
      return large(rng);
    case 4: {  // products of these meet 2^-1022 and 2^1024
      const std::uint64_t fraction = any();
      const std::uint32_t exponent = rng.pick({480U, 511U, 512U, 1534U, 1535U, 1536U});
      return signed_word(rng, exponent + rng.below(4), fraction);
    }
    case 5: {
      const u128 upper = rng.bits();
      return {((upper << 64) | rng.bits()) & Long::mask};
    }
    case 6:
      return integer(rng);
    case 7:
      return boundary_word(rng);
    default: {
      const std::uint64_t fraction = any();
      const std::uint32_t exponent = bias - 4 + rng.below(9);
      return signed_word(rng, exponent + (rng.chance(20) ? rng.below(70) : 0), fraction);
    }
  }
}

Long random_word(Rng& rng, OperandDistribution distribution) {
  return distributions[static_cast<std::size_t>(distribution)].draw(rng);
}

WordPair random_pair(Rng& rng, const PairKind& kind) {
  Long a = random_word(rng, kind.distribution);
  // Its product with some number can only meet the end of the range that it is nearer to.
  if (kind.relation == Relation::ProductLow && exponent_of(a) > bias && exponent_of(a) < special) {
    a = with_exponent(a, 2LL * bias - exponent_of(a));
  } else if (kind.relation == Relation::ProductHigh && exponent_of(a) < bias &&
             exponent_of(a) > 0) {
    a = with_exponent(a, 2LL * bias - exponent_of(a));
  }
  const std::int64_t exponent = exponent_of(a);
  const std::int64_t off = kind.inside ? std::int64_t{rng.below(3)} : rng.below(5) - 2LL;
  WordPair pair{a, a};
  switch (kind.relation) {
    case Relation::NearEqual:
      pair.b = near_equal(rng, a);
      break;
    case Relation::SumTie:
      pair.b = sum_tie(rng, a);
      break;
    case Relation::FarApart: {
      const std::int64_t far = exponent - rng.between(20, 66);
      pair.b = with_exponent(random_word(rng, OperandDistribution::Sparse), far);
      break;
    }
    case Relation::ProductLow:  // the biased exponent of a product is the sum's minus the bias
      pair.b = product_partner(rng, a, std::int64_t{bias} + 1 + off);
      break;
    case Relation::ProductHigh:
      pair.b = product_partner(rng, a, std::int64_t{bias} + top_exponent - 1 - off);
      break;
    case Relation::Independent:
      pair.b = random_word(rng, kind.distribution);
      break;
  }
  if (rng.chance(50)) std::swap(pair.a, pair.b);
  return pair;
}

}  // namespace gdr::selftest
