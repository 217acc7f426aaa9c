// Products of a runner on one card.
#pragma once

#include <memory>
#include <vector>

#include "emulator/engine/matmul/gpu/card_factors.hpp"
#include "emulator/engine/matmul/gpu/card_items.hpp"
#include "emulator/engine/matmul/gpu/exact_sums.hpp"
#include "emulator/engine/matmul/gpu/fast_sums.hpp"
#include "emulator/engine/matmul/gpu/matmul_card.hpp"
#include "emulator/engine/matmul/matmul_device.hpp"

namespace gdr {

class CardProducts {
 public:
  /// `by_library`: the card's BLAS library multiplies, where its products fit into the memory.
  CardProducts(std::shared_ptr<MatmulCard> card, bool by_library)
      : card_(std::move(card)), by_library_(by_library) {}

  /// Computes some columns of a product: consecutive ones that begin at multiples of
  /// columns_of_library with a library, else of device_tile. `unfit`, by column of the product,
  /// gets 1 for those that the host must compute. Throws GpuError, and Cancelled between launches.
  void multiply(const DeviceProduct& product, const ColumnRange& columns, std::vector<char>& unfit);

  MatmulCard& card() const { return *card_; }

 private:
  bool library_fits(const DeviceProduct& product) const;
  gpu::Blas& library();
  void multiply_part(const DeviceProduct& product, const ColumnRange& part, gpu::Blas* blas,
                     std::vector<char>& unfit);
  void launch(const DeviceProduct& product, const EncodedItems& items, const ColumnRange& part,
              const ColumnRange& some, gpu::Blas* blas, std::vector<char>& unfit);

  const std::shared_ptr<MatmulCard> card_;
  const bool by_library_;
  std::shared_ptr<gpu::Blas> blas_;
  CardFactors factors_{*card_};
  CardItems items_{*card_};
  FastSums fast_{*card_};
  ExactSums exact_{*card_};
  std::vector<float> pairs_;  ///< results of floats
};

}  // namespace gdr
