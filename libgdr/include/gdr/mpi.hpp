// Devices on the ranks of an MPI communicator. Needs the MPI's own <mpi.h>; libgdr itself does not.
//
//   MPI_Init(&argc, &argv);
//   gdr::Device device = gdr::open_mpi(MPI_COMM_WORLD);
//   gdr::Gravity gravity(device);   // every rank gives its own particles
#pragma once

#include <mpi.h>

#include <string_view>

#include "gdr/device.hpp"

namespace gdr {

/// Open a device on all ranks of a communicator: on each the boards that the options ask for, as in
/// "mpi:engine=native,boards=2,threads=1". Collective, as are all calls on the device and what is
/// made from it but MatrixProduct, LinearSolver and Batch, which work on this rank's boards. The
/// communicator is duplicated. MPI must give MPI_THREAD_MULTIPLE for Job::start to work in the
/// background; with less it returns when the work is done. Throws what Device::open does, the same
/// on all ranks.
inline Device open_mpi(MPI_Comm communicator, std::string_view name = "mpi",
                       const DeviceOptions& options = {}) {
  return Device::open_on_ranks(static_cast<std::int32_t>(MPI_Comm_c2f(communicator)), name,
                               options);
}

}  // namespace gdr
