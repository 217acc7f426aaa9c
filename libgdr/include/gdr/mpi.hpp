// Devices on the ranks of an MPI communicator. Requires <mpi.h>; libgdr itself does not.
//
//   MPI_Init(&argc, &argv);
//   gdr::Device device = gdr::open_mpi(MPI_COMM_WORLD);
//   gdr::Gravity gravity(device);   // every rank passes its own particles
#pragma once

#include <mpi.h>

#include <string_view>

#include "gdr/device.hpp"

namespace gdr {

/// Open a device on all ranks of a communicator, with the boards of the options on each, as in
/// "mpi:engine=native,boards=2,threads=1". Collective, as are all calls on the device and its
/// objects except MatrixProduct, LinearSolver and BatchedMatrices, which use the boards of this
/// rank. The communicator is duplicated. Job::start works in the background if MPI provides
/// MPI_THREAD_MULTIPLE; otherwise it returns after the work. Throws the errors of Device::open, the
/// same on all ranks.
inline Device open_mpi(MPI_Comm communicator, std::string_view name = "mpi",
                       const DeviceOptions& options = {}) {
  return Device::open_on_ranks(static_cast<std::int32_t>(MPI_Comm_c2f(communicator)), name,
                               options);
}

}  // namespace gdr
