#include "emulator/engine/gpu/gpu.hpp"

#include <algorithm>
#include <bit>
#include <cstdlib>
#include <string>
#include <utility>

#include "gdr/error.hpp"

namespace gdr {

std::shared_ptr<gpu::Buffer> BufferPool::take(std::size_t bytes) {
  // Sizes of few kinds, so that buffers fit again.
  const std::size_t size = std::bit_ceil(std::max<std::size_t>(bytes, 4096));
  std::shared_ptr<gpu::Buffer> taken;
  {
    const std::scoped_lock lock(mutex_);
    if (const auto found = free_.find(size); found != free_.end()) {
      taken = std::move(found->second);
      free_.erase(found);
    }
  }
  if (!taken) taken = device_->allocate(size);
  gpu::Buffer* const buffer = taken.get();
  return {buffer, [this, size, taken = std::move(taken)](gpu::Buffer*) mutable {
            const std::scoped_lock lock(mutex_);
            free_.emplace(size, std::move(taken));
          }};
}

Gpu::Gpu(std::shared_ptr<gpu::Device> opened) : device(opened), pool(std::move(opened)) {
  const char* const given = std::getenv("GDR_GPU_PAIRS");
  char* end = nullptr;
  least_pairs = given != nullptr ? std::strtod(given, &end) : 1e5;
  if (given != nullptr && (end == given || *end != '\0' || !(least_pairs >= 0)))
    throw Error(ErrorCategory::Usage,
                std::string("GDR_GPU_PAIRS is '") + given + "', not a number of at least 0");
}

std::shared_ptr<const gpu::Kernel> Gpu::compile(const std::string& text) {
  constexpr std::size_t most = 512;
  const std::scoped_lock lock(mutex_);
  if (const auto known = compiled_.find(text); known != compiled_.end()) return known->second;
  if (compiled_.size() >= most) compiled_.clear();
  return compiled_[text] = device->compile(text);
}

std::shared_ptr<Gpu> open_gpu(std::string_view which) {
  const auto device = gpu::open_device(which);
  static std::mutex mutex;
  static auto* const known = new std::map<gpu::Device*, std::shared_ptr<Gpu>>;
  const std::scoped_lock lock(mutex);
  std::shared_ptr<Gpu>& gpu = (*known)[device.get()];
  if (!gpu) gpu = std::make_shared<Gpu>(device);
  return gpu;
}

}  // namespace gdr
