#include "libgdr/dense/prediction.hpp"

#include <algorithm>
#include <array>
#include <vector>

#include "kernels/builtin.hpp"
#include "libgdr/dense/factor.hpp"
#include "libgdr/dense/product_runner.hpp"

namespace gdr::dense {
namespace {

double real(std::size_t n) noexcept { return static_cast<double>(n); }

}  // namespace

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
                         std::size_t n, std::size_t k, const BoardRates& rates, unsigned boards,
                         double beta, FactorClock* host) {
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
  runner.call.beta = beta;
  runner.clock = host;
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
  const double flops = 2 * real(n) * real(n) * real(n);
  return n == 0 ? 0 : flops / product_seconds(geometry, mapping, n, n, n);
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

StepCost& StepCost::operator+=(const StepCost& o) noexcept {
  seconds += o.seconds;
  host += o.host;
  chip += o.chip;
  ports += o.ports;
  link_write += o.link_write;
  link_read += o.link_read;
  return *this;
}

StepCost operator*(double times, StepCost c) noexcept {
  return {times * c.seconds, times * c.host,       times * c.chip,
          times * c.ports,   times * c.link_write, times * c.link_read};
}

double LuTime::gflops(std::size_t n) const noexcept {
  return total > 0 ? 1e-9 * 2 / 3 * real(n) * real(n) * real(n) / total : 0;
}

FactorClock::FactorClock(const Geometry& geometry, const BoardRates& rates, const HostRates& host,
                         unsigned boards, double product_share)
    : geometry_(geometry),
      rates_(rates),
      host_(host),
      boards_(boards),
      product_share_(product_share),
      mapping_(network_mapping(geometry)) {}

void FactorClock::add_work(double flops, double bytes) noexcept {
  const double seconds = std::max(flops / host_.product, bytes / host_.memory);
  time_.total += seconds;
  time_.use.host += seconds;
  time_.*phase_ += seconds;
}

void FactorClock::start_product(std::size_t m, std::size_t n, std::size_t k, double beta) {
  const double begin = time_.total;
  const ProductTime product =
      product_time(geometry_, mapping_, m, n, k, rates_, boards_, beta, this);
  const double stored = time_.total - begin;
  const std::size_t tiles = (m + mapping_.rows - 1) / mapping_.rows;
  const std::size_t rows = std::min(m, (tiles + boards_ - 1) / boards_ * mapping_.rows);
  const double least = 2 * real(rows) * real(n) * real(k) / (product_share_ * peak(geometry_));
  const double seconds = std::max(product.seconds, least);
  boards_until_ = begin + seconds;
  time_.*phase_ += std::max(0.0, seconds - stored);
  time_.additions += stored;
  const ChipClocks& clocks = product.clocks;
  time_.use.chip += static_cast<double>(clocks.compute) / geometry_.clock_hz;
  time_.use.ports +=
      static_cast<double>(std::max(clocks.port_in, clocks.port_out)) / geometry_.clock_hz;
  time_.use.link_write += static_cast<double>(product.bytes_to_board) / rates_.link_write;
  time_.use.link_read += static_cast<double>(product.bytes_from_board) / rates_.link_read;
}

bool FactorClock::on_device(std::size_t m, std::size_t n, std::size_t k) const noexcept {
  return boards_ > 0 && device_pays(m, n, k, mapping_.depth * geometry_.chips_per_board,
                                    LinearOptions{}.device_flops);
}

StepCost FactorClock::cost() const noexcept {
  StepCost cost = time_.use;
  cost.seconds = time_.total;
  return cost;
}

LuTime predict_lu(FactorClock clock, std::size_t n, std::size_t block, bool overlap) {
  std::vector<std::int64_t> pivots(n);
  Updates updates(clock);
  factor_lu(n, n, {nullptr, n}, pivots, std::max<std::size_t>(block, 1), overlap, updates);
  return clock.time();
}

}  // namespace gdr::dense
