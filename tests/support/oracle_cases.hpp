// Random and edge operands: mostly words near rounding boundaries and limits of the range.
#pragma once

#include <cstdint>
#include <random>
#include <utility>

#include "support/float_oracle.hpp"

namespace oracle {

/// One case for an operation: operands in any mix of formats, and the format of the result.
struct Case {
  Op op;
  Word a;
  Word b;
  Format out;
};

/// Draws cases; the same seed gives the same cases on every machine.
class Cases {
 public:
  explicit Cases(std::uint64_t seed) : random_(seed) {}

  Case next(Op op);
  /// A word of the format, of one of many kinds: special, near a limit, with a structured fraction.
  Word word(Format format);
  std::uint64_t bits() { return random_(); }
  /// Uniform enough for tests, and the same everywhere (the distributions of <random> are not).
  std::uint64_t below(std::uint64_t limit) { return random_() % limit; }

 private:
  std::uint64_t fraction(int count);
  long exponent_field(Format format);
  Word relative(Word other, Format format, Op op);

  std::mt19937_64 random_;
};

}  // namespace oracle
