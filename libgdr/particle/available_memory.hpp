// Memory that the process may still use.
#pragma once

#include <cstddef>

namespace gdr {

/// Bytes that the process can still allocate without swapping, within the limits of its control
/// group and of its address space (`ulimit -v`); the largest number where the system does not say.
std::size_t available_memory();

}  // namespace gdr
