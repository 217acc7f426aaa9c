// Native kernels on a GPU: resident sources and launches.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "emulator/engine/gpu/gpu.hpp"
#include "emulator/engine/native/code.hpp"
#include "emulator/engine/native/lane_sources.hpp"
#include "emulator/host/gpu/device.hpp"

namespace gdr::native {

/// The lanes of resident sources (LaneSources) in a GPU's memory.
class GpuSources {
 public:
  explicit GpuSources(Gpu& gpu) : gpu_(gpu) {}
  /// Sends what was converted since the last call. Call after LaneSources::done.
  void update(const LaneSources& sources);
  const gpu::Buffer& buffer() const noexcept { return *buffer_; }

 private:
  Gpu& gpu_;
  std::shared_ptr<gpu::Buffer> buffer_;
  std::size_t bytes_ = 0;
  std::uint64_t revision_ = 0;
};

/// A kernel that was compiled for a GPU. Used by several threads.
class GpuKernel {
 public:
  /// Throws Unsupported for kernels that a GPU cannot execute.
  GpuKernel(Gpu& gpu, const CodeContext& context);
  /// As a KernelFunction, for `count` consecutive work items; `first_group`: the group of pass 0.
  /// `uniforms`: invariant words and tables. Only outputs are written to the items.
  void run(std::byte* items, std::size_t count, const GpuSources& sources,
           std::uint64_t first_group, const std::byte* uniforms, std::size_t uniform_bytes,
           std::uint64_t passes) const;
  std::size_t text_bytes() const noexcept { return text_bytes_; }

 private:
  Gpu& gpu_;
  ItemLayout layout_;
  std::uint32_t lanes_, group_words_;
  std::size_t text_bytes_ = 0;
  std::shared_ptr<const gpu::Kernel> kernel_;
};

}  // namespace gdr::native
