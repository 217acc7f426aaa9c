// The command lists of a product: the program, columns to memory, tiles, and runs that return the
// results.
#include <algorithm>
#include <array>
#include <bit>
#include <cstdint>
#include <cstring>
#include <type_traits>
#include <utility>

#include "emulator/host/parallel.hpp"
#include "gdr/error.hpp"
#include "libgdr/dense/product_runner.hpp"

#if defined(__x86_64__)
#include <emmintrin.h>
#endif

namespace gdr::dense {
namespace {

/// Largest payload and largest result of a list, words. Within a list the next tile is sent while
/// the board computes.
constexpr std::size_t list_words = std::size_t{1} << 24;
/// Elements below which one thread stores the results.
constexpr std::size_t parallel_threshold = 100'000;
/// Elements of C beyond which it is written with non-temporal stores if it is not read.
constexpr std::size_t cache_numbers = std::size_t{1} << 19;

/// Adds x[i] to n sums in twice the precision of a double, high + low. Exact except for the sum of
/// the rounding errors (Knuth's two-sum); infinities are preserved.
void add_to_sums(double* high, double* low, const double* x, std::size_t n) noexcept {
  for (std::size_t i = 0; i < n; ++i) {
    const double sum = high[i] + x[i];
    const double part = sum - high[i];
    low[i] += (high[i] - (sum - part)) + (x[i] - part);
    high[i] = sum;
  }
}

/// The sums as doubles.
void round_sums(const double* high, const double* low, std::size_t n, double* to) noexcept {
  for (std::size_t i = 0; i < n; ++i) {
    const double sum = high[i] + low[i];
    to[i] = sum - sum == 0 ? sum : high[i];
  }
}

/// to[i] = value(i), for i below n, with non-temporal stores: results too large for the caches are
/// written without being fetched first. Visible to other threads after `end_nontemporal`.
template <typename Value>
void store_nontemporal(double* to, std::size_t n, Value value) noexcept {
  std::size_t i = 0;
#if defined(__x86_64__)
  // Whole cache lines only.
  constexpr std::size_t line = 8, bytes = line * sizeof(double);
  for (; i < n && reinterpret_cast<std::uintptr_t>(to + i) % bytes != 0; ++i) to[i] = value(i);
  for (; i + line <= n; i += line)
    for (std::size_t k = i; k < i + line; k += 2)
      _mm_stream_pd(to + k, _mm_set_pd(value(k + 1), value(k)));
#endif
  for (; i < n; ++i) to[i] = value(i);
}

void end_nontemporal() noexcept {
#if defined(__x86_64__)
  _mm_sfence();
#endif
}

/// The product on one board, with the list that is being built.
class BoardProduct {
 public:
  BoardProduct(ProductRunner& product, BoardSlot& slot) : product_(product), slot_(slot) {}

  /// Computes some tiles of C for the columns of the block, a resident tile first.
  void multiply(std::vector<std::size_t> tiles) {
    slot_.list.commands.clear();
    try {
      slot_.load_program(product_kernel(product_.call.format),
                         product_.core->geometry.chips_per_board, product_.stop);
      ensure_columns();
      const ResidentTile& has = slot_.contents.tile;
      const auto resident = std::ranges::find(tiles, has.row / product_.mapping.rows);
      if (has.revision == product_.tiled_revision && resident != tiles.end())
        std::rotate(tiles.begin(), resident, resident + 1);
      for (const std::size_t tile : tiles) loop_pc(tile * product_.mapping.rows);
      fetch_results();
    } catch (...) {
      slot_.discard_work();
      throw;
    }
  }

 private:
  /// A run of the list: rows of C from `row` on, the first or last pass of the inner dimension.
  struct PendingRun {
    std::size_t row = 0;
    bool first = true, last = true;
  };

  Command& add(CommandKind kind, std::uint64_t chips) {
    Command& command = slot_.list.commands.emplace_back();
    command.kind = kind;
    command.chips = chips;
    command.payload = payload_used_;
    return command;
  }

  /// Extends the payload of the list by so many uninitialised words.
  std::uint64_t* reserve_payload(std::size_t words) {
    std::vector<std::uint64_t>& payload = slot_.list.payload;
    const std::size_t from = payload_used_;
    payload_used_ += words;
    if (payload.size() < payload_used_) payload.resize(payload_used_);
    return payload.data() + from;
  }

  void execute() {
    if (product_.stop.stop_requested()) throw Cancelled();
    if (product_.direct) {
      slot_.board->count(slot_.list);
      slot_.list.commands.clear();
      return;
    }
    // Lists without runs leave the results of earlier ones where they are, with their memory.
    std::vector<std::uint64_t> none;
    slot_.board->execute(slot_.list, pending_.empty() ? none : slot_.words, product_.stop);
    slot_.list.commands.clear();
    payload_used_ = 0;  // keep the memory: it is mapped already
  }

  /// Writes columns of B to the memories: the passes of the inner dimension in order, each with one
  /// item for each column and one more, which flushes the last results.
  void send_columns() {
    const std::size_t item = product_.mapping.words, words = (product_.columns.count + 1) * item;
    for (std::size_t first = 0, part = 0; first < product_.inner.size();
         first += product_.pass_depth(), ++part) {
      for (unsigned chip = 0; chip < product_.chips(); ++chip) {
        Command& write = add(CommandKind::WriteMemory, std::uint64_t{1} << chip);
        write.address = product_.columns.address + part * words;
        write.count = words;
        if (product_.needs_data()) {
          std::uint64_t* const to = reserve_payload(words);
          pack_columns(product_.call.b, product_.columns.first, product_.columns.count,
                       product_.inner, first + chip * product_.mapping.depth, item,
                       product_.call.format, product_.core->threads, to);
          std::fill_n(to + product_.columns.count * item, item, 0);
        }
        execute();
      }
    }
  }

  /// Sends the columns unless they are resident. Leading blocks of columns stay resident.
  void ensure_columns() {
    SentSources& resident = slot_.contents.sources;
    const std::size_t blocks = resident.revision == product_.streamed_revision ? resident.parts : 0;
    if (product_.columns.index < blocks) return;
    resident = {};
    send_columns();
    if (product_.columns.resident && product_.columns.index == blocks)
      resident = {product_.streamed_revision, ChipPartition::PartsOverBlocks, blocks + 1};
  }

  /// Blocks of a chip that hold inner indices, from `first` on, within the inner dimension.
  std::size_t blocks_used(std::size_t first) const {
    const std::size_t at = first % product_.inner.pitch, depth = product_.mapping.block;
    if (first >= product_.inner.size() || at >= product_.inner.k) return 0;
    // Blocks that hold different rows hold the same inner indices.
    const std::size_t alike = product_.core->geometry.blocks * depth / product_.mapping.depth;
    return std::min<std::size_t>(alike * ((product_.inner.k - at + depth - 1) / depth),
                                 product_.core->geometry.blocks);
  }

  /// Sends a tile of A for one pass of the inner dimension unless it is resident: to the blocks
  /// that it fills, and zeros to those that the previous tile filled. If the list fails the board's
  /// contents are invalidated, and the tile with them.
  void send_tile(std::size_t row, std::size_t first) {
    const ResidentTile wanted{product_.tiled_revision, row, first};
    BoardContents& contents = slot_.contents;
    if (std::exchange(contents.tile, wanted) == wanted) return;
    const std::size_t block_pes = product_.core->geometry.pes_per_block;
    const std::size_t rows = std::min(product_.mapping.rows, product_.call.m - row);
    for (std::size_t chip = 0; chip < product_.chips(); ++chip) {
      const std::size_t from = first + chip * product_.mapping.depth, needed = blocks_used(from);
      const std::size_t blocks = std::max(needed, contents.fill_blocks(chip, needed));
      if (blocks == 0) continue;
      Command& write = add(CommandKind::WriteTargets, std::uint64_t{1} << chip);
      write.count = blocks * block_pes * elements;
      if (!product_.needs_data()) continue;
      pack_tile(product_.call.a, {row, rows, from, blocks, block_pes}, product_.inner,
                product_.call.format, product_.core->threads,
                reserve_payload(write.count * 2 * block_words));
    }
  }

  /// Loop pc: adds the runs that compute rows of C from `row` on for resident columns, one for each
  /// pass of the inner dimension.
  void loop_pc(std::size_t row) {
    const std::size_t results = (product_.columns.count + 1) * product_.mapping.results;
    for (std::size_t first = 0; first < product_.inner.size(); first += product_.pass_depth()) {
      const bool full = (pending_.size() + 1) * results > list_words || payload_used_ > list_words;
      if (full && !pending_.empty()) fetch_results();
      send_tile(row, first);
      Command& run = add(CommandKind::Run, (std::uint64_t{2} << (product_.chips() - 1)) - 1);
      run.partition = ChipPartition::PartsOverBlocks;
      run.address = product_.columns.address + first / product_.pass_depth() *
                                                   (product_.columns.count + 1) *
                                                   product_.mapping.words;
      run.count = product_.columns.count + 1;
      // Including blocks without a tile, which add zeros.
      run.targets =
          product_.core->geometry.blocks * product_.core->geometry.pes_per_block * elements;
      run.flags = run_start | run_end | run_return | run_results_only;
      pending_.push_back({row, first == 0, first + product_.pass_depth() >= product_.inner.size()});
    }
  }

  /// Results of the runs of one tile in a list: of all passes of the inner dimension, or of some.
  struct Parts {
    std::size_t row = 0, rows = 0;            ///< rows of C
    bool first = false, last = false;         ///< whether the first, the last pass is included
    std::vector<const double*> results = {};  ///< results of each pass: [column][row of the tile]
  };

  /// Adds up a column over the passes. With the last pass it returns the rounded sums, in `to` or
  /// where they are; before that it saves them and returns null.
  const double* sum_parts(const Parts& parts, std::size_t column, double* to) {
    const std::size_t rows = parts.rows, at = column * tile_rows;
    if (parts.first && parts.last && parts.results.size() == 1) return parts.results.front() + at;
    std::array<double, tile_rows> high{}, low{};
    if (!parts.first) {
      std::copy_n(&sums_high_[column * rows], rows, high.begin());
      std::copy_n(&sums_low_[column * rows], rows, low.begin());
    }
    for (const double* const results : parts.results)
      add_to_sums(high.data(), low.data(), results + at, rows);
    if (parts.last) {
      round_sums(high.data(), low.data(), rows, to);
      return to;
    }
    std::copy_n(high.begin(), rows, &sums_high_[column * rows]);
    std::copy_n(low.begin(), rows, &sums_low_[column * rows]);
    return nullptr;
  }

  /// Adds up, and stores complete sums to C: scaled in double, and rounded once.
  template <typename Number>
  void store(const MatrixView<Number>& c, const Parts& parts) {
    constexpr std::size_t strip = 64;  // columns per task
    const bool transposed = c.transpose == Transpose::Yes;
    const std::size_t down = transposed ? c.stride : 1, across = transposed ? 1 : c.stride;
    const double alpha = product_.call.alpha, beta = product_.call.beta;
    const bool large = product_.call.m * product_.call.n > cache_numbers;
    const std::size_t rows = parts.rows;
    const auto store_column = [&](std::size_t column) {
      std::array<double, tile_rows> sums;
      const double* const from = sum_parts(parts, column, sums.data());
      if (!parts.last) return;
      Number* const to = c.data + parts.row * down + (product_.columns.first + column) * across;
      // Specialised loops for the common cases, which the compiler vectorises.
      if constexpr (std::is_same_v<Number, double>) {
        if (beta == 0 && down == 1 && large)
          return store_nontemporal(to, rows, [&](std::size_t r) { return alpha * from[r] + 0; });
      }
      if (beta == 0 && down == 1) {
        for (std::size_t r = 0; r < rows; ++r) to[r] = static_cast<Number>(alpha * from[r] + 0);
      } else if (down == 1) {
        for (std::size_t r = 0; r < rows; ++r)
          to[r] = static_cast<Number>(alpha * from[r] + beta * to[r]);
      } else {
        for (std::size_t r = 0; r < rows; ++r)
          to[r * down] = static_cast<Number>(alpha * from[r] + scaled(beta, to[r * down]));
      }
    };
    const Phase phase{(product_.columns.count + strip - 1) / strip, [&](std::size_t task) {
                        const std::size_t end =
                            std::min(product_.columns.count, (task + 1) * strip);
                        for (std::size_t n = task * strip; n < end; ++n) store_column(n);
                        end_nontemporal();
                      }};
    run_phases({&phase, 1},
               product_.columns.count * rows > parallel_threshold ? product_.core->threads : 1);
  }

  /// Executes the list and stores its results.
  void fetch_results() {
    execute();
    if (!product_.needs_data()) {
      for (const PendingRun& run : pending_) {
        product_.tile_done[run.row / product_.mapping.rows] = true;
        if (product_.clock == nullptr) continue;
        // A result is written by the link and read, an element of C is written and read unless beta
        // is zero. Packing the factors takes less.
        const std::size_t accesses =
            2 + (run.last ? 1 : 0) + (run.last && product_.call.beta != 0 ? 1 : 0);
        const std::size_t numbers =
            std::min(product_.mapping.rows, product_.call.m - run.row) * product_.columns.count;
        product_.clock->add_work(0, static_cast<double>(accesses * numbers * sizeof(double)));
      }
      pending_.clear();
      return;
    }
    // The results of a column are returned with the next item.
    const std::uint64_t* words = slot_.words.data() + tile_rows;
    Parts parts;
    for (const PendingRun& run : pending_) {
      if (parts.results.empty())
        parts = {run.row, std::min(tile_rows, product_.call.m - run.row), run.first, false, {}};
      parts.results.push_back(reinterpret_cast<const double*>(words));
      parts.last = run.last;
      words += (product_.columns.count + 1) * tile_rows;
      if (!run.last && &run != &pending_.back()) continue;
      if (parts.first && !parts.last) {
        sums_high_.assign(product_.columns.count * parts.rows, 0);
        sums_low_.assign(product_.columns.count * parts.rows, 0);
      }
      std::visit([&](const auto& c) { store(c, parts); }, product_.call.c);
      if (parts.last) product_.tile_done[run.row / tile_rows] = true;
      parts.results.clear();
    }
    pending_.clear();
  }

  ProductRunner& product_;
  BoardSlot& slot_;
  std::size_t payload_used_ = 0;     ///< words in use of the list's payload, which never shrinks
  std::vector<PendingRun> pending_;  ///< runs of the list
  std::vector<double> sums_high_, sums_low_;  ///< sums over the passes of previous lists
};

}  // namespace

void ProductRunner::multiply_on_board(BoardSlot& slot, std::vector<std::size_t> tiles) {
  BoardProduct(*this, slot).multiply(std::move(tiles));
}

}  // namespace gdr::dense
