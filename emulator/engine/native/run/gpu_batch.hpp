// The loops of many packed blocks, executed on a GPU together.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <vector>

#include "emulator/engine/native/program/program.hpp"
#include "emulator/engine/native/run/gpu_lanes.hpp"
#include "emulator/host/parallel.hpp"

namespace gdr::native {

/// A block's part of a batch. Blocks have the same program, parameters and sources.
struct GpuSlot {
  std::size_t first = 0;  ///< vectors of lanes of the blocks before it
  std::size_t count = 0;  ///< number of its vectors
};

/// The work items of some blocks. A host that has executed section Start of a block loads its
/// items; after `run` it executes Start again, takes the results, and goes on with section End. So
/// no block's state has to be kept, and threads of the host share the conversions in small tasks.
class GpuBatch {
 public:
  /// `vectors`: of all blocks; `first_group` and `iterations`: of the sources; `shared`: threads
  /// share the iterations (GpuKernel::run).
  GpuBatch(Gpu& gpu, const GpuLanes& sources, std::size_t vectors, std::uint64_t first_group,
           std::uint64_t iterations, bool shared)
      : gpu_(gpu),
        sources_(sources),
        vectors_(vectors),
        first_group_(first_group),
        iterations_(iterations),
        shared_(shared) {}

  Gpu& gpu() const noexcept { return gpu_; }
  /// Takes the items of a block: of each kernel, in `items` from `begins` on, `instances[k]` times
  /// slot.count. False if the code or the uniform words differ from those of the blocks before;
  /// then it is not executed here. Thread-safe.
  bool load(const GpuSlot& slot, const CompiledKernels& code, const std::byte* items,
            const std::vector<std::size_t>& begins, const std::vector<std::size_t>& instances,
            const std::byte* uniforms, std::size_t uniform_bytes);
  /// Executes all iterations of the blocks that were loaded. Throws GpuError and Cancelled.
  void run();
  /// Writes a block's outputs to its items, as for `load`.
  void store(const GpuSlot& slot, std::byte* items, const std::vector<std::size_t>& begins,
             const std::vector<std::size_t>& instances) const;

 private:
  /// The items of a kernel: those of an instance one behind the other, by block.
  struct KernelItems {
    std::size_t instances = 1;
    std::vector<std::byte> items, results;
    std::unique_ptr<GpuLists> lists;  ///< null: it has none
  };

  Gpu& gpu_;
  const GpuLanes& sources_;
  const std::size_t vectors_;
  const std::uint64_t first_group_, iterations_;
  const bool shared_;
  std::mutex mutex_;
  const CompiledKernels* code_ = nullptr;  ///< code of the first block, as all that follows
  std::vector<std::byte> uniforms_;
  std::vector<KernelItems> kernels_;
};

}  // namespace gdr::native
