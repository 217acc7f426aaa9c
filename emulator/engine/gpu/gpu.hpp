// A GPU that engines share: its memory is used repeatedly.
#pragma once

#include <cstddef>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>

#include "emulator/host/gpu/device.hpp"

namespace gdr {

/// Buffers of a device that wait for their next use: allocation costs more than a small launch.
class BufferPool {
 public:
  explicit BufferPool(std::shared_ptr<gpu::Device> device) : device_(std::move(device)) {}
  /// A buffer of at least so many bytes; it returns to the pool with its last owner. The pool must
  /// live longer.
  std::shared_ptr<gpu::Buffer> take(std::size_t bytes);

 private:
  std::shared_ptr<gpu::Device> device_;
  std::mutex mutex_;
  std::multimap<std::size_t, std::shared_ptr<gpu::Buffer>> free_;  ///< by size
};

/// The GPU that an engine uses.
struct Gpu {
  explicit Gpu(std::shared_ptr<gpu::Device> opened);
  std::shared_ptr<gpu::Device> device;
  BufferPool pool;
  /// Pairs of a target and a source below which the host is faster than a launch:
  /// GDR_GPU_PAIRS, or a value for cards.
  double least_pairs;

  /// Compiles a program; the same text once in a process. Throws as gpu::Device::compile.
  std::shared_ptr<const gpu::Kernel> compile(const std::string& text);

 private:
  std::mutex mutex_;
  std::map<std::string, std::shared_ptr<const gpu::Kernel>> compiled_;
};

/// Opens the GPU that an engine's name has behind its colon (gpu::open_device). All engines of
/// the process share it.
std::shared_ptr<Gpu> open_gpu(std::string_view which);

}  // namespace gdr
