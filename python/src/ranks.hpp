// The ranks that share a device "mpi", for the package: what they tell one another besides runs.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "gdr/device.hpp"

namespace gdr::python {

/// Whether a run may be made by another thread than the one that opened the device: always, but
/// where MPI gave less than MPI_THREAD_MULTIPLE.
bool works_in_any_thread(Device& device);

/// The number of every rank, in their order; collective. Without MPI the one that was given.
std::vector<double> gather(Device& device, double mine);

/// The bytes of every rank, of which each gives as many, one behind the other; collective.
std::string gather(Device& device, const std::string& mine);

/// Throws what all ranks have agreed on: an AgreedError.
[[noreturn]] void throw_agreed(const std::string& message);

/// Whether the arguments of a call were good on all ranks; collective. Throws on every rank what
/// the first says on which they were not: Error (Usage) for wrong types, else Error (Input).
void agree_on_arguments(Device& device, const std::optional<std::string>& wrong, bool type);

}  // namespace gdr::python
