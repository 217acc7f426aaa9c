// A GPU that engines share: its memory is used repeatedly.
#pragma once

#include <cstddef>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <vector>

#include "emulator/engine/gpu/guarded_device.hpp"
#include "emulator/host/gpu/device.hpp"

namespace gdr {

/// Buffers of a device that wait for their next use: allocation costs more than a small launch.
class BufferPool {
 public:
  explicit BufferPool(std::shared_ptr<gpu::Device> device) : device_(std::move(device)) {}
  /// A buffer of at least so many bytes; it returns to the pool with its last owner. The pool must
  /// live longer. Throws as gpu::Device::allocate, after the buffers that wait were freed.
  std::shared_ptr<gpu::Buffer> take(std::size_t bytes);

 private:
  std::shared_ptr<gpu::Buffer> allocate(std::size_t size);

  std::shared_ptr<gpu::Device> device_;
  std::mutex mutex_;
  std::multimap<std::size_t, std::shared_ptr<gpu::Buffer>> free_;  ///< free buffers, by size
};

/// The GPU that an engine uses.
struct Gpu {
  /// `given_name`, as gpu::open_device takes it.
  explicit Gpu(std::shared_ptr<gpu::Device> opened, std::string given_name = {});
  const std::shared_ptr<GuardedDevice> device;
  const std::string name;
  BufferPool pool;
  /// Pairs of a target and a source from which on work runs here: GDR_GPU_PAIRS, or a value for
  /// cards.
  double min_pairs = 1e5;
  /// Who decides for work whose bits depend on where it runs, and for other work: true, if measured
  /// times do (PlaceChoice), false, if `min_pairs` does. GDR_GPU_PAIRS decides for both.
  bool measured_if_bits_differ = false, measured = true;
  /// Whether the processor repeats work after a failure of this GPU: GDR_GPU_FALLBACK=cpu. Else the
  /// failure is an error.
  bool processor_takes_over = false;

  bool is_usable() const noexcept { return !device->is_lost(); }
  /// Handles a failure: throws `error` unless the processor may take over.
  void require_fallback(const GpuError& error) const {
    if (!processor_takes_over) throw error;
  }

  /// Compiles a program; the same text once in a process. Throws as gpu::Device::compile.
  std::shared_ptr<const gpu::Kernel> compile(const std::string& text);

 private:
  std::mutex mutex_;
  std::map<std::string, std::shared_ptr<const gpu::Kernel>> compiled_;
};

/// GPUs that share calculations.
using Gpus = std::vector<std::shared_ptr<Gpu>>;

/// Whether all have the same name, platform and driver, and so give the same bits.
bool of_one_kind(const Gpus& gpus);

/// Opens the GPU that an engine's name has behind its colon, or the first of several (cards.hpp).
std::shared_ptr<Gpu> open_gpu(std::string_view which);

}  // namespace gdr
