// The product: for each stretch of columns, tile after tile, parts of the inner dimension inside.
#include <algorithm>
#include <atomic>
#include <bit>
#include <cstring>
#include <limits>
#include <string>
#include <vector>

#include "gdr/error.hpp"
#include "gdr/matrix.hpp"
#include "kernels/builtin.hpp"
#include "libgdr/dense/tiles.hpp"
#include "libgdr/device/account.hpp"
#include "libgdr/device/core.hpp"

namespace gdr {
namespace {

using dense::block_depth;
using dense::Inner;
using dense::tile_rows;

/// Columns at a time: enough to hide the tile's loading, few enough for the host's memory.
constexpr std::size_t most_columns = 16384;
/// Words that one list returns, and takes, at most: within a list the next tile is sent while a
/// board works.
constexpr std::size_t list_words = std::size_t{1} << 24;

[[noreturn]] void usage(const std::string& message) { throw Error(ErrorCategory::Usage, message); }

void check_geometry(const Geometry& g) {
  const Geometry chip;
  if (g.pes_per_block >= chip.pes_per_block && g.local_words >= chip.local_words &&
      g.register_words >= chip.register_words && g.broadcast_words >= chip.broadcast_words)
    return;
  throw Error(ErrorCategory::Unsupported,
              "matrix products need blocks of " + std::to_string(chip.pes_per_block) +
                  " PEs with the memories of the chip; leave pes and memory sizes as they are");
}

/// Whether a matrix can be there; `rows` and `columns` as it is stored.
template <typename Number>
void check_matrix(const MatrixView<Number>& x, std::size_t rows, std::size_t columns,
                  const char* name) {
  if (x.stride < std::max<std::size_t>(rows, 1))
    usage("the leading dimension of " + std::string(name) + " is " + std::to_string(x.stride) +
          ", but it has " + std::to_string(rows) + " rows");
  if (rows == 0 || columns == 0) return;
  if (columns > std::numeric_limits<std::size_t>::max() / sizeof(double) / x.stride)
    usage(std::string(name) + " is larger than any memory");
  if (x.data == nullptr) usage("the matrix " + std::string(name) + " is a null pointer");
}

/// Numbers that are added up in twice the precision of a double.
struct Sums {
  std::vector<double> high, low;
  void begin(std::size_t n) {
    high.assign(n, 0);
    low.assign(n, 0);
  }
  /// Exact but for the sum of what is left over (Knuth's two-sum); infinities stay what they are.
  void add(std::size_t i, double x) noexcept {
    const double sum = high[i] + x;
    const double part = sum - high[i];
    low[i] += (high[i] - (sum - part)) + (x - part);
    high[i] = sum;
  }
  double value(std::size_t i) const noexcept {
    const double sum = high[i] + low[i];
    return sum - sum == 0 ? sum : high[i];
  }
};

/// beta C, where C is not read if beta is zero.
double scaled(double beta, double c) noexcept { return beta == 0 ? 0 : beta * c; }

}  // namespace

struct MatrixProduct::Impl {
  struct Call {
    std::size_t m = 0, n = 0, k = 0;
    double alpha = 0, beta = 0;
    MatrixView<const double> a, b;
    MatrixView<double> c;
  };

  /// Of op(B) and C, that are on a board together.
  struct Columns {
    std::size_t first = 0, count = 0;
  };
  /// A run over them: rows of C from `row` on, the first or last part of the inner dimension.
  struct Pending {
    std::size_t row = 0;
    bool first = true, last = true;
  };

  Impl(std::shared_ptr<DeviceCore> device, MatrixPrecision wanted)
      : core(std::move(device)),
        precision(wanted),
        kernel(Kernel::assemble(dense_kernels().front().source, "dgemm.gds")) {
    check_geometry(core->geometry);
    work.body = [this] { run(); };
  }
  Impl(const Impl&) = delete;
  Impl& operator=(const Impl&) = delete;
  ~Impl() { core->queue.abandon(work); }

  /// Inner indices of a chip, and of all chips of a board.
  std::size_t chip_depth() const { return block_depth * core->geometry.blocks; }
  std::size_t board_depth() const { return chip_depth() * core->geometry.chips_per_board; }
  /// Chips that a product needs: a short inner dimension leaves some out.
  unsigned chips(const Inner& inner) const {
    const std::size_t needed = (inner.size() + chip_depth() - 1) / chip_depth();
    return static_cast<unsigned>(std::min<std::size_t>(needed, core->geometry.chips_per_board));
  }

  void run();
  void load(BoardSlot& slot);
  void stretch(const Inner& inner, const Columns& columns);
  void send_columns(BoardSlot& slot, const Inner& inner, const Columns& columns);
  void send_tile(BoardSlot& slot, const Inner& inner, std::size_t row, std::size_t first);
  void add_tile(BoardSlot& slot, const Inner& inner, std::size_t row, const Columns& columns);
  void collect(BoardSlot& slot, const Columns& columns);
  Command& add(BoardSlot& slot, CommandKind kind, std::uint64_t chips) const;
  void execute(BoardSlot& slot);

  std::shared_ptr<DeviceCore> core;
  MatrixPrecision precision;
  Kernel kernel;
  Work work;
  Call call;
  std::vector<Pending> pending;  ///< runs of the list that is being written
  Sums sums;
};

Command& MatrixProduct::Impl::add(BoardSlot& slot, CommandKind kind, std::uint64_t chips) const {
  Command& command = slot.list.commands.emplace_back();
  command.kind = kind;
  command.chips = chips;
  command.payload = slot.list.payload.size();
  return command;
}

void MatrixProduct::Impl::execute(BoardSlot& slot) {
  if (work.abandoned)
    throw Error(ErrorCategory::Device, "the work was abandoned before it was done");
  slot.board.execute(slot.list, slot.words);
  slot.list.commands.clear();
  slot.list.payload.clear();
}

void MatrixProduct::Impl::load(BoardSlot& slot) {
  slot.list = {};
  slot.resident = {};
  if (slot.loaded && &slot.loaded->program() == &kernel.program()) return;
  slot.loaded.reset();
  const std::vector<std::uint8_t>& object = kernel.object();
  Command& command = add(slot, CommandKind::LoadProgram, 0);
  command.count = object.size();
  slot.list.payload.resize((object.size() + 7) / 8);
  std::memcpy(slot.list.payload.data(), object.data(), object.size());
  execute(slot);
  slot.loaded = kernel;
}

/// Columns of B to the memories: parts of the inner dimension one behind the other, in each part an
/// item for each column and one more, with which the last results leave.
void MatrixProduct::Impl::send_columns(BoardSlot& slot, const Inner& inner,
                                       const Columns& columns) {
  const std::size_t depth = chip_depth(), words = (columns.count + 1) * depth;
  for (std::size_t first = 0, part = 0; first < inner.size(); first += board_depth(), ++part) {
    for (unsigned chip = 0; chip < chips(inner); ++chip) {
      Command& write = add(slot, CommandKind::WriteMemory, std::uint64_t{1} << chip);
      write.address = part * words;
      write.count = words;
      slot.list.payload.resize(write.payload + words, 0);
      dense::pack_columns(call.b, columns.first, columns.count, inner, first + chip * depth, depth,
                          core->threads, slot.list.payload.data() + write.payload);
      execute(slot);
    }
  }
}

/// A tile of A for one part of the inner dimension, to all chips.
void MatrixProduct::Impl::send_tile(BoardSlot& slot, const Inner& inner, std::size_t row,
                                    std::size_t first) {
  const std::size_t blocks = core->geometry.blocks;
  constexpr std::size_t of_block = dense::pes * dense::elements * 2 * block_depth;
  // PEs beyond those that the kernel uses hold zeros.
  const std::size_t block_words = core->geometry.pes_per_block * dense::elements * 2 * block_depth;
  std::vector<std::uint64_t> records(blocks * of_block);
  for (std::size_t chip = 0; chip < chips(inner); ++chip) {
    dense::pack_tile(call.a, call.m, row, inner, first + chip * chip_depth(), blocks,
                     records.data());
    Command& write = add(slot, CommandKind::WriteTargets, std::uint64_t{1} << chip);
    write.count = blocks * block_words / (2 * block_depth);
    slot.list.payload.resize(write.payload + blocks * block_words, 0);
    for (std::size_t b = 0; b < blocks; ++b)
      std::copy_n(records.data() + b * of_block, of_block,
                  slot.list.payload.data() + write.payload + b * block_words);
  }
}

/// Rows of C from `row` on, of columns that are on the board: all parts of the inner dimension.
void MatrixProduct::Impl::add_tile(BoardSlot& slot, const Inner& inner, std::size_t row,
                                   const Columns& columns) {
  const std::size_t results = (columns.count + 1) * tile_rows;
  for (std::size_t first = 0; first < inner.size(); first += board_depth()) {
    const bool full =
        (pending.size() + 1) * results > list_words || slot.list.payload.size() > list_words;
    if (full && !pending.empty()) collect(slot, columns);
    send_tile(slot, inner, row, first);
    Command& run = add(slot, CommandKind::Run, (std::uint64_t{2} << (chips(inner) - 1)) - 1);
    run.share = Share::PartsOverBlocks;
    run.address = first / board_depth() * (columns.count + 1) * chip_depth();
    run.count = columns.count + 1;
    run.flags = run_start | run_end | run_return | run_results_only;
    pending.push_back({row, first == 0, first + board_depth() >= inner.size()});
  }
}

/// Executes what was added, and takes the results.
void MatrixProduct::Impl::collect(BoardSlot& slot, const Columns& columns) {
  execute(slot);
  // The results of a column leave with the item behind it.
  const std::uint64_t* words = slot.words.data() + tile_rows;
  for (const Pending& run : pending) {
    const std::size_t rows = std::min(tile_rows, call.m - run.row);
    if (run.first) sums.begin(columns.count * rows);
    for (std::size_t c = 0; c < columns.count; ++c)
      for (std::size_t r = 0; r < rows; ++r)
        sums.add(c * rows + r, std::bit_cast<double>(words[c * tile_rows + r]));
    words += (columns.count + 1) * tile_rows;
    if (!run.last) continue;
    for (std::size_t c = 0; c < columns.count; ++c) {
      double* const to = call.c.data + (columns.first + c) * call.c.stride + run.row;
      for (std::size_t r = 0; r < rows; ++r)
        to[r] = call.alpha * sums.value(c * rows + r) + scaled(call.beta, to[r]);
    }
  }
  pending.clear();
}

/// Tiles go to the boards in turns; each has the columns of all.
void MatrixProduct::Impl::stretch(const Inner& inner, const Columns& columns) {
  const std::size_t tiles = (call.m + tile_rows - 1) / tile_rows;
  const std::size_t boards = std::min(tiles, core->boards.size());
  for (std::size_t b = 0; b < boards; ++b) {
    BoardSlot& slot = core->boards[b];
    try {
      load(slot);
      send_columns(slot, inner, columns);
      for (std::size_t t = b; t < tiles; t += boards) add_tile(slot, inner, t * tile_rows, columns);
      collect(slot, columns);
    } catch (...) {
      pending.clear();
      slot.list = {};
      slot.loaded.reset();
      throw;
    }
  }
}

void MatrixProduct::Impl::run() {
  Account account(*core);
  Inner inner{call.k, dense::terms_of(call.a, call.b, call.m, call.n, call.k, precision)};
  // What the memories hold bounds the columns, and of a very long inner dimension its parts.
  const std::size_t memory = core->geometry.dram_bytes / sizeof(double) / chip_depth();
  const std::size_t parts = (inner.size() + board_depth() - 1) / board_depth();
  if (memory / parts < 2)
    throw Error(ErrorCategory::Unsupported,
                "an inner dimension of " + std::to_string(call.k) +
                    " does not fit the memory of a board; give the device more dram, or divide it");
  const std::size_t columns = std::min(most_columns, memory / parts - 1);
  for (std::size_t column = 0; column < call.n; column += columns)
    stretch(inner, {column, std::min(columns, call.n - column)});
  const double flops =
      2.0 * static_cast<double>(call.m) * static_cast<double>(call.n) * static_cast<double>(call.k);
  account.done(0, flops);
}

MatrixProduct::MatrixProduct(Device& device, MatrixPrecision precision)
    : impl_(std::make_unique<Impl>(device.core(), precision)) {}
MatrixProduct::~MatrixProduct() = default;
MatrixProduct::MatrixProduct(MatrixProduct&&) noexcept = default;
MatrixProduct& MatrixProduct::operator=(MatrixProduct&&) noexcept = default;

bool MatrixProduct::prepare(std::size_t m, std::size_t n, std::size_t k, double alpha,
                            const MatrixView<const double>& a, const MatrixView<const double>& b,
                            double beta, const MatrixView<double>& c) {
  wait();
  const auto check = [](const auto& x, std::size_t rows, std::size_t columns, const char* name,
                        bool read) {
    if (x.transpose == Transpose::Yes) std::swap(rows, columns);
    check_matrix(x, rows, read ? columns : 0, name);
  };
  if (c.transpose == Transpose::Yes) usage("C is written as it is stored: transpose the factors");
  const bool multiplies = alpha != 0 && m > 0 && n > 0;
  check(a, m, k, "A", multiplies);
  check(b, k, n, "B", multiplies);
  check(c, m, n, "C", true);
  if (m == 0 || n == 0) return false;
  if (alpha == 0 || k == 0) {
    for (std::size_t column = 0; beta != 1 && column < n; ++column)
      for (std::size_t row = 0; row < m; ++row)
        c.data[row + column * c.stride] = scaled(beta, c.data[row + column * c.stride]);
    return false;
  }
  impl_->call = {m, n, k, alpha, beta, a, b, c};
  return true;
}

void MatrixProduct::compute(std::size_t m, std::size_t n, std::size_t k, double alpha,
                            const MatrixView<const double>& a, const MatrixView<const double>& b,
                            double beta, const MatrixView<double>& c) {
  if (prepare(m, n, k, alpha, a, b, beta, c)) impl_->core->queue.run(impl_->work);
}

void MatrixProduct::start(std::size_t m, std::size_t n, std::size_t k, double alpha,
                          const MatrixView<const double>& a, const MatrixView<const double>& b,
                          double beta, const MatrixView<double>& c) {
  if (prepare(m, n, k, alpha, a, b, beta, c)) impl_->core->queue.submit(impl_->work);
}

void MatrixProduct::wait() { impl_->core->queue.wait(impl_->work); }

std::size_t MatrixProduct::depth() const noexcept { return impl_->board_depth(); }

}  // namespace gdr
