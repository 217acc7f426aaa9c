// Random operands that are difficult for arithmetic.
#pragma once

#include <cstdint>
#include <string_view>

#include "emulator/numeric/words.hpp"
#include "emulator/selftest/rng.hpp"

namespace gdr::selftest {

/// Distribution of the numbers of a test. An engine takes one path for a strip of lanes until a
/// lane requires another; all paths are tested only if the numbers of a program have one
/// distribution.
enum class OperandDistribution : std::uint8_t {
  Moderate,    ///< full fractions, magnitudes 2^-8 to 2^8
  Wide,        ///< magnitudes 2^-300 to 2^300
  Sparse,      ///< fractions with few bits set, or few clear
  Ties,        ///< halfway between numbers of 25, 50, 53 bits, and one unit to either side
  Doubles,     ///< longs whose last 8 fraction bits are zero, and shorts in longs
  Zeros,       ///< clean zeros of both signs among numbers
  DirtyZeros,  ///< zeros with fraction bits, too
  Large,       ///< 2^960 up to the largest number
  Small,       ///< 2^-1022 to 2^-900
  Edges,       ///< exponents at the ends of the ranges of the engines' representations
  Specials,    ///< infinities and NaNs of all kinds among numbers
  Sprinkled,   ///< moderate numbers with rare difficult words
  Integers,    ///< small integers of both signs, as bits
  Hostile,     ///< all of these, and random bits
};
constexpr unsigned distribution_count = 14;
std::string_view distribution_name(OperandDistribution distribution) noexcept;
OperandDistribution random_distribution(Rng& rng);

/// A word of a distribution; its upper half is a short of the same distribution.
Long random_word(Rng& rng, OperandDistribution distribution);

/// A number whose exponent is at the end of a fast path's range, or the width of a format away:
/// single ones among moderate numbers test whether fast paths detect them.
Long boundary_word(Rng& rng);

/// A number of magnitude 2^exponent or slightly more.
Long word_of_exponent(Rng& rng, int exponent);

/// A word of any difficult kind: zeros with fractions, infinities, NaNs, numbers next to 2^-1022
/// and to overflow, exact ties, exponents close together, small integers, random bits.
Long difficult_word(Rng& rng);

/// Relation of the two operands of an operation.
enum class Relation : std::uint8_t {
  Independent,
  NearEqual,    ///< equal but for the last bits, with equal or opposite signs
  SumTie,       ///< the sum or difference is a tie of either format, or nearly one
  FarApart,     ///< the smaller one barely affects the last bits of the larger, or not
  ProductLow,   ///< the product lies next to 2^-1022
  ProductHigh,  ///< the product lies next to 2^1024
};
constexpr unsigned relation_count = 6;
std::string_view relation_name(Relation relation) noexcept;

/// Parameters of operand pairs. `inside` keeps the products of ProductLow and ProductHigh just
/// within the range.
struct PairKind {
  OperandDistribution distribution = OperandDistribution::Hostile;
  Relation relation = Relation::Independent;
  bool inside = false;
};

struct WordPair {
  Long a, b;
};
WordPair random_pair(Rng& rng, const PairKind& kind);

}  // namespace gdr::selftest
