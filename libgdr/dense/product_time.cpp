// The time of a product: MatrixProduct's command lists on boards that apply the time model.
#include <algorithm>
#include <array>
#include <string>

#include "gdr/error.hpp"
#include "kernels/builtin.hpp"
#include "libgdr/dense/prediction.hpp"
#include "libgdr/dense/product_runner.hpp"

namespace gdr::dense {

const Kernel& product_kernel(ElementFormat format) {
  static const std::array kernels{Kernel::assemble(dense_kernel("dgemm"), "dgemm.gds"),
                                  Kernel::assemble(dense_kernel("sgemm"), "sgemm.gds")};
  return kernels[static_cast<std::size_t>(format)];
}

std::uint64_t column_clocks(ElementFormat format) {
  return product_kernel(format).program().clocks(Section::Body);
}

BoardMapping network_mapping(const Geometry& geometry, ElementFormat format) {
  return {tile_rows, block_depth(format) * geometry.blocks, column_clocks(format),
          tile_rows, block_words * geometry.blocks,         block_depth(format)};
}

BoardMapping dgemm_without_network(const Geometry& geometry) {
  BoardMapping mapping = network_mapping(geometry);
  mapping.results *= geometry.blocks;
  return mapping;
}

BoardMapping rows_without_network(const Geometry& geometry, std::size_t rows) {
  constexpr std::size_t pe_numbers = tile_rows * block_words / pes;  // elements of a PE
  const std::size_t tile = rows * pes * geometry.blocks;
  return {tile, pe_numbers / rows, column_clocks(ElementFormat::Doubles),
          tile, pe_numbers / rows, pe_numbers / rows};
}

double peak(const Geometry& geometry) noexcept {
  return geometry.clock_hz * static_cast<double>(pes) * geometry.blocks * geometry.chips_per_board;
}

namespace {

/// Timing of a kernel with this mapping; clocks outside the loop are those of the library's kernel.
ProgramTiming timing_of(const Geometry& geometry, const BoardMapping& mapping) {
  const ElementFormat format = mapping.block == block_depth(ElementFormat::Floats)
                                   ? ElementFormat::Floats
                                   : ElementFormat::Doubles;
  ProgramTiming timing = program_timing(product_kernel(format).program(), geometry);
  timing.body_clocks = mapping.compute;
  timing.source_words = (mapping.words + geometry.blocks - 1) / geometry.blocks;
  timing.output_words = mapping.results;
  return timing;
}

}  // namespace

ProductTime product_time(const Geometry& geometry, const BoardMapping& mapping, std::size_t m,
                         std::size_t n, std::size_t k, const BoardRates& rates, unsigned boards) {
  if (m == 0 || n == 0 || k == 0) return {};
  const auto device = std::make_shared<DeviceCore>();
  device->geometry = geometry;
  const ProgramTiming timing = timing_of(geometry, mapping);
  for (unsigned b = 0; b < std::max(1U, boards); ++b) {
    device->boards.push_back({model_board(geometry, timing, rates)});
    device->boards.back().contents.loaded(product_kernel(ElementFormat::Doubles),
                                          geometry.chips_per_board);
  }
  ProductRunner runner(device, MatrixPrecision::Chip);
  runner.mapping = mapping;
  runner.call.m = m;
  runner.call.n = n;
  runner.call.k = k;
  runner.call.a = runner.call.b = MatrixView<const double>{};
  runner.run();
  // Tiles are distributed cyclically, so the first board has the most.
  const WorkCounts counts = device->boards.front().board->counts();
  return {
      counts.predicted_seconds,
      {counts.compute_clocks, counts.port_in_clocks, counts.port_out_clocks, counts.chip_clocks},
      counts.link_write_bytes,
      counts.link_read_bytes};
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
  double best = square_rate(geometry, dgemm_without_network(geometry), n);
  for (const std::size_t rows : {1, 2, 4, 8})
    best = std::max(best, square_rate(geometry, rows_without_network(geometry, rows), n));
  return best;
}

std::optional<std::size_t> half_peak_size(const Geometry& geometry, const BoardMapping& mapping,
                                          std::size_t most) {
  constexpr std::size_t step = 64;
  for (std::size_t n = step; n <= most; n += step)
    if (square_rate(geometry, mapping, n) >= peak(geometry) / 2) return n;
  return {};
}

}  // namespace gdr::dense
