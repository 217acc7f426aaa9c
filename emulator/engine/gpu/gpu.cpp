#include "emulator/engine/gpu/gpu.hpp"

#include <algorithm>
#include <bit>
#include <cstdlib>
#include <string>
#include <utility>

#include "emulator/host/parse_number.hpp"
#include "gdr/error.hpp"

namespace gdr {

std::shared_ptr<gpu::Buffer> BufferPool::take(std::size_t bytes) {
  // Sizes of few kinds, so that buffers fit again: eight from one power of two to the next.
  const std::size_t step = std::bit_floor(std::max<std::size_t>(bytes, 32768)) / 8;
  const std::size_t size = (std::max<std::size_t>(bytes, 1) + step - 1) / step * step;
  std::shared_ptr<gpu::Buffer> taken;
  {
    const std::scoped_lock lock(mutex_);
    if (const auto found = free_.find(size); found != free_.end()) {
      taken = std::move(found->second);
      free_.erase(found);
    }
  }
  if (!taken) taken = allocate(size);
  gpu::Buffer* const buffer = taken.get();
  return {buffer, [this, size, taken = std::move(taken)](gpu::Buffer*) mutable {
            const std::scoped_lock lock(mutex_);
            free_.emplace(size, std::move(taken));
          }};
}

std::shared_ptr<gpu::Buffer> BufferPool::allocate(std::size_t size) {
  try {
    return device_->allocate(size);
  } catch (const Error&) {
    std::multimap<std::size_t, std::shared_ptr<gpu::Buffer>> freed;
    {
      const std::scoped_lock lock(mutex_);
      freed.swap(free_);
    }
    if (freed.empty()) throw;
  }
  return device_->allocate(size);
}

namespace {

/// GDR_GPU_FALLBACK: whether the processor takes over.
bool fallback_of_environment() {
  const char* const given = std::getenv("GDR_GPU_FALLBACK");
  if (given == nullptr || std::string_view(given) == "error") return false;
  if (std::string_view(given) == "cpu") return true;
  throw Error(ErrorCategory::Usage, std::string("GDR_GPU_FALLBACK is '") + given +
                                        "'; it is 'cpu', which lets the processor take over work "
                                        "of a GPU that fails, or 'error'");
}

}  // namespace

Gpu::Gpu(std::shared_ptr<gpu::Device> opened, std::string given_name)
    : device(std::make_shared<GuardedDevice>(std::move(opened))),
      name(std::move(given_name)),
      pool(device),
      processor_takes_over(fallback_of_environment()) {
  const char* const given = std::getenv("GDR_GPU_PAIRS");
  if (given == nullptr) return;
  measured = measured_if_bits_differ = std::string_view(given) == "measured";
  if (measured) return;
  const std::optional<double> pairs = parse_all<double>(given);
  if (!pairs || !(*pairs >= 0))
    throw Error(ErrorCategory::Usage, std::string("GDR_GPU_PAIRS is '") + given +
                                          "', not a number of at least 0 or 'measured'");
  min_pairs = *pairs;
}

std::shared_ptr<const gpu::Kernel> Gpu::compile(const std::string& text) {
  constexpr std::size_t most = 512;
  const std::scoped_lock lock(mutex_);
  if (const auto known = compiled_.find(text); known != compiled_.end()) return known->second;
  if (compiled_.size() >= most) compiled_.clear();
  return compiled_[text] = device->compile(text);
}

}  // namespace gdr
