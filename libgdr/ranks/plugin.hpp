// The one function of the library that knows MPI (libgdr_mpi.so), and the names it may have.
#pragma once

#include <cstdint>

#include "libgdr/ranks/group.hpp"

namespace gdr {

/// Changes whenever RankGroup does: both libraries must come from the same build.
constexpr std::uint32_t rank_plugin_version = 2;
constexpr const char* rank_plugin_symbol = "gdr_mpi_ranks_2";

/// Of the function: a new group over the communicator with this Fortran handle, or, if `world`,
/// over all processes (starting MPI if nobody has). Null if that fails, with the reason in `error`.
using RankPlugin = RankGroup* (*)(std::int32_t communicator, bool world, char* error,
                                  std::size_t error_size);

}  // namespace gdr
