#include "emulator/selftest/words.hpp"

#include <algorithm>
#include <array>

#include "emulator/numeric/float.hpp"

namespace gdr::selftest {
namespace {

constexpr std::uint64_t fraction_mask = (std::uint64_t{1} << 60) - 1;
constexpr u128 sign_bit = u128{1} << 71;
constexpr std::uint32_t bias = 1023, top_exponent = 2046, special = 2047;

constexpr std::array<std::string_view, mood_count> mood_names{
    "moderate", "wide",  "sparse", "ties",     "doubles",   "zeros",    "dirty zeros",
    "large",    "small", "edges",  "specials", "sprinkled", "integers", "hostile"};
/// Biased exponents at which something ends: the range (1, 2046), the last bits of a long as a
/// second double (53 to 61), what rounds them as a double (9), factors whose products leave the
/// range (512, 1535), sums that lanes of integers trust (128), products that matrices do (223,
/// 1823), shorts that a multiple of 2^28 can round (2019), longs that become words (2045).
constexpr std::array edge_exponents{1U,   9U,    25U,   53U,   61U,   128U,  223U,
                                    512U, 1023U, 1535U, 1823U, 2019U, 2045U, 2046U};

constexpr std::array<std::string_view, relation_count> relation_names{
    "independent", "near equal", "ties of sums", "far apart", "low products", "high products"};

Long word_of(std::uint64_t sign, std::uint64_t exponent, std::uint64_t fraction) {
  return {(u128{sign & 1} << 71) | (u128{exponent} << 60) | (fraction & fraction_mask)};
}

std::uint32_t exponent_of(Long w) { return static_cast<std::uint32_t>(w.bits >> 60) & special; }

Long with_exponent(Long w, std::int64_t exponent) {
  const auto held = static_cast<std::uint64_t>(std::clamp<std::int64_t>(exponent, 1, top_exponent));
  return word_of(static_cast<std::uint64_t>(w.bits >> 71), held,
                 static_cast<std::uint64_t>(w.bits));
}

/// A few bits set at random places, or all but a few.
std::uint64_t sparse_fraction(Draw& draw) {
  std::uint64_t fraction = 0;
  for (unsigned n = draw.below(4); n > 0; --n) fraction |= std::uint64_t{1} << draw.below(60);
  // In shorts only the upper 24 bits are left.
  for (unsigned n = draw.below(3); n > 0; --n) fraction |= std::uint64_t{1} << draw.between(36, 59);
  return draw.chance(30) ? ~fraction : fraction;
}

/// Halfway between two numbers of 25, 50 or 53 significant bits, or a unit beside that.
std::uint64_t tie_fraction(Draw& draw) {
  const unsigned cut = draw.pick({36U, 36U, 11U, 8U});
  const std::uint64_t kept = (draw.chance(30) ? sparse_fraction(draw) : draw.bits()) >> cut << cut;
  return kept + (std::uint64_t{1} << (cut - 1)) + draw.below(3) - 1;
}

/// A number of the exponents from `first` to `last` with any fraction; a third of them sparse.
Long number(Draw& draw, std::uint32_t first, std::uint32_t last) {
  const std::uint64_t bits = draw.bits();
  const std::uint64_t fraction = draw.chance(30) ? sparse_fraction(draw) : draw.bits();
  return word_of(bits, first + (bits >> 1) % (last - first + 1), fraction);
}

Long moderate(Draw& draw) {
  const std::uint64_t bits = draw.bits();
  return word_of(bits, bias - 8 + (bits >> 1) % 17, draw.bits());
}

Long zero(Draw& draw, bool dirty) { return word_of(draw.bits(), 0, dirty ? draw.bits() : 0); }

Long special_word(Draw& draw) {
  if (draw.chance(50)) return word_of(draw.bits(), special, 0);
  switch (draw.below(4)) {
    case 0:
      return canonical_nan;
    case 1:  // a NaN whose upper half looks like an infinity
      return word_of(draw.bits(), special, 1ULL << draw.below(36));
    case 2:
      return word_of(draw.bits(), special, 1ULL << draw.between(36, 59));
    default:
      return word_of(draw.bits(), special, draw.bits());
  }
}

Long large(Draw& draw) {
  if (draw.chance(10)) return word_of(draw.bits(), top_exponent, fraction_mask - draw.below(3));
  return draw.chance(50) ? number(draw, bias + 994, top_exponent)
                         : number(draw, bias + 960, bias + 1000);
}

Long small(Draw& draw) {
  if (draw.chance(10)) return word_of(draw.bits(), 1, draw.below(3));
  return draw.chance(50) ? number(draw, 1, 64) : number(draw, 1, 122);
}

Long integer(Draw& draw) {
  switch (draw.below(3)) {
    case 0:
      return {draw.below(600)};
    case 1:
      return {Long::mask - draw.below(600)};
    default:
      return join(Short{draw.below(80)}, Short{draw.below(80)});
  }
}

Long near_equal(Draw& draw, Long a) {
  const unsigned unit = draw.pick({0U, 0U, 7U, 8U, 36U});
  const u128 step = u128{draw.below(5)} << unit;
  const u128 bits = draw.chance(50) ? a.bits + step : a.bits - step;
  const u128 sign = draw.chance(50) ? 0 : sign_bit;
  return {(bits & Long::mask) ^ sign};
}

/// b for which a + b or a - b is a tie of 25 or of 61 bits, or all but.
Long sum_tie(Draw& draw, Long a) {
  const std::int64_t exponent = exponent_of(a);
  if (draw.chance(50)) {  // half a unit of a's last place, give or take
    const Long half = word_of(draw.bits(), 1, draw.chance(50) ? draw.below(3) : draw.bits());
    return with_exponent(half, exponent - 60 - draw.below(3));
  }
  const Long tie =
      with_exponent(word_of(draw.bits(), bias, tie_fraction(draw)), exponent + draw.below(5) - 2);
  Flags flags = no_flags;
  return fsub(tie, a, Width::Long, flags);
}

/// b for which the biased exponents of a and b add up to `sum`; or for which the product lies next
/// to a power of two, so that rounding decides on which side of it.
Long product_partner(Draw& draw, Long a, std::int64_t sum) {
  const std::int64_t exponent = sum - exponent_of(a);
  const Mood mood = draw.pick({Mood::Moderate, Mood::Sparse});
  if (draw.chance(60)) return with_exponent(draw_word(draw, mood), exponent);
  Flags flags = no_flags;
  const double fraction = double_from_long(with_exponent(Long{a.bits & ~sign_bit}, bias), flags);
  Long b = long_from_double(1 / fraction);
  if (draw.chance(60)) b = fcvt(b, Width::Short, flags);
  b.bits += u128{draw.below(3)} << draw.pick({0U, 8U, 36U});
  return with_exponent(b, exponent + draw.below(2));
}

/// Distances at which one operand ends where another one begins: of 25, 50, 53 and 61 bits.
std::int64_t edge_distance(Draw& draw) {
  const std::int64_t distance = draw.pick({8U, 24U, 28U, 49U, 52U, 60U}) + draw.below(5);
  return draw.chance(50) ? distance : -distance;
}

}  // namespace

std::string_view mood_name(Mood mood) noexcept {
  return mood_names[static_cast<std::size_t>(mood)];
}

std::string_view relation_name(Relation relation) noexcept {
  return relation_names[static_cast<std::size_t>(relation)];
}

Mood random_mood(Draw& draw) {
  // Numbers of moderate size are what fast ways are made for: they get their share.
  if (draw.chance(25)) return Mood::Moderate;
  return draw.chance(10) ? Mood::Edges : static_cast<Mood>(draw.below(mood_count));
}

Long edge_word(Draw& draw) {
  const std::int64_t edge = edge_exponents[draw.below(edge_exponents.size())];
  const std::int64_t off = draw.chance(70) ? draw.below(5) - 2LL : edge_distance(draw);
  const std::uint64_t fraction = draw.chance(25)   ? draw.bits()
                                 : draw.chance(33) ? tie_fraction(draw)
                                                   : sparse_fraction(draw);
  return with_exponent(word_of(draw.bits(), 1, fraction), edge + off);
}

Long scale_word(Draw& draw, int exponent) {
  const std::uint64_t fraction = draw.chance(60) ? 0 : sparse_fraction(draw);
  return with_exponent(word_of(draw.bits(), 1, fraction), std::int64_t{bias} + exponent);
}

Long hard_word(Draw& draw) {
  const auto any = [&] {
    return draw.chance(50)   ? draw.bits()
           : draw.chance(50) ? tie_fraction(draw)
                             : sparse_fraction(draw);
  };
  switch (draw.below(13)) {
    case 0:
      return zero(draw, draw.chance(50));
    case 1:
      return special_word(draw);
    case 2:
      return small(draw);
    case 3:
      return large(draw);
    case 4:  // products of these meet 2^-1022 and 2^1024
      return word_of(draw.bits(),
                     draw.pick({480U, 511U, 512U, 1534U, 1535U, 1536U}) + draw.below(4), any());
    case 5:
      return {((u128{draw.bits()} << 64) | draw.bits()) & Long::mask};
    case 6:
      return integer(draw);
    case 7:
      return edge_word(draw);
    default:
      return word_of(draw.bits(), bias - 4 + draw.below(9) + (draw.chance(20) ? draw.below(70) : 0),
                     any());
  }
}

Long draw_word(Draw& draw, Mood mood) {
  switch (mood) {
    case Mood::Moderate:
      return moderate(draw);
    case Mood::Wide:
      return number(draw, bias - 300, bias + 300);
    case Mood::Sparse:
      return word_of(draw.bits(), bias - 30 + draw.below(61), sparse_fraction(draw));
    case Mood::Ties:
      return word_of(draw.bits(), bias - 20 + draw.below(41), tie_fraction(draw));
    case Mood::Doubles:
      return Long{moderate(draw).bits & ~u128{draw.chance(70) ? 255U : Short::mask}};
    case Mood::Zeros:
      return draw.chance(30) ? zero(draw, false) : moderate(draw);
    case Mood::DirtyZeros:
      return draw.chance(30) ? zero(draw, true) : moderate(draw);
    case Mood::Large:
      return large(draw);
    case Mood::Small:
      return small(draw);
    case Mood::Edges:
      return edge_word(draw);
    case Mood::Specials:
      return draw.chance(30) ? special_word(draw) : moderate(draw);
    case Mood::Sprinkled:
      if (draw.below(400) != 0) return moderate(draw);
      return draw.chance(50) ? hard_word(draw) : edge_word(draw);
    case Mood::Integers:
      return integer(draw);
    case Mood::Hostile:
      break;
  }
  return hard_word(draw);
}

WordPair draw_pair(Draw& draw, const PairKind& kind) {
  Long a = draw_word(draw, kind.mood);
  // Its product with some number can only meet the end of the range that it is nearer to.
  if (kind.relation == Relation::ProductLow && exponent_of(a) > bias && exponent_of(a) < special) {
    a = with_exponent(a, 2LL * bias - exponent_of(a));
  } else if (kind.relation == Relation::ProductHigh && exponent_of(a) < bias &&
             exponent_of(a) > 0) {
    a = with_exponent(a, 2LL * bias - exponent_of(a));
  }
  const std::int64_t exponent = exponent_of(a);
  const std::int64_t off = kind.inside ? std::int64_t{draw.below(3)} : draw.below(5) - 2LL;
  WordPair pair{a, a};
  switch (kind.relation) {
    case Relation::NearEqual:
      pair.b = near_equal(draw, a);
      break;
    case Relation::SumTie:
      pair.b = sum_tie(draw, a);
      break;
    case Relation::FarApart:
      pair.b = with_exponent(draw_word(draw, Mood::Sparse), exponent - draw.between(20, 66));
      break;
    case Relation::ProductLow:  // the biased exponent of a product is the sum's minus the bias
      pair.b = product_partner(draw, a, std::int64_t{bias} + 1 + off);
      break;
    case Relation::ProductHigh:
      pair.b = product_partner(draw, a, std::int64_t{bias} + top_exponent - 1 - off);
      break;
    case Relation::Independent:
      pair.b = draw_word(draw, kind.mood);
      break;
  }
  if (draw.chance(50)) std::swap(pair.a, pair.b);
  return pair;
}

}  // namespace gdr::selftest
