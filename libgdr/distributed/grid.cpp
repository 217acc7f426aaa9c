#include "libgdr/distributed/grid.hpp"

#include <string>
#include <utility>

#include "gdr/error.hpp"

namespace gdr {
namespace {

GridOptions checked(GridOptions options, unsigned ranks) {
  if (options.rows == 0) options.rows = static_cast<unsigned>(max_square_rows(ranks));
  if (ranks % options.rows != 0)
    throw Error(ErrorCategory::Usage, "a grid of " + std::to_string(options.rows) +
                                          " rows does not divide " + std::to_string(ranks) +
                                          " ranks; use a divisor as the number of rows");
  if (options.block == 0) throw Error(ErrorCategory::Usage, "the block of a grid must not be 0");
  return options;
}

/// Checks the options collectively: they must be equal on all ranks.
GridOptions agreed(Device& device, GridOptions options) {
  const bool full = options.precision == MatrixPrecision::Full;
  const std::string call = "DistributedMatrices with rows = " + std::to_string(options.rows) +
                           ", block = " + std::to_string(options.block) + ", precision " +
                           (full ? "full" : "chip") + (options.look_ahead ? "" : ", no look-ahead");
  collectively(DeviceRanks::group(device), call,
               [&] { options = checked(options, device.ranks()); });
  return options;
}

}  // namespace

Grid::Grid(Device& opened, const GridOptions& chosen)
    : device(opened),
      options(agreed(opened, chosen)),
      own(DeviceRanks::group(opened) == nullptr ? single_rank() : nullptr),
      ranks(own ? *own : *DeviceRanks::group(opened)),
      product(opened, options.precision) {
  const unsigned across = ranks.size() / options.rows;
  const unsigned r = ranks.rank() / across, c = ranks.rank() % across;
  row = ranks.split(r);
  column = ranks.split(c);
  rows = {options.block, options.rows, r};
  columns = {options.block, across, c};
}

DistributedMatrices::DistributedMatrices(Device& device, const GridOptions& options)
    : impl_(std::make_unique<Impl>(device, options)) {}
DistributedMatrices::~DistributedMatrices() = default;
DistributedMatrices::DistributedMatrices(DistributedMatrices&&) noexcept = default;
DistributedMatrices& DistributedMatrices::operator=(DistributedMatrices&&) noexcept = default;

GridTimes DistributedMatrices::times() const noexcept { return impl_->times; }
unsigned DistributedMatrices::grid_rows() const noexcept {
  return static_cast<unsigned>(impl_->rows.parts);
}
unsigned DistributedMatrices::grid_columns() const noexcept {
  return static_cast<unsigned>(impl_->columns.parts);
}
std::size_t DistributedMatrices::local_rows(std::size_t m) const noexcept {
  return impl_->rows.count(m);
}
std::size_t DistributedMatrices::local_columns(std::size_t n) const noexcept {
  return impl_->columns.count(n);
}
std::size_t DistributedMatrices::global_row(std::size_t local) const noexcept {
  return impl_->rows.global(local);
}
std::size_t DistributedMatrices::global_column(std::size_t local) const noexcept {
  return impl_->columns.global(local);
}

}  // namespace gdr
