#include "emulator/engine/matmul/gpu/gpu_products.hpp"

#include <algorithm>
#include <atomic>
#include <bit>
#include <chrono>
#include <cmath>
#include <limits>
#include <list>
#include <utility>
#include <vector>

#include "emulator/engine/matmul/factors.hpp"
#include "emulator/engine/matmul/gpu/product_text.hpp"
#include "emulator/host/parallel.hpp"

namespace gdr {
namespace {

using Clock = std::chrono::steady_clock;
using gpu::Argument;
using gpu::Buffer;
using gpu::Kernel;

/// Launches are short enough to cancel a calculation and to leave a display alive.
constexpr double seconds_of_launch = 0.1;
/// Multiplications of the first launch on a device, whose speed is unknown.
constexpr double first_multiplications = 1e7;
/// Bytes for the sums of pieces of a launch.
constexpr std::size_t bytes_of_sums = std::size_t{1} << 27;
/// Multiplications that a pair of a target and a source stands for (Gpu::least_pairs).
constexpr double multiplications_of_pair = 1000, exact_multiplications_of_pair = 100;
/// Words that are sent at a time, a chunk of a board's memory.
constexpr std::size_t words_at_once = std::size_t{1} << 16;
/// Products without estimates after one for which most tiles repeated their sums.
constexpr unsigned products_between_estimates = 16;
constexpr std::size_t group_of_small = 128;
constexpr std::size_t lanes = panel_lanes;
static_assert(panel_lanes == fast_lanes);

std::size_t parts(std::size_t count, std::size_t size) { return (count + size - 1) / size; }

Argument number(std::size_t value) { return {nullptr, value}; }

/// The floats of doubles, with zeros for subnormal doubles. False if a number is outside of the
/// range of floats; infinities and NaN are not.
bool round_to_floats(const double* from, std::size_t n, float* to) {
  constexpr double most = std::numeric_limits<float>::max();
  constexpr double least = std::numeric_limits<float>::min();
  constexpr double infinite = std::numeric_limits<double>::infinity();
  bool outside = false;
  for (std::size_t i = 0; i < n; ++i) {
    const double size = std::fabs(from[i]);
    outside |= (size > most) & (size < infinite);
    outside |= (size < least) & (size >= std::numeric_limits<double>::min());
    to[i] = static_cast<float>(from[i]);
  }
  return !outside;
}

/// The kernels of one arithmetic, and what all runners learn about their speed.
class GpuMatmul final : public MatmulDevice {
 public:
  GpuMatmul(std::shared_ptr<Gpu> used, DeviceNumbers kind, std::size_t most)
      : gpu(std::move(used)), numbers(kind) {
    const gpu::DeviceInfo& info = gpu->device->info();
    // Several runners share the memory; the pool has buffers of powers of two.
    std::uint64_t allowed = std::min(info.largest_buffer_bytes, info.memory_bytes / 8);
    if (most != 0) allowed = std::min<std::uint64_t>(allowed, most);
    most_bytes = std::bit_floor(std::max<std::uint64_t>(allowed, 1));
    resident_bytes = info.memory_bytes / 4;
  }
  double least_multiplications() const override {
    return gpu->least_pairs * (numbers == DeviceNumbers::Exact ? exact_multiplications_of_pair
                                                               : multiplications_of_pair);
  }
  std::unique_ptr<DeviceProducts> products() override;

  bool exact() const { return numbers == DeviceNumbers::Exact; }
  std::size_t number_bytes() const {
    return numbers == DeviceNumbers::Floats ? sizeof(float) : sizeof(double);
  }

  const std::shared_ptr<Gpu> gpu;
  const DeviceNumbers numbers;
  std::size_t most_bytes = 0;      ///< of a buffer
  std::size_t resident_bytes = 0;  ///< of a runner's items
  std::atomic<double> multiplications_of_launch{first_multiplications};
};

/// Columns of a product.
struct Columns {
  std::size_t first = 0, count = 0;
};

/// Items in the device's memory.
struct ResidentItems {
  std::vector<std::uint64_t> place, contents;  ///< as in DeviceItems, and the columns
  std::size_t bytes = 0;
  std::shared_ptr<Buffer> numbers, ranges;
  std::vector<char> unfit;  ///< by column: outside of the range of floats
};

class GpuProducts final : public DeviceProducts {
 public:
  explicit GpuProducts(GpuMatmul& device) : device_(device) {}

  std::vector<char> multiply(const DeviceProduct& product) override {
    try {
      return multiply_on_gpu(product);
    } catch (const GpuError& error) {
      device_.gpu->require_fallback(error);
      items_.clear();
      return {};
    }
  }

 private:
  std::vector<char> multiply_on_gpu(const DeviceProduct& product) {
    product_ = &product;
    const DeviceItems& items = product.items;
    unfit_.assign(items.columns, 0);
    record_ = items.words * (items.floats ? 2 : 1);
    if (!send_factors()) return std::vector<char>(items.columns, 1);
    const std::size_t bytes = items.chips * record_ * device_.number_bytes();
    std::size_t fit = std::max<std::size_t>(device_.most_bytes / bytes, 1);
    if (fit < items.columns) fit = std::max(fit / device_tile, std::size_t{1}) * device_tile;
    for (std::size_t first = 0; first < items.columns; first += fit) {
      part_ = {first, std::min(fit, items.columns - first)};
      send_items();
      multiply_part();
    }
    return std::exchange(unfit_, {});
  }

  gpu::Device& gpu() const { return *device_.gpu->device; }
  std::shared_ptr<Buffer> take(std::size_t bytes) const { return device_.gpu->pool.take(bytes); }
  bool exact() const { return device_.exact(); }
  bool floats() const { return device_.numbers == DeviceNumbers::Floats; }
  std::size_t rows() const { return product_->panels.size() * lanes; }

  template <typename Number>
  std::shared_ptr<Buffer> sent(const std::vector<Number>& data) const {
    auto buffer = take(data.size() * sizeof(Number));
    gpu().write(*buffer, 0, data.data(), data.size() * sizeof(Number));
    return buffer;
  }

  /// Sends the factors as [piece][panel][factor][lane], with a table of the pieces. False if the
  /// device cannot represent them.
  bool send_factors() {
    const std::vector<DevicePiece>& pieces = product_->pieces;
    const std::vector<std::uint32_t>& panels = product_->panels;
    table_.clear();
    std::size_t count = 0;
    for (const DevicePiece& piece : pieces) {
      table_.insert(table_.end(), {count, piece.depth, piece.chip, piece.first});
      count += piece.depth * rows();
    }
    const bool in_place = !floats() && panels.back() - panels.front() + 1 == panels.size() &&
                          std::ranges::all_of(pieces, [](const DevicePiece& piece) {
                            return piece.panel_step == piece.depth * lanes;
                          });
    if (!in_place) gather_factors(count);
    if (floats()) {
      staged_floats_.resize(count);
      if (!round_to_floats(staged_.data(), count, staged_floats_.data())) return false;
      factors_ = sent(staged_floats_);
      return true;
    }
    factors_ = take(count * sizeof(double));
    if (!in_place) gpu().write(*factors_, 0, staged_.data(), count * sizeof(double));
    std::size_t at = 0;
    for (const DevicePiece& piece : pieces) {
      if (!in_place) break;
      const std::size_t bytes = piece.depth * rows() * sizeof(double);
      gpu().write(*factors_, at, piece.numbers + panels.front() * piece.panel_step, bytes);
      at += bytes;
    }
    if (exact()) factor_ranges_ = ranges_of(*factors_, lanes, 1, count);
    return true;
  }
  void gather_factors(std::size_t count) {
    if (staged_.size() < count) staged_.resize(count);
    double* to = staged_.data();
    for (const DevicePiece& piece : product_->pieces)
      for (const std::uint32_t panel : product_->panels)
        to = std::copy_n(piece.numbers + panel * piece.panel_step, piece.depth * lanes, to);
  }

  /// The ranges of exponents of each four of `count` numbers.
  std::shared_ptr<Buffer> ranges_of(const Buffer& numbers, std::size_t columns, std::size_t record,
                                    std::size_t count) const {
    const std::size_t made = count / columns * parts(columns, 4);
    auto ranges = take(made * sizeof(std::uint32_t));
    gpu().run(*kernel(exponent_ranges_text()),
              {{&numbers}, {ranges.get()}, number(columns), number(record), number(made)},
              parts(made, group_of_small) * group_of_small, group_of_small);
    return ranges;
  }

  /// Sends the items of the part as [chip][column][factor] unless they are there.
  void send_items() {
    find_items();
    for (std::size_t c = 0; floats() && c < part_.count; ++c)
      unfit_[part_.first + c] |= items_.front().unfit[c];
  }
  /// Puts the items of the part first.
  void find_items() {
    const DeviceItems& items = product_->items;
    std::vector<std::uint64_t> place = items.place;
    for (const std::size_t n : {items.columns, items.words, part_.first, part_.count})
      place.push_back(n);
    const auto known = std::ranges::find(items_, place, &ResidentItems::place);
    if (known != items_.end() && known->contents == items.contents)
      return items_.splice(items_.begin(), items_, known);
    if (known != items_.end()) items_.erase(known);
    const std::size_t numbers = part_.count * record_;
    const std::size_t bytes = items.chips * numbers * device_.number_bytes();
    std::size_t resident = bytes;
    for (auto at = items_.begin(); at != items_.end();) {
      resident += at->bytes;
      at = resident > device_.resident_bytes ? items_.erase(at) : std::next(at);
    }
    ResidentItems made{std::move(place), items.contents, bytes,
                       take(bytes),      nullptr,        std::vector<char>(part_.count, 0)};
    const std::size_t words = part_.count * items.words;
    std::vector<std::uint64_t> copy;
    for (std::size_t chip = 0; chip < items.chips; ++chip)
      for (std::size_t first = 0; first < words; first += words_at_once) {
        const std::size_t count = std::min(words_at_once, words - first);
        const std::uint64_t* const from =
            items.view(chip, part_.first * items.words + first, count, copy);
        send_words(from, first, count, chip * numbers, made);
      }
    if (exact())
      made.ranges = ranges_of(*made.numbers, part_.count, record_, items.chips * numbers);
    items_.push_front(std::move(made));
  }

  /// Words of a chip's records, from word `first` of the part on; `at`: the chip's numbers.
  void send_words(const std::uint64_t* from, std::size_t first, std::size_t count, std::size_t at,
                  ResidentItems& made) {
    const std::size_t in_word = product_->items.floats ? 2 : 1, numbers = count * in_word;
    if (product_->items.floats) {
      if (staged_.size() < numbers) staged_.resize(numbers);
      widen_floats(from, count, reinterpret_cast<std::uint64_t*>(staged_.data()));
      from = reinterpret_cast<const std::uint64_t*>(staged_.data());
    }
    const std::size_t offset = (at + first * in_word) * device_.number_bytes();
    if (!floats()) return gpu().write(*made.numbers, offset, from, numbers * sizeof(double));
    staged_floats_.resize(numbers);
    // By column, to find those that do not fit.
    for (std::size_t done = 0; done < numbers;) {
      const std::size_t place = first * in_word + done, column = place / record_;
      const std::size_t some = std::min(numbers - done, (column + 1) * record_ - place);
      if (!round_to_floats(reinterpret_cast<const double*>(from) + done, some,
                           staged_floats_.data() + done))
        made.unfit[column] = 1;
      done += some;
    }
    gpu().write(*made.numbers, offset, staged_floats_.data(), numbers * sizeof(float));
  }

  std::shared_ptr<const Kernel> kernel(const std::string& text) const {
    return device_.gpu->compile(text);
  }

  void multiply_part() {
    const DeviceProduct& product = *product_;
    const std::size_t unit = device_.number_bytes() * (exact() ? 2 : 1);
    const std::size_t per_column = product.pieces.size() * rows() * unit;
    std::size_t depth = 0;
    for (const DevicePiece& piece : product.pieces) depth += piece.depth;
    const double multiplications = static_cast<double>(depth * rows());
    const std::size_t most =
        std::min(bytes_of_sums, device_.most_bytes) / per_column / device_tile * device_tile;
    if (exact()) begin_flags();
    for (std::size_t first = 0; first < part_.count;) {
      cancellation_point();
      const double wanted = device_.multiplications_of_launch / multiplications / device_tile;
      const std::size_t columns =
          std::clamp<std::size_t>(static_cast<std::size_t>(std::min(wanted, 1e6)) * device_tile,
                                  device_tile, std::max(most, device_tile));
      const Columns some{first, std::min(columns, part_.count - first)};
      const Clock::time_point start = Clock::now();
      launch(some);
      const double seconds = std::chrono::duration<double>(Clock::now() - start).count();
      const double done = multiplications * static_cast<double>(some.count);
      // A small launch does not tell how fast a large one is: at most four times as much.
      device_.multiplications_of_launch =
          std::max(first_multiplications, done * std::min(4.0, seconds_of_launch / seconds));
      first += some.count;
    }
    if (exact()) end_flags();
  }

  /// Computes some columns of the part.
  void launch(const Columns& some) {
    const DeviceProduct& product = *product_;
    const std::size_t pieces = product.pieces.size(), count = some.count * rows();
    const std::size_t row_tiles = parts(rows(), device_tile);
    const std::size_t column_tiles = parts(some.count, device_tile);
    const std::size_t groups = pieces * row_tiles * column_tiles;
    const auto table = sent(table_);
    const std::size_t bytes = device_.number_bytes();
    const auto sums = take(pieces * count * bytes);
    const std::size_t join_threads = parts(count, group_of_small) * group_of_small;
    const auto results = take(count * bytes * (floats() ? 2 : 1));
    if (exact()) {
      const auto lows = take(pieces * count * bytes);
      add_exactly(some, *table, *sums, *lows);
      gpu().run(*kernel(exact_join_text(product.blocks)),
                {{sums.get()}, {lows.get()}, {results.get()}, number(pieces), number(count)},
                join_threads, group_of_small);
    } else {
      gpu().run(*kernel(fast_sums_text(!floats())),
                {{factors_.get()},
                 {items_.front().numbers.get()},
                 {table.get()},
                 {sums.get()},
                 number(product.panels.size()),
                 number(some.first),
                 number(some.count),
                 number(part_.count),
                 number(record_),
                 number(row_tiles),
                 number(column_tiles)},
                groups * fast_group, fast_group);
      gpu().run(*kernel(fast_join_text(!floats())),
                {{sums.get()}, {results.get()}, number(pieces), number(count)}, join_threads,
                group_of_small);
    }
    read_results(*results, some);
  }

  /// The machine's sums of all blocks.
  void add_exactly(const Columns& some, const Buffer& table, const Buffer& highs,
                   const Buffer& lows) {
    const DeviceProduct& product = *product_;
    const std::size_t pieces = product.pieces.size(), fours = parts(some.count, 4);
    const std::size_t depth = product.pieces.front().depth;
    const std::size_t row_tiles = parts(rows(), device_tile);
    const std::size_t column_tiles = parts(some.count, device_tile);
    const auto ways = take(pieces * fours * rows() / 4 * sizeof(std::uint32_t));
    const Buffer *const items = items_.front().numbers.get(), *const ranges =
                                                                  items_.front().ranges.get();
    gpu().run(*kernel(exact_sums_text(depth)),
              {{factors_.get()},
               {items},
               {factor_ranges_.get()},
               {ranges},
               {&table},
               {&highs},
               {&lows},
               {ways.get()},
               number(product.panels.size()),
               number(some.first),
               number(some.count),
               number(part_.count),
               number(record_),
               number(row_tiles),
               number(column_tiles),
               number(no_estimates_ > 0 ? 0 : depth)},
              pieces * row_tiles * column_tiles * exact_group, exact_group);
    const std::size_t count = pieces * fours * rows();
    gpu().run(*kernel(exact_repeats_text(depth)),
              {{factors_.get()},
               {items},
               {&table},
               {&highs},
               {&lows},
               {ways.get()},
               {unfit_groups_.get()},
               {repeated_.get()},
               number(product.panels.size()),
               number(some.first),
               number(some.count),
               number(part_.count),
               number(record_),
               number(count)},
              parts(count, group_of_small) * group_of_small, group_of_small);
  }

  void read_results(const Buffer& results, const Columns& some) {
    const std::size_t column = part_.first + some.first, count = some.count * rows();
    double* const to = product_->sums + column * rows();
    if (!floats()) return gpu().read(results, 0, to, count * sizeof(double));
    staged_floats_.resize(2 * count);
    gpu().read(results, 0, staged_floats_.data(), 2 * count * sizeof(float));
    for (std::size_t n = 0; n < count; ++n) {
      const float high = staged_floats_[n], low = staged_floats_[count + n];
      to[n] = double{high} + double{low};
      if (!std::isfinite(to[n])) unfit_[column + n / rows()] = 1;
    }
  }

  // --- exact products: what the work items report

  void begin_flags() {
    flags_.assign(parts(part_.count, 4), 0);
    unfit_groups_ = sent(flags_);
    flags_.assign(parts(part_.count, device_tile), 0);
    repeated_ = sent(flags_);
  }
  void end_flags() {
    flags_.resize(parts(part_.count, device_tile));
    gpu().read(*repeated_, 0, flags_.data(), flags_.size() * sizeof(std::uint32_t));
    const auto repeated = static_cast<std::size_t>(std::ranges::count(flags_, 1U));
    if (no_estimates_ > 0)
      --no_estimates_;
    else if (2 * repeated > flags_.size())
      no_estimates_ = products_between_estimates;
    flags_.resize(parts(part_.count, 4));
    gpu().read(*unfit_groups_, 0, flags_.data(), flags_.size() * sizeof(std::uint32_t));
    for (std::size_t c = 0; c < part_.count; ++c)
      if (flags_[c / 4] != 0) unfit_[part_.first + c] = 1;
  }

  GpuMatmul& device_;
  const DeviceProduct* product_ = nullptr;  ///< the current one
  std::size_t record_ = 0;                  ///< numbers of a column in one chip
  Columns part_;                            ///< its columns whose items are on the device
  std::vector<char> unfit_;                 ///< by column of the product
  std::vector<double> staged_;
  std::vector<float> staged_floats_;
  std::vector<std::uint64_t> table_;
  std::vector<std::uint32_t> flags_;
  std::shared_ptr<Buffer> factors_, factor_ranges_;
  std::list<ResidentItems> items_;  ///< those of the part first, then by their last use
  std::shared_ptr<Buffer> unfit_groups_, repeated_;
  unsigned no_estimates_ = 0;  ///< exact products that begin without estimates
};

std::unique_ptr<DeviceProducts> GpuMatmul::products() {
  return std::make_unique<GpuProducts>(*this);
}

}  // namespace

std::shared_ptr<MatmulDevice> matmul_on(std::shared_ptr<Gpu> gpu, DeviceNumbers numbers,
                                        std::size_t most_bytes) {
  const gpu::DeviceInfo& info = gpu->device->info();
  const std::size_t group = numbers == DeviceNumbers::Exact ? exact_group : fast_group;
  if (info.local_bytes < tile_bytes || info.largest_group < group) return nullptr;
  return std::make_shared<GpuMatmul>(std::move(gpu), numbers, most_bytes);
}

}  // namespace gdr
