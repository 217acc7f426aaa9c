// The reduction network and multiply-add chains without the library's arithmetic: MPFR for floats,
// 128-bit integers otherwise (contract, paragraphs 2, 3 and 6).
#pragma once

#include <cstdint>
#include <span>

#include "emulator/isa/program.hpp"

namespace oracle {

/// A double as a long: the same sign and exponent, eight more fraction bits. Not for subnormals.
gdr::Long long_of(double value);
/// Bits of the double that a long is rounded to.
std::uint64_t double_bits(gdr::Long word);

/// Rounded to a long.
gdr::Long add(gdr::Long a, gdr::Long b);
/// One pass of the multiplier, rounded to a long.
gdr::Long multiply(gdr::Long a, gdr::Long b);
/// Both passes of the multiplier, rounded to a long.
gdr::Long multiply_twice(gdr::Long a, gdr::Long b);

/// The reduction of one word of every leaf; `leaves` is not empty.
gdr::Long reduce(gdr::Reduce op, std::span<const gdr::Long> leaves);

}  // namespace oracle
