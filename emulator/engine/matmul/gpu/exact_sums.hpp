// The machine's sums of a product's blocks on a card.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "emulator/engine/matmul/gpu/card_factors.hpp"
#include "emulator/engine/matmul/gpu/card_items.hpp"
#include "emulator/engine/matmul/gpu/matmul_card.hpp"

namespace gdr {

class ExactSums {
 public:
  explicit ExactSums(MatmulCard& card) : card_(card) {}

  /// Before the launches for some columns, and after them: `unfit` gets 1 for columns that the host
  /// must compute.
  void begin(std::size_t columns);
  void end(std::size_t columns, char* unfit);

  /// Sums of the blocks, and those of the reduction network, as doubles to `results`. `some`: of
  /// the columns of `items`; `blocks`: pieces of a chip.
  void add(const CardFactors& factors, const EncodedItems& items, const gpu::Buffer& table,
           const ColumnRange& some, std::size_t blocks, const gpu::Buffer& results);

 private:
  MatmulCard& card_;
  std::vector<std::uint32_t> flags_;
  std::shared_ptr<gpu::Buffer> unfit_groups_;  ///< groups of four columns for the host
  std::shared_ptr<gpu::Buffer> repeated_;      ///< repeated tiles of columns
  unsigned no_estimates_ = 0;                  ///< products that begin without estimates
};

}  // namespace gdr
