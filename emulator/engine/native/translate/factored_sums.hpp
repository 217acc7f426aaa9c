// Sums of a value and a multiple of its square, as products.
#pragma once

#include "emulator/engine/native/translate/segment.hpp"

namespace gdr::native {

/// c (x x) - x as x (c x - 1), and other signs alike, of an x that depends on a reciprocal or root:
/// the difference is a fused multiply-add, the product is fused with a sum of it, and no square of
/// x is left if all its uses are such sums. The Lennard-Jones force and energy are of this form.
/// Results differ by rounding errors, the sign of zero, and where x x overflows, is not a number or
/// underflows, but x (c x - 1) does not.
Segment with_factored_sums(const Segment& segment);

}  // namespace gdr::native
