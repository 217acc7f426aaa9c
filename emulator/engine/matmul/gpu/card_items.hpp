// Items, the columns of a product's other matrix, in a card's memory.
#pragma once

#include <cstddef>
#include <cstdint>
#include <list>
#include <memory>
#include <vector>

#include "emulator/engine/matmul/gpu/matmul_card.hpp"
#include "emulator/engine/matmul/matmul_device.hpp"

namespace gdr {

/// Items of some columns, as [chip][column][factor].
struct ResidentItems {
  std::vector<SourceKey> keys;  ///< keys of DeviceItems
  ColumnRange range;            ///< columns of these
  bool for_blas = false;        ///< whether they are filled up for a library
  std::size_t bytes = 0;
  std::size_t record = 0;   ///< numbers of a column in one chip
  std::size_t columns = 0;  ///< columns of a chip, with those that fill it up
  std::shared_ptr<gpu::Buffer> numbers;
  std::shared_ptr<gpu::Buffer> intervals;  ///< intervals of exponents, for exact products
  std::vector<char> unfit;                 ///< whether a column is beyond floats, indexed by column
};

/// The items that a runner has used last, as many as fit.
class CardItems {
 public:
  explicit CardItems(MatmulCard& card) : card_(card) {}

  static std::size_t numbers_of_record(const DeviceItems& items) {
    return items.words * (items.floats ? 2 : 1);
  }
  /// Sends the items of some columns unless they are there. `for_blas`: with zeros for subnormal
  /// numbers, and so that the items of every chip begin at a multiple of 128 bytes.
  const ResidentItems& find(const DeviceItems& items, const ColumnRange& columns, bool for_blas);
  void clear() { resident_.clear(); }

 private:
  void send(const DeviceItems& items, const ColumnRange& columns, ResidentItems& made);
  void send_words(const DeviceItems& items, const std::uint64_t* from, std::size_t first,
                  std::size_t count, std::size_t at, ResidentItems& made);

  MatmulCard& card_;
  std::list<ResidentItems> resident_;  ///< resident items, most recently used first
  std::vector<double> staged_;
  std::vector<float> staged_floats_;
};

}  // namespace gdr
