// Words that a kernel reads as numbers and as bits.
#pragma once

#include "emulator/engine/native/translate/kernel.hpp"

namespace gdr::native {

/// Bits of words that are also read as shorts, as the bits of these numbers: only so can floats,
/// whose bits are others, replace what is computed from them.
Kernel with_bits_of_numbers(const Kernel& kernel);

}  // namespace gdr::native
