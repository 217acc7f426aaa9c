// Assembly text of lists: their variables, how they begin, and the number of entries in the end.
#pragma once

#include <string>

#include "kernels/compiler/machine.hpp"

namespace gdr::kc {

/// The operand that an append writes: local memory where T says.
std::string place_in_list(const MachineList& list);

/// The results that the host sees: the number of entries in the accumulator (`at`), and every
/// entry. They are passed on block by block, since nothing could join two lists. `count` is the
/// list's name as the assembler reads it, and `name` what those of its entries begin with.
std::string list_declarations(const MachineList& list, const std::string& count,
                              const std::string& name, const std::string& at);

/// Before the loop: entries that are never written are -1, and the accumulator, whose short address
/// is given, holds another place for every element.
std::string empty_list(const MachineList& list, int accumulator, unsigned elements);

/// Behind the loop: the place of the last entry becomes the number of entries.
std::string count_list(const MachineList& list, const std::string& at);

}  // namespace gdr::kc
