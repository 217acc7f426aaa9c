// What Python reads of a chip.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "bind.hpp"
#include "gdr/machine.hpp"

namespace gdr::python {

/// "registers", "local", "t", "masks" or "broadcast". Throws ValueError.
MachineMemory memory_by_name(const std::string& name);
const char* memory_name(MachineMemory memory) noexcept;

/// Raw words of a memory of all blocks: (blocks, addresses, PEs), or (blocks, addresses) for the
/// broadcast memory.
py::array_t<std::uint64_t> memory(const Machine& machine, const std::string& name);
/// A memory reduced over the blocks.
py::array_t<std::uint64_t> reduced(const Machine& machine, const std::string& name,
                                   const std::string& operation);
/// invalid, overflow, underflow.
py::tuple flags(const Machine& machine, std::size_t block);
/// section, pass, instruction, text, file, line, clock.
py::tuple position(const Machine& machine);
/// Fills arrays that have been allocated for this number of targets.
void results(const Machine& machine, const py::dict& arrays, std::size_t targets);

}  // namespace gdr::python
