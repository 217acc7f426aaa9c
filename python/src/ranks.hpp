// Collective operations of the ranks that share a device "mpi", besides runs.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "gdr/device.hpp"

namespace gdr::python {

/// Whether any thread may use the device. False if MPI provides less than MPI_THREAD_MULTIPLE: only
/// the thread that opened the device may use it.
bool any_thread_allowed(Device& device);

/// The values of all ranks in rank order; collective. Without MPI the own value only.
std::vector<double> gather(Device& device, double own);

/// The concatenated bytes of all ranks; collective. All ranks must pass the same number of bytes.
std::string gather(Device& device, const std::string& own);

/// Throws an CollectiveError: an error that all ranks throw.
[[noreturn]] void throw_collective(const std::string& message);

/// Throws on all ranks if a rank passes an error message; collective. The error is that of the
/// first such rank: Error (Usage) if `type_error` is set, else Error (Input).
void check_collectively(Device& device, const std::optional<std::string>& message, bool type_error);

}  // namespace gdr::python
