// Assembly text of lists: variables, initialisation, and the final number of entries.
#pragma once

#include <string>

#include "kernels/compiler/machine_ir.hpp"

namespace gdr::kc {

/// The destination of an append: local memory, indexed by T.
std::string place_in_list(const MachineList& list);

/// The results that the host reads: the number of entries in the accumulator (`at`), and every
/// entry. Blocks pass them on without reduction, since lists cannot be combined. `count` is the
/// list's name as an operand, `name` the prefix of its entries' names.
std::string list_declarations(const MachineList& list, const std::string& count,
                              const std::string& name, const std::string& at);

/// Before the loop: set all entries to -1, and the accumulator at short address `accumulator` to
/// the start of each element's list.
std::string empty_list(const MachineList& list, int accumulator, unsigned elements);

/// After the loop: convert the address of the last entry to the number of entries.
std::string count_list(const MachineList& list, const std::string& at);

}  // namespace gdr::kc
