// The entry point of the MPI plugin (libgdr_mpi.so).
#pragma once

#include <cstdint>

#include "libgdr/ranks/group.hpp"

namespace gdr {

/// Version of the RankGroup interface: both libraries must come from the same build.
constexpr std::uint32_t rank_plugin_version = 2;
constexpr const char* rank_plugin_symbol = "gdr_mpi_ranks_2";

/// Type of the entry point: creates a group over the communicator with this Fortran handle, or, if
/// `world`, over all processes, and initialises MPI if necessary. Returns null on failure, with the
/// reason in `error`.
using RankPlugin = RankGroup* (*)(std::int32_t communicator, bool world, char* error,
                                  std::size_t error_size);

}  // namespace gdr
