// An oracle for floating point that shares no code with the library: MPFR computes the exact
// result, which is rounded once to the format.
#pragma once

#include <mpfr.h>

#include <cstdint>
#include <string>
#include <string_view>

namespace oracle {

__extension__ using Bits = unsigned __int128;

/// A binary float format: sign, exponent field, fraction, with no subnormals.
struct Format {
  int exponent_bits;
  int fraction_bits;
  int width() const { return 1 + exponent_bits + fraction_bits; }
  friend bool operator==(const Format&, const Format&) = default;
};

constexpr Format long_format{11, 60};
constexpr Format short_format{11, 24};
constexpr Format double_format{11, 52};
constexpr Format single_format{8, 23};

struct Word {
  Format format;
  Bits bits;
};

/// Flags as letters in alphabetical order, or "-": the form of `gdr fp`.
struct Result {
  Bits bits;
  std::string flags;
  friend bool operator==(const Result&, const Result&) = default;
};

enum class Op { Fadd, Fsub, Fmul, Dmul, Fmax, Fmin, Cvt };
std::string_view name_of(Op op);

/// Owns the MPFR variables, so that millions of cases do not allocate.
class Oracle {
 public:
  Oracle();
  ~Oracle();
  Oracle(const Oracle&) = delete;
  Oracle& operator=(const Oracle&) = delete;

  /// `b` is ignored by Cvt.
  Result evaluate(Op op, Word a, Word b, Format out);

 private:
  void load(mpfr_t value, Word word);
  Result sum(Word a, Word b, bool subtract, Format out);
  Result product(Word a, int a_bits, Word b, int b_bits, Format out);
  Result choose(Word a, Word b, bool larger, Format out);
  Result round(bool negative, Format out);

  mpfr_t a_, b_, exact_, limit_;
};

/// Hex digits, as many as the width of the format needs.
std::string hex(Bits bits, Format format);
std::string describe(Op op, Word a, Word b, Format out);

}  // namespace oracle
