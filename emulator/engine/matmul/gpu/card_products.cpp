#include "emulator/engine/matmul/gpu/card_products.hpp"

#include <algorithm>
#include <cmath>

#include "emulator/engine/matmul/cpu/functions.hpp"
#include "emulator/engine/matmul/gpu/product_text.hpp"
#include "emulator/host/parallel.hpp"
#include "emulator/host/stopwatch.hpp"

namespace gdr {
namespace {

/// Bytes for the sums of pieces of a launch.
constexpr std::size_t bytes_of_sums = std::size_t{1} << 27;

/// Bytes of the sums of pieces for a column.
std::size_t sum_bytes(const DeviceProduct& product, const MatmulCard& card) {
  return product.pieces.size() * product.panels.size() * panel_lanes * card.number_bytes() *
         (card.exact() ? 2 : 1);
}
/// Bytes of a column's items.
std::size_t item_bytes(const DeviceProduct& product, const MatmulCard& card) {
  return product.items.chips() * CardItems::numbers_of_record(product.items) * card.number_bytes();
}

}  // namespace

void CardProducts::multiply(const DeviceProduct& product, const ColumnRange& columns,
                            std::vector<char>& unfit) {
  try {
    gpu::Blas* const blas = by_library_ && library_fits(product) ? &library() : nullptr;
    if (!factors_.send(product)) {
      std::fill_n(unfit.begin() + static_cast<std::ptrdiff_t>(columns.first), columns.count, 1);
      return;
    }
    if (blas != nullptr) factors_.order_by_rows();
    const std::size_t tile = blas != nullptr ? columns_of_library : device_tile;
    std::size_t fit = std::max<std::size_t>(card_->max_bytes / item_bytes(product, *card_), 1);
    if (fit < columns.count) fit = std::max(fit / tile, std::size_t{1}) * tile;
    for (std::size_t done = 0; done < columns.count; done += fit)
      multiply_part(product, {columns.first + done, std::min(fit, columns.count - done)}, blas,
                    unfit);
  } catch (const GpuError&) {
    items_.clear();
    throw;
  }
}

/// Whether the buffers hold a library's columns; the same for all cards of a kind.
bool CardProducts::library_fits(const DeviceProduct& product) const {
  const std::size_t columns = std::min(columns_of_library, product.items.columns);
  return columns * item_bytes(product, *card_) <= card_->max_bytes &&
         columns * sum_bytes(product, *card_) <= std::min(bytes_of_sums, card_->max_bytes);
}

gpu::Blas& CardProducts::library() {
  if (blas_ == nullptr) {
    gpu::BlasLibrary opened = card_->gpu->device->blas();
    // The first card has the library, and all are of one kind.
    if (opened.blas == nullptr)
      throw GpuError(GpuFailure::Compile, ErrorCategory::Device, opened.reason);
    blas_ = std::move(opened.blas);
  }
  return *blas_;
}

void CardProducts::multiply_part(const DeviceProduct& product, const ColumnRange& part,
                                 gpu::Blas* blas, std::vector<char>& unfit) {
  const EncodedItems& items = items_.find(product.items, part, blas != nullptr);
  for (std::size_t c = 0; card_->floats() && c < part.count; ++c)
    unfit[part.first + c] |= items.unfit[c];
  const auto multiplications = static_cast<double>(factors_.depth() * factors_.rows());
  const std::size_t most = std::min(bytes_of_sums, card_->max_bytes) / sum_bytes(product, *card_) /
                           device_tile * device_tile;
  if (card_->exact()) exact_.begin(part.count);
  for (std::size_t first = 0; first < part.count;) {
    cancellation_point();
    const double wanted = card_->multiplications_of_launch / multiplications / device_tile;
    const std::size_t columns =
        blas != nullptr ? columns_of_library
                        : std::clamp(static_cast<std::size_t>(std::min(wanted, 1e6)) * device_tile,
                                     device_tile, std::max(most, device_tile));
    const ColumnRange some{first, std::min(columns, part.count - first)};
    const Stopwatch stopwatch;
    launch(product, items, part, some, blas, unfit);
    const double done = multiplications * static_cast<double>(some.count);
    // A small launch does not tell how fast a large one is: at most four times as much.
    card_->multiplications_of_launch =
        std::max(MatmulCard::first_multiplications,
                 done * std::min(4.0, MatmulCard::seconds_of_launch / stopwatch.seconds()));
    first += some.count;
  }
  if (card_->exact()) exact_.end(part.count, &unfit[part.first]);
}

/// Computes some columns of the part.
void CardProducts::launch(const DeviceProduct& product, const EncodedItems& items,
                          const ColumnRange& part, const ColumnRange& some, gpu::Blas* blas,
                          std::vector<char>& unfit) {
  const std::size_t rows = factors_.rows(), count = some.count * rows;
  const auto table = card_->sent(factors_.table());
  const auto results = card_->take(count * card_->number_bytes() * (card_->floats() ? 2 : 1));
  if (card_->exact())
    exact_.add(factors_, items, *table, some, product.blocks, *results);
  else
    fast_.add(factors_, items, *table, some, blas, *results);
  const std::size_t column = part.first + some.first;
  double* const to = product.sums + column * rows;
  if (!card_->floats()) return card_->device().read(*results, 0, to, count * sizeof(double));
  pairs_.resize(2 * count);
  card_->device().read(*results, 0, pairs_.data(), 2 * count * sizeof(float));
  for (std::size_t n = 0; n < count; ++n) {
    to[n] = double{pairs_[n]} + double{pairs_[count + n]};
    if (!std::isfinite(to[n])) unfit[column + n / rows] = 1;
  }
}

}  // namespace gdr
