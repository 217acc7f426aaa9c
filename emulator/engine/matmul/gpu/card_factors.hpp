// The factors of a product in a card's memory.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "emulator/engine/matmul/gpu/matmul_card.hpp"
#include "emulator/engine/matmul/matmul_device.hpp"

namespace gdr {

class CardFactors {
 public:
  explicit CardFactors(MatmulCard& card) : card_(card) {}

  /// Sends the factors of a product as [piece][panel][factor][lane]. False if the card's numbers
  /// cannot represent them.
  bool send(const DeviceProduct& product);
  /// Makes them [piece][factor][row] there, matrices in column-major order with zeros for subnormal
  /// numbers.
  void order_by_rows();

  std::size_t rows() const { return rows_; }
  /// Inner indices of all pieces.
  std::size_t depth() const { return depth_; }
  const gpu::Buffer& numbers() const { return *numbers_; }
  /// Ranges of exponents, for exact products.
  const gpu::Buffer& intervals() const { return *intervals_; }
  /// For each piece: the place of its first factor, its depth, its chip, and the item's factor that
  /// belongs to the first one.
  const std::vector<std::uint64_t>& table() const { return table_; }
  std::size_t place(std::size_t piece) const { return table_[4 * piece]; }

 private:
  bool is_in_place(const DeviceProduct& product) const;
  void gather(const DeviceProduct& product);

  MatmulCard& card_;
  std::size_t rows_ = 0, depth_ = 0, count_ = 0;  ///< `count_`: of all factors
  std::vector<std::uint64_t> table_;
  std::vector<double> staged_;
  std::vector<float> staged_floats_;
  std::shared_ptr<gpu::Buffer> numbers_, intervals_;
};

/// The intervals of exponents of each four of `count` numbers.
std::shared_ptr<gpu::Buffer> exponent_intervals(const MatmulCard& card, const gpu::Buffer& numbers,
                                                std::size_t columns, std::size_t record,
                                                std::size_t count);

}  // namespace gdr
