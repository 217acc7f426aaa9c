// Fast products on a card: sums of pieces, by a kernel of our own or by a library, and their sums.
#pragma once

#include <memory>

#include "emulator/engine/matmul/gpu/card_factors.hpp"
#include "emulator/engine/matmul/gpu/card_items.hpp"
#include "emulator/engine/matmul/gpu/matmul_card.hpp"
#include "emulator/host/gpu/blas.hpp"

namespace gdr {

/// Columns of a library's products, counted from the product's first one: a library may add up in
/// another order for another number of columns, and bits must not depend on launches and cards.
constexpr std::size_t columns_of_library = 1024;

class FastSums {
 public:
  explicit FastSums(MatmulCard& card) : card_(card) {}

  /// Computes the sums of some columns of `items`: doubles, or pairs of floats, high ones first.
  /// `table`: that of the factors. `blas`: for factors that are ordered by rows; null: our kernel.
  void add(const CardFactors& factors, const EncodedItems& items, const gpu::Buffer& table,
           const ColumnRange& some, gpu::Blas* blas, const gpu::Buffer& results) const;

 private:
  void add_by_kernel(const CardFactors& factors, const EncodedItems& items,
                     const gpu::Buffer& table, const ColumnRange& some,
                     const gpu::Buffer& sums) const;
  void add_by_library(const CardFactors& factors, const EncodedItems& items,
                      const ColumnRange& some, gpu::Blas& blas, const gpu::Buffer& sums) const;

  MatmulCard& card_;
};

}  // namespace gdr
