// Addresses for everything that a schedule keeps in registers, local memory and mask registers.
#pragma once

#include <optional>
#include <vector>

#include "emulator/isa/geometry.hpp"
#include "kernels/compiler/graph.hpp"
#include "kernels/compiler/schedule/schedule.hpp"

namespace gdr::kc {

/// Where everything lives. A body works on `copies` items; each copy has places of its own.
struct Layout {
  unsigned copies = 1;
  /// Of each value and copy: short address in the register file or in local memory, by its home;
  /// none in T. Residents and accumulators have the same one in every copy.
  std::vector<std::vector<int>> address;
  std::vector<std::vector<int>> block_address;  ///< of each block and copy
  std::vector<std::vector<int>> mask;           ///< mask register of each mask and copy
  /// Of each mask and copy: whether the first pass looks for it before that sets it, so that it has
  /// to be closed before the loop. No two of these share a register.
  std::vector<std::vector<bool>> mask_before;
  /// Of each variable that is a target which nothing reads: where in local memory the host puts it.
  std::vector<int> unread;
  unsigned registers_used = 0, local_used = 0, masks_used = 0;
  int free_mask = none;  ///< a mask register that nothing else uses
};

/// Copies that the lifetimes of this schedule ask for.
unsigned copies_needed(const Problem& problem, const Schedule& schedule);

/// Places for all of it, or nothing, with the memory that is too small in `why`.
std::optional<Layout> place(const Problem& problem, const Schedule& schedule,
                            const Geometry& geometry, unsigned copies, const Graph& graph,
                            Diagnostic& why);

}  // namespace gdr::kc
