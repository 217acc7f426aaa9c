// Addresses in a memory for things that need it for a part of the loop: colouring of arcs on the
// ring of the body.
#pragma once

#include <cstdint>
#include <vector>

namespace gdr::kc {

/// Neighbouring shorts that are taken from `from` for `length` instructions (all of them, if that
/// is the ring's whole length or more).
struct Piece {
  int offset = 0, shorts = 0;
  int from = 0, length = 0;
  /// Shorts between two elements of a vector, 0 for scalars. In the instruction that reads a vector
  /// last another of the same shape may be written to the same address, element behind element.
  int shape = 0;
};

/// One or more pieces at fixed distances.
struct Tenant {
  std::vector<Piece> pieces;
  int span = 0;   ///< shorts from the first to the last
  int align = 1;  ///< of the address
  int address = -1;
};

/// Shorts that tenants take at once where they take most, and the instruction of the ring where.
struct Pressure {
  int shorts = 0, at = 0;
};
Pressure highest_pressure(const std::vector<Tenant>& tenants, int ring);

/// Give every tenant an address below `places`. Exact search with a bounded number of steps: false
/// if there is no way, or none was found. The order of the tenants breaks ties.
bool assign(std::vector<Tenant>& tenants, int ring, int places, unsigned steps);

/// The same for a memory with room to spare: the first address that fits, one after the other.
bool assign_in_order(std::vector<Tenant>& tenants, int ring, int places);

}  // namespace gdr::kc
