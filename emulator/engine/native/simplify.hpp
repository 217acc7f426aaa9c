// Arithmetic that a program has for the chip's sake and a host can do without.
#pragma once

#include "emulator/engine/native/segment.hpp"

namespace gdr::native {

/// Without differences of a number and zero, by which a program sets a mask, and with constant
/// factors where they cost least: c (x w) and c (y w) are x (c w) and y (c w), and c (x (k y)) is
/// x ((c k) y). What would be within 20 powers of two of the ends of the range may be zero or
/// infinite then. Before products and sums are fused.
Segment simplified(const Segment& segment);

}  // namespace gdr::native
