// Operands that arithmetic finds hard, drawn at random.
#pragma once

#include <cstdint>
#include <string_view>

#include "emulator/numeric/words.hpp"
#include "emulator/selftest/draw.hpp"

namespace gdr::selftest {

/// What kind of numbers a test works on. An engine that runs whole strips of lanes in one way until
/// one lane needs another way is tested on all its ways only if the numbers of a program are of one
/// kind, so a program gets one mood for all its data.
enum class Mood : std::uint8_t {
  Moderate,    ///< full fractions, magnitudes 2^-8 to 2^8
  Wide,        ///< magnitudes 2^-300 to 2^300
  Sparse,      ///< fractions of a few bits, or of all ones but a few
  Ties,        ///< halfway between numbers of 25, 50, 53 bits, and one unit to either side
  Doubles,     ///< longs whose last 8 fraction bits are zero, and shorts in longs
  Zeros,       ///< clean zeros of both signs among numbers
  DirtyZeros,  ///< zeros with fraction bits, too
  Large,       ///< 2^960 up to the largest number
  Small,       ///< 2^-1022 to 2^-900
  Edges,       ///< exponents at the ends of what the engines' representations hold
  Specials,    ///< infinities and NaNs of all kinds among numbers
  Sprinkled,   ///< moderate numbers with a hard word among some hundreds
  Integers,    ///< small integers of both signs, as bits
  Hostile,     ///< all of these, and random bits
};
constexpr unsigned mood_count = 14;
std::string_view mood_name(Mood mood) noexcept;
Mood random_mood(Draw& draw);

/// A word of a mood. Its upper half is a short of the same mood.
Long draw_word(Draw& draw, Mood mood);

/// A number whose exponent lies where the fast ways end, or as far from there as formats are wide:
/// what is drawn once or twice among harmless numbers, or as a constant, tells whether they notice.
Long edge_word(Draw& draw);

/// A number of size 2^exponent or a little more, as near to that as there is one.
Long scale_word(Draw& draw, int exponent);

/// A word of no kind in particular: zeros with fractions, infinities, NaNs, numbers next to
/// 2^-1022 and to overflow, exact ties, exponents close together, small integers, random bits.
Long hard_word(Draw& draw);

/// How two operands of an operation stand to each other.
enum class Relation : std::uint8_t {
  Independent,
  NearEqual,    ///< equal but for the last bits, with equal or opposite signs
  SumTie,       ///< the sum or difference is a tie, or all but one, of either format
  FarApart,     ///< the smaller one reaches the last bits of the larger, or just not
  ProductLow,   ///< the product lies next to 2^-1022
  ProductHigh,  ///< the product lies next to 2^1024
};
constexpr unsigned relation_count = 6;
std::string_view relation_name(Relation relation) noexcept;

/// How the operands of a program's operations are drawn. `inside` keeps the products of ProductLow
/// and ProductHigh within the range, if barely.
struct PairKind {
  Mood mood = Mood::Hostile;
  Relation relation = Relation::Independent;
  bool inside = false;
};

struct WordPair {
  Long a, b;
};
WordPair draw_pair(Draw& draw, const PairKind& kind);

}  // namespace gdr::selftest
