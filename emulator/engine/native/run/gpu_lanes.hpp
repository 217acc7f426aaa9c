// A copy of the lanes of sources in a GPU's memory.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>

#include "emulator/engine/gpu/gpu.hpp"
#include "emulator/engine/native/gpu/gpu_kernel.hpp"
#include "emulator/engine/native/run/lane_sources.hpp"
#include "emulator/engine/sources/copied_groups.hpp"

namespace gdr::native {

/// A copy of the lanes that LaneSources has on the host. Which of them it lacks follows from their
/// log of changes (CopiedGroups); records are converted once, for the host and all GPUs.
class GpuLanes {
 public:
  explicit GpuLanes(Gpu& gpu) : gpu_(gpu) {}
  /// Sends what was converted since the last call. Call after LaneSources::done.
  void update(const LaneSources& sources);
  SourceBuffers buffers() const noexcept { return {*buffer_, *ranges_}; }

 private:
  void send_ranges(const SourceWindows& windows);

  Gpu& gpu_;
  std::shared_ptr<gpu::Buffer> buffer_, ranges_;
  CopiedGroups copied_;  ///< lanes that the buffer has
};

}  // namespace gdr::native
