// Address assignment for cyclic live ranges: circular-arc graph colouring, with the length of the
// unrolled body as circumference.
#pragma once

#include <cstdint>
#include <vector>

namespace gdr::kc {

/// Contiguous shorts that are live for `length` instructions from instruction `from` of the body
/// (the whole body if `length` reaches its length).
struct Segment {
  int offset = 0, shorts = 0;
  int from = 0, length = 0;
  /// Shorts per element of a vector, 0 for scalars. A vector of the same shape may be written to
  /// the same address in the instruction that reads this one last, element after element.
  int shape = 0;
};

/// One or more segments at fixed distances.
struct LiveRange {
  std::vector<Segment> segments;
  int span = 0;   ///< shorts from the first to the last
  int align = 1;  ///< alignment of the address in shorts
  int address = -1;
};

/// Maximum number of live shorts, and the instruction of the body with that maximum.
struct Pressure {
  int shorts = 0, at = 0;
};
Pressure max_pressure(const std::vector<LiveRange>& ranges, int body_length);

/// Assign every range an address below `capacity`, by a backtracking search with a limited number
/// of steps. False if none was found. Ties are broken by the order of the ranges.
bool assign_addresses(std::vector<LiveRange>& ranges, int body_length, unsigned capacity,
                      unsigned steps);

/// The same by first fit, for memories that are rarely full.
bool assign_first_fit(std::vector<LiveRange>& ranges, int body_length, unsigned capacity);

}  // namespace gdr::kc
