// Allocation of register file, local memory and mask registers for a schedule.
#pragma once

#include <optional>
#include <vector>

#include "emulator/isa/geometry.hpp"
#include "kernels/compiler/ir/graph.hpp"
#include "kernels/compiler/schedule/schedule.hpp"

namespace gdr::kc {

/// Locations of all values. The unrolled body has `unroll` copies, with separate locations (modulo
/// variable expansion; M. Lam, 1988).
struct Allocation {
  unsigned unroll = 1;
  /// For each value and copy: short address in the register file or in local memory by its storage
  /// class; none in T. Invariants and accumulators have the same address in all copies.
  std::vector<std::vector<int>> address;
  std::vector<std::vector<int>> block_address;  ///< addresses of each block and copy
  std::vector<std::vector<int>> mask;           ///< mask register for each mask and copy
  /// For each mask and copy: whether the first iteration reads it before it is set, so that it must
  /// be closed before the loop. No two of these share a register.
  std::vector<std::vector<bool>> mask_before;
  /// For each variable that is an unread target: its address in local memory, which the host
  /// writes.
  std::vector<int> unread;
  unsigned registers_used = 0, local_used = 0, masks_used = 0;
  int free_mask = none;  ///< mask register reserved for the prologue predicate
};

/// Unroll factor that the lifetimes of this schedule require.
unsigned required_unroll(const Problem& problem, const Schedule& schedule);

/// Allocates all values, or returns nothing and reports the exceeded memory in `why`.
std::optional<Allocation> allocate(const Problem& problem, const Schedule& schedule,
                                   const Geometry& geometry, unsigned unroll, const Graph& graph,
                                   Diagnostic& why);

}  // namespace gdr::kc
