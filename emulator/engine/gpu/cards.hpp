// The GPUs that the name of an engine selects.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "emulator/engine/gpu/gpu.hpp"

namespace gdr {

/// The GPUs behind the colon of an engine's name:
///
///   "1", "H200", "cuda:0"   one, as gpu::open_device takes it
///   "0+2", "cuda:0+2"       several, which share every calculation
///   "all"                   all that equal the first one in interface, name, platform and driver
///   ""                      one of these: the first, or in an MPI job that of this process
///   (local_rank)
///
/// All engines of the process share a GPU. Throws Error (Unsupported) without such a GPU, and
/// (Usage) if one is named twice.
Gpus open_gpus(std::string_view which);

/// The number of this process among those that an MPI launcher has started on this host, and the
/// environment variable that gives it; none outside of such a job.
struct LocalRank {
  unsigned number = 0;
  std::string variable;
};
std::optional<LocalRank> local_rank();

/// The number of the GPU that an engine without a number uses. There must be one.
std::size_t default_gpu();

/// "gpu:0, NAME", or "gpu:0+1, NAME".
std::string description(const Gpus& gpus);

/// The GPUs of the engine with this name, or if it is empty with that of GDR_ENGINE; empty: it uses
/// none.
std::string gpus_of_engine(std::string_view engine);

/// For tests: open_gpus selects among these devices instead of those of the drivers, each in use
/// for the first time. Empty: those of the drivers again.
void set_gpu_devices(std::vector<std::shared_ptr<gpu::Device>> devices);

}  // namespace gdr
