// A card that multiplies matrices in one arithmetic, and what is known about its speed.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "emulator/engine/gpu/gpu.hpp"
#include "emulator/engine/matmul/gpu/gpu_products.hpp"

namespace gdr {

/// Columns of a product.
struct ColumnRange {
  std::size_t first = 0, count = 0;
  friend bool operator==(const ColumnRange&, const ColumnRange&) = default;
};

/// All runners share it.
class MatmulCard {
 public:
  /// `most`: bytes of a buffer; 0: what the card allows.
  MatmulCard(std::shared_ptr<Gpu> used, DeviceNumbers kind, std::size_t most);

  gpu::Device& device() const { return *gpu->device; }
  bool exact() const { return numbers == DeviceNumbers::Exact; }
  bool floats() const { return numbers == DeviceNumbers::Floats; }
  std::size_t number_bytes() const { return floats() ? sizeof(float) : sizeof(double); }

  std::shared_ptr<gpu::Buffer> take(std::size_t bytes) const { return gpu->pool.take(bytes); }
  std::shared_ptr<const gpu::Kernel> kernel(const std::string& text) const {
    return gpu->compile(text);
  }
  /// A buffer with a copy of the data.
  template <typename Number>
  std::shared_ptr<gpu::Buffer> sent(const std::vector<Number>& data) const {
    auto buffer = take(data.size() * sizeof(Number));
    device().write(*buffer, 0, data.data(), data.size() * sizeof(Number));
    return buffer;
  }
  /// Executes a kernel with one thread for each of `count` numbers.
  void run_for_each(const std::string& text, const std::vector<gpu::Argument>& arguments,
                    std::size_t count) const;

  const std::shared_ptr<Gpu> gpu;
  const DeviceNumbers numbers;
  std::size_t max_bytes = 0;       ///< maximum size of a buffer, bytes
  std::size_t resident_bytes = 0;  ///< maximum size of a runner's items, bytes
  /// Multiplications that take about `seconds_of_launch`.
  std::atomic<double> multiplications_of_launch;

  /// Launches are short enough to cancel a calculation and to leave a display alive.
  static constexpr double seconds_of_launch = 0.1;
  /// Multiplications of the first launch on a device, whose speed is unknown.
  static constexpr double first_multiplications = 1e7;
};

inline std::size_t parts_of(std::size_t count, std::size_t size) {
  return (count + size - 1) / size;
}

/// An argument that is a number.
inline gpu::Argument number(std::size_t value) { return {nullptr, value}; }

}  // namespace gdr
