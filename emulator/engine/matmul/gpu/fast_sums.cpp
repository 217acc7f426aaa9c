#include "emulator/engine/matmul/gpu/fast_sums.hpp"

#include <vector>

#include "emulator/engine/gpu/queue_scope.hpp"
#include "emulator/engine/matmul/cpu/functions.hpp"
#include "emulator/engine/matmul/gpu/product_text.hpp"

namespace gdr {

void FastSums::add(const CardFactors& factors, const EncodedItems& items, const gpu::Buffer& table,
                   const ColumnRange& some, gpu::Blas* blas, const gpu::Buffer& results) const {
  const std::size_t pieces = factors.table().size() / 4, count = some.count * factors.rows();
  const auto sums = card_.take(pieces * count * card_.number_bytes());
  QueueScope queue(card_.device());
  if (blas != nullptr)
    add_by_library(factors, items, some, *blas, *sums);
  else
    add_by_kernel(factors, items, table, some, *sums);
  card_.run_for_each(fast_join_text(!card_.floats()),
                     {{sums.get()}, {&results}, number(pieces), number(count)}, count);
  queue.set_empty();
}

void FastSums::add_by_kernel(const CardFactors& factors, const EncodedItems& items,
                             const gpu::Buffer& table, const ColumnRange& some,
                             const gpu::Buffer& sums) const {
  const std::size_t pieces = factors.table().size() / 4;
  const std::size_t row_tiles = parts_of(factors.rows(), device_tile);
  const std::size_t column_tiles = parts_of(some.count, device_tile);
  card_.device().start(*card_.kernel(fast_sums_text(!card_.floats())),
                       {{&factors.numbers()},
                        {items.numbers.get()},
                        {&table},
                        {&sums},
                        number(factors.rows() / fast_lanes),
                        number(some.first),
                        number(some.count),
                        number(items.columns),
                        number(items.record),
                        number(row_tiles),
                        number(column_tiles)},
                       pieces * row_tiles * column_tiles * fast_group, fast_group);
}

/// One product for each piece, so that sums have the length that the precision of `gpu` and
/// `gpu-float` allows; those of equal shapes and distances within a chip in one call.
void FastSums::add_by_library(const CardFactors& factors, const EncodedItems& items,
                              const ColumnRange& some, gpu::Blas& blas,
                              const gpu::Buffer& sums) const {
  const std::vector<std::uint64_t>& table = factors.table();
  const std::size_t rows = factors.rows(), count = some.count * rows;
  std::vector<gpu::BlasProduct> products;
  std::uint64_t chip_of_last = 0, first_of_last = 0;
  for (std::size_t piece = 0; piece < table.size() / 4; ++piece) {
    const std::uint64_t depth = table[4 * piece + 1], chip = table[4 * piece + 2];
    const std::uint64_t first = table[4 * piece + 3], apart = first - first_of_last;
    const bool follows = !products.empty() && products.back().depth == depth &&
                         chip == chip_of_last && first > first_of_last &&
                         (products.back().count == 1 || products.back().b.distance == apart);
    chip_of_last = chip;
    first_of_last = first;
    if (follows) {
      products.back().b.distance = apart;
      ++products.back().count;
      continue;
    }
    const std::size_t item = (chip * items.columns + some.first) * items.record + first;
    products.push_back({!card_.floats(),
                        rows,
                        some.count,
                        depth,
                        1,
                        {&factors.numbers(), factors.place(piece), rows, depth * rows},
                        {items.numbers.get(), item, items.record, 0},
                        {&sums, piece * count, rows, count}});
  }
  blas.multiply(products);
}

}  // namespace gdr
