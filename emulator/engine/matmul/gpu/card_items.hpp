// Items, the columns of a product's other matrix, in a card's memory.
#pragma once

#include <cstddef>
#include <cstdint>
#include <list>
#include <memory>
#include <span>
#include <vector>

#include "emulator/engine/matmul/gpu/matmul_card.hpp"
#include "emulator/engine/matmul/matmul_device.hpp"
#include "emulator/engine/sources/view_cache.hpp"

namespace gdr {

/// Items of some columns in the numbers of a card, as [chip][column][factor].
struct EncodedItems {
  ViewCache view;         ///< the records that they were made from, by chip
  bool for_blas = false;  ///< whether they are filled up for a library
  std::size_t bytes = 0;
  std::size_t record = 0;   ///< numbers of a column in one chip
  std::size_t columns = 0;  ///< columns of a chip, with those that fill it up
  std::shared_ptr<gpu::Buffer> numbers;
  std::shared_ptr<gpu::Buffer> intervals;  ///< intervals of exponents, for exact products
  std::vector<char> unfit;                 ///< whether a column is beyond floats, indexed by column
};

/// The items that a runner has used last, as many as fit. Of items whose records have changed, only
/// these columns are sent again.
class CardItems {
 public:
  explicit CardItems(MatmulCard& card) : card_(card) {}

  static std::size_t numbers_of_record(const DeviceItems& items) {
    return items.words * (items.floats ? 2 : 1);
  }
  /// Sends what the card lacks of the items of some columns. `for_blas`: with zeros for subnormal
  /// numbers, and so that the items of every chip begin at a multiple of 128 bytes.
  const EncodedItems& find(const DeviceItems& items, const ColumnRange& columns, bool for_blas);
  void clear() { encoded_.clear(); }

 private:
  EncodedItems& place_for(const DeviceItems& items, std::span<const RecordSegment> segments,
                          bool for_blas);
  void update(EncodedItems& e, const DeviceItems& items);
  std::vector<ColumnRange> changed_columns(const EncodedItems& e) const;
  void send(EncodedItems& e, const DeviceItems& items, const ColumnRange& columns);
  void send_records(EncodedItems& e, const DeviceItems& items, std::size_t chip,
                    const ColumnRange& columns);

  MatmulCard& card_;
  std::list<EncodedItems> encoded_;  ///< encoded items, most recently used first
  std::vector<std::uint64_t> records_;
  std::vector<double> doubles_;
  std::vector<float> floats_;
};

}  // namespace gdr
