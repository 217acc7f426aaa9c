// The time of a product, from the clocks of a column and the link's transfers.
#include <algorithm>
#include <array>
#include <string>

#include "emulator/assembler/assembler.hpp"
#include "emulator/board/time_model.hpp"
#include "gdr/error.hpp"
#include "kernels/builtin.hpp"
#include "libgdr/dense/prediction.hpp"
#include "libgdr/dense/tiles.hpp"

namespace gdr::dense {
namespace {

/// Columns at a time, as MatrixProduct has them.
constexpr std::size_t most_columns = 16384;

std::uint64_t clocks_of_kernel(Held held) {
  const std::string name = kernel_of(held);
  const AssembleResult result = assemble(dense_kernel(name), name + ".gds");
  if (!result.ok()) throw Error(ErrorCategory::Internal, result.diagnostics.render());
  return result.program->clocks(Section::Body);
}

std::size_t rounded_up(std::size_t n, std::size_t unit) noexcept {
  return (n + unit - 1) / unit * unit;
}

}  // namespace

const char* kernel_of(Held held) noexcept { return held == Held::Floats ? "sgemm" : "dgemm"; }

std::uint64_t column_clocks(Held held) {
  static const std::array clocks{clocks_of_kernel(Held::Doubles), clocks_of_kernel(Held::Floats)};
  return clocks[static_cast<std::size_t>(held)];
}

BoardMapping network_mapping(const Geometry& geometry, Held held) {
  return {tile_rows, block_depth(held) * geometry.blocks, column_clocks(held),
          tile_rows, block_words * geometry.blocks,       block_depth(held)};
}

BoardMapping same_without_network(const Geometry& geometry) {
  BoardMapping mapping = network_mapping(geometry);
  mapping.results *= geometry.blocks;
  return mapping;
}

BoardMapping rows_without_network(const Geometry& geometry, std::size_t rows) {
  constexpr std::size_t held = tile_rows * block_words / pes;  // numbers of a PE
  const std::size_t tile = rows * pes * geometry.blocks;
  return {tile, held / rows, column_clocks(Held::Doubles), tile, held / rows, held / rows};
}

double peak(const Geometry& geometry) noexcept {
  return geometry.clock_hz * static_cast<double>(pes) * geometry.blocks * geometry.chips_per_board;
}

ProductTime product_time(const Geometry& geometry, const BoardMapping& mapping, std::size_t m,
                         std::size_t n, std::size_t k, const BoardRates& rates) {
  if (m == 0 || n == 0 || k == 0) return {};
  // Where the inner dimension is short, some chips are left out.
  const std::size_t needed = rounded_up(k, mapping.depth) / mapping.depth;
  const auto chips = static_cast<unsigned>(std::min<std::size_t>(needed, geometry.chips_per_board));
  const std::uint64_t all = (std::uint64_t{2} << (chips - 1)) - 1;
  const std::size_t parts = (needed + chips - 1) / chips;
  const std::size_t memory = geometry.dram_bytes / sizeof(double) / mapping.words;
  const std::size_t most = std::clamp<std::size_t>(memory / parts, 2, most_columns + 1) - 1;
  const std::size_t tiles = rounded_up(m, mapping.rows) / mapping.rows;
  // A short inner dimension fills some blocks only. Of a longer one every part follows on one that
  // filled them all.
  const auto tile_words = [&](unsigned chip) -> std::uint64_t {
    const std::size_t left = k - std::min<std::size_t>(k, chip * mapping.depth);
    const std::size_t filled = rounded_up(std::min(left, mapping.depth), mapping.block);
    return mapping.rows * mapping.words * (parts > 1 ? mapping.depth : filled) / mapping.depth;
  };

  ProductTime sum;
  Timeline time(chips, geometry.clock_hz, rates);
  for (std::size_t first = 0; first < n; first += most) {
    // One item more than columns: the results of one leave with the next.
    const std::uint64_t items = std::min(most, n - first) + 1, words = items * mapping.words;
    const std::array column{
        HalfWork{items, mapping.compute, mapping.words, mapping.results, false}};
    const ChipClocks clocks = run_clocks(0, column, 0, geometry.clock_hz, rates);
    sum.bytes_to_board += 8 * words * parts * chips;
    for (std::size_t p = 0; p < parts; ++p)
      for (unsigned chip = 0; chip < chips; ++chip)
        time.write_memory(std::uint64_t{1} << chip, 8 * words, p * words, (p + 1) * words);
    for (std::size_t t = 0; t < tiles * parts; ++t) {
      for (unsigned chip = 0; chip < chips; ++chip) {
        const ChipClocks loading = load_clocks(tile_words(chip), rates);
        time.load(std::uint64_t{1} << chip, 8 * tile_words(chip), loading.total);
        if (chip == 0) sum.clocks += loading;  // the others load as much at most
        sum.bytes_to_board += 8 * tile_words(chip);
      }
      sum.clocks += clocks;
      sum.bytes_from_board += 8 * mapping.results * items;
      const std::uint64_t at = t % parts * words;
      time.run_returning(all, clocks.total, at, at + words, 8 * mapping.results * items);
    }
  }
  sum.seconds = time.seconds();
  return sum;
}

double product_seconds(const Geometry& geometry, const BoardMapping& mapping, std::size_t m,
                       std::size_t n, std::size_t k, const BoardRates& rates) {
  return product_time(geometry, mapping, m, n, k, rates).seconds;
}

double square_rate(const Geometry& geometry, const BoardMapping& mapping, std::size_t n) {
  const auto size = static_cast<double>(n);
  return n == 0 ? 0 : 2 * size * size * size / product_seconds(geometry, mapping, n, n, n);
}

double square_rate_without_network(const Geometry& geometry, std::size_t n) {
  double best = square_rate(geometry, same_without_network(geometry), n);
  for (const std::size_t rows : {1, 2, 4, 8})
    best = std::max(best, square_rate(geometry, rows_without_network(geometry, rows), n));
  return best;
}

std::optional<std::size_t> half_of_peak(const Geometry& geometry, const BoardMapping& mapping,
                                        std::size_t most) {
  constexpr std::size_t step = 64;
  for (std::size_t n = step; n <= most; n += step)
    if (square_rate(geometry, mapping, n) >= peak(geometry) / 2) return n;
  return {};
}

}  // namespace gdr::dense
