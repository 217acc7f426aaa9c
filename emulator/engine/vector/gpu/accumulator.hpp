// Sums over iterations that a GPU adds to in four operations a term.
#pragma once

#include <span>
#include <vector>

#include "emulator/engine/vector/gpu/bounds.hpp"

namespace gdr::codegen {

/// A long that each iteration adds terms to, and that nothing else reads.
struct Accumulator {
  std::size_t head = 0, tail = 0;    ///< carried rows of h and l
  std::vector<StepId> heads, tails;  ///< steps LongHead and LongTail, one for each term
};

/// Finds them, where no test of `tests` is in between.
std::vector<Accumulator> find_accumulators(const Trace& trace, std::span<const CarriedRow> carried,
                                           const LoopTests& tests);

/// Functions in OpenCL C for them, and for other steps of DeviceSteps.
///
/// An accumulator holds a long V = h + l as h, low = l - offset and E. Where h is at least 2^(E-20)
/// away from the ends of its binade [2^E, 2^(E+1)), offset = 1.5 x 2^(E-8); else it is *not
/// placed*: offset = 0. A long's last place is g = 2^(E-60) then. To add a short b (25 bits):
///
///   s = h + b    rounded to nearest; in the same binade, as far away from its ends: tested
///   e = b - (s - h)
///   low = low + e
///
/// - s + e = h + b exactly. If |b| <= |h|, this is Dekker's sum. Otherwise their signs differ,
///   since |s| would be above 2^(E+1). b's exponent is at least E, so that its last place,
///   2^(E-24) or more, is a multiple of that of h; so is the sum, which is below 2^(E+1) and
///   therefore exact: s - h = b, e = 0.
/// - |l| stays below 2^(E-21): it begins with one unit of h's last place at most, and grows by
///   half a unit and g with each term; a launch has fewer than 2^29 terms (GpuBatch). So low + e
///   is in the binade of 2^(E-8), whose doubles are g apart: low + e is l + e, rounded once where
///   the long ends.
/// - V + b = s + (l + e), with |l + e| < 2^(E-20), is in the binade of s, so the machine rounds it
///   at g, too. s and offset are even multiples of g: ties go to the same, even side.
///
/// Where the test fails, add_to_long rounds the sum as TestedSteps does: it is proved that s + t is
/// the sum; h and rest are the two parts of s + t; rest is rounded at g of h's binade, unless h is
/// a power of two. A term of 0 changes nothing.
extern const char* const accumulator_functions;

}  // namespace gdr::codegen
