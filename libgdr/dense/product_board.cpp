// The command lists of a product: the program, columns to memory, tiles, and runs that return the
// results.
#include <algorithm>
#include <array>
#include <bit>
#include <cstring>
#include <type_traits>
#include <utility>

#include "emulator/host/parallel.hpp"
#include "gdr/error.hpp"
#include "libgdr/dense/nontemporal.hpp"
#include "libgdr/dense/product_runner.hpp"

namespace gdr::dense {
namespace {

/// Largest payload and largest result of a list, words. Within a list the next tile is sent while
/// the board computes.
constexpr std::size_t list_words = std::size_t{1} << 24;
/// Elements below which one thread stores the results.
constexpr std::size_t parallel_threshold = 100'000;
/// Elements of C beyond which it is written with non-temporal stores if it is not read.
constexpr std::size_t cache_numbers = std::size_t{1} << 19;

}  // namespace

Command& ProductRunner::add(BoardProduct& board, CommandKind kind, std::uint64_t chips) const {
  Command& command = board.slot.list.commands.emplace_back();
  command.kind = kind;
  command.chips = chips;
  command.payload = board.payload_used;
  return command;
}

/// Extends the payload of the list by so many uninitialised words.
std::uint64_t* ProductRunner::reserve_payload(BoardProduct& board, std::size_t words) {
  std::vector<std::uint64_t>& payload = board.slot.list.payload;
  const std::size_t from = board.payload_used;
  board.payload_used += words;
  if (payload.size() < board.payload_used) payload.resize(board.payload_used);
  return payload.data() + from;
}

void ProductRunner::execute(BoardProduct& board) {
  if (stop.stop_requested()) throw Cancelled();
  // Lists without runs leave the results of earlier ones where they are, with their memory.
  std::vector<std::uint64_t> none;
  board.slot.board->execute(board.slot.list, board.pending.empty() ? none : board.slot.words, stop);
  board.slot.list.commands.clear();
  board.payload_used = 0;  // keep the memory: it is mapped already
}

void ProductRunner::load_program(BoardProduct& board) {
  board.slot.list.commands.clear();
  board.payload_used = 0;
  const Kernel& wanted = kernel();
  if (board.slot.contents.holds(wanted)) return;
  board.slot.contents.invalidate();
  const std::vector<std::uint8_t>& object = wanted.object();
  Command& command = add(board, CommandKind::LoadProgram, 0);
  command.count = object.size();
  std::memcpy(reserve_payload(board, (object.size() + 7) / 8), object.data(), object.size());
  execute(board);
  board.slot.contents.loaded(wanted, core->geometry.chips_per_board);
}

/// Writes columns of B to the memories: the passes of the inner dimension in order, each with one
/// item for each column and one more, which flushes the last results.
void ProductRunner::send_columns(BoardProduct& board, const InnerDimension& inner,
                                 const ColumnBlock& columns) {
  const std::size_t item = chip_words(), words = (columns.count + 1) * item;
  for (std::size_t first = 0, part = 0; first < inner.size(); first += pass_depth(inner), ++part) {
    for (unsigned chip = 0; chip < chips(inner); ++chip) {
      Command& write = add(board, CommandKind::WriteMemory, std::uint64_t{1} << chip);
      write.address = columns.address + part * words;
      write.count = words;
      if (needs_data()) {
        std::uint64_t* const to = reserve_payload(board, words);
        pack_columns(call.b, columns.first, columns.count, inner, first + chip * chip_depth(), item,
                     call.format, core->threads, to);
        std::fill_n(to + columns.count * item, item, 0);
      }
      execute(board);
    }
  }
}

/// Sends the columns unless they are resident. Resident column blocks are recorded by their number.
void ProductRunner::ensure_columns(BoardProduct& board, const InnerDimension& inner,
                                   const ColumnBlock& columns) {
  const SourceVersion had = board.slot.contents.sources;
  const bool known = had.job == number && had.generation == streamed_generation;
  const std::size_t blocks = known ? had.changes : 0;
  if (columns.index < blocks) return;
  board.slot.contents.sources = {};
  send_columns(board, inner, columns);
  if (columns.resident && columns.index == blocks)
    board.slot.contents.sources = {number, streamed_generation, blocks + 1,
                                   ChipPartition::PartsOverBlocks};
}

/// Blocks of a chip that hold inner indices, from `first` on, within the inner dimension.
std::size_t ProductRunner::blocks_used(const InnerDimension& inner, std::size_t first) const {
  const std::size_t at = first % inner.pitch, depth = mapping.block;
  if (first >= inner.size() || at >= inner.k) return 0;
  // Blocks that hold different rows hold the same inner indices.
  const std::size_t alike = core->geometry.blocks * depth / mapping.depth;
  return std::min<std::size_t>(alike * ((inner.k - at + depth - 1) / depth), core->geometry.blocks);
}

/// Sends a tile of A for one pass of the inner dimension unless it is resident: to the blocks that
/// it fills, and zeros to those that the previous tile filled. If the list fails the board's
/// contents are invalidated, and the tile with them.
void ProductRunner::send_tile(BoardProduct& board, const InnerDimension& inner, std::size_t row,
                              std::size_t first) {
  const ResidentTile wanted{number, tiled_generation, row, first};
  BoardContents& contents = board.slot.contents;
  if (std::exchange(contents.tile, wanted) == wanted) return;
  const std::size_t block_pes = core->geometry.pes_per_block;
  const std::size_t rows = std::min(mapping.rows, call.m - row);
  for (std::size_t chip = 0; chip < chips(inner); ++chip) {
    const std::size_t from = first + chip * chip_depth(), needed = blocks_used(inner, from);
    const std::size_t blocks = std::max(needed, contents.fill_blocks(chip, needed));
    if (blocks == 0) continue;
    Command& write = add(board, CommandKind::WriteTargets, std::uint64_t{1} << chip);
    write.count = blocks * block_pes * elements;
    if (!needs_data()) continue;
    pack_tile(call.a, {row, rows, from, blocks, block_pes}, inner, call.format, core->threads,
              reserve_payload(board, write.count * 2 * block_words));
  }
}

/// Computes rows of C from `row` on for resident columns: all passes of the inner dimension.
void ProductRunner::add_tile(BoardProduct& board, const InnerDimension& inner, std::size_t row,
                             const ColumnBlock& columns) {
  const std::size_t results = (columns.count + 1) * mapping.results;
  for (std::size_t first = 0; first < inner.size(); first += pass_depth(inner)) {
    const bool full =
        (board.pending.size() + 1) * results > list_words || board.payload_used > list_words;
    if (full && !board.pending.empty()) fetch_results(board, columns);
    send_tile(board, inner, row, first);
    Command& run = add(board, CommandKind::Run, (std::uint64_t{2} << (chips(inner) - 1)) - 1);
    run.partition = ChipPartition::PartsOverBlocks;
    run.address = columns.address + first / pass_depth(inner) * (columns.count + 1) * chip_words();
    run.count = columns.count + 1;
    // Including blocks without a tile, which add zeros.
    run.targets = core->geometry.blocks * core->geometry.pes_per_block * elements;
    run.flags = run_start | run_end | run_return | run_results_only;
    board.pending.push_back({row, first == 0, first + pass_depth(inner) >= inner.size()});
  }
}

/// Results of the runs of one tile in a list: of all passes of the inner dimension, or of some.
struct ProductRunner::Parts {
  std::size_t row = 0, rows = 0;            ///< rows of C
  bool first = false, last = false;         ///< whether the first, the last pass is included
  std::vector<const double*> results = {};  ///< results of each pass: [column][row of the tile]
};

/// Adds up a column over the passes. With the last pass it returns the rounded sums, in `to` or
/// where they are; before that it saves them in board.sums and returns null.
const double* ProductRunner::sum_parts(BoardProduct& board, const Parts& parts, std::size_t column,
                                       double* to) {
  const std::size_t rows = parts.rows, at = column * tile_rows;
  if (parts.first && parts.last && parts.results.size() == 1) return parts.results.front() + at;
  std::array<double, tile_rows> high{}, low{};
  if (!parts.first) {
    std::copy_n(board.sums.high.begin() + static_cast<std::ptrdiff_t>(column * rows), rows,
                high.begin());
    std::copy_n(board.sums.low.begin() + static_cast<std::ptrdiff_t>(column * rows), rows,
                low.begin());
  }
  for (const double* const results : parts.results)
    add_to_sums(high.data(), low.data(), results + at, rows);
  if (parts.last) {
    round_sums(high.data(), low.data(), rows, to);
    return to;
  }
  std::copy_n(high.begin(), rows,
              board.sums.high.begin() + static_cast<std::ptrdiff_t>(column * rows));
  std::copy_n(low.begin(), rows,
              board.sums.low.begin() + static_cast<std::ptrdiff_t>(column * rows));
  return nullptr;
}

/// Adds up, and stores complete sums to C: scaled in double, and rounded once.
template <typename Number>
void ProductRunner::store(const MatrixView<Number>& c, BoardProduct& board, const Parts& parts,
                          const ColumnBlock& columns) {
  constexpr std::size_t strip = 64;  // columns per task
  const bool transposed = c.transpose == Transpose::Yes;
  const std::size_t down = transposed ? c.stride : 1, across = transposed ? 1 : c.stride;
  const double alpha = call.alpha, beta = call.beta;
  const bool large = call.m * call.n > cache_numbers;
  const std::size_t rows = parts.rows;
  const auto store_column = [&](std::size_t column) {
    std::array<double, tile_rows> sums;
    const double* const from = sum_parts(board, parts, column, sums.data());
    if (!parts.last) return;
    Number* const to = c.data + parts.row * down + (columns.first + column) * across;
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
  const Phase phase{(columns.count + strip - 1) / strip, [&](std::size_t task) {
                      const std::size_t end = std::min(columns.count, (task + 1) * strip);
                      for (std::size_t n = task * strip; n < end; ++n) store_column(n);
                      end_nontemporal();
                    }};
  run_phases({&phase, 1}, columns.count * rows > parallel_threshold ? core->threads : 1);
}

/// Executes the list and stores its results.
void ProductRunner::fetch_results(BoardProduct& board, const ColumnBlock& columns) {
  execute(board);
  if (!needs_data()) {
    for (const PendingRun& run : board.pending) {
      tile_done[run.row / mapping.rows] = true;
      if (clock == nullptr) continue;
      // A result is written by the link and read, an element of C is written and read unless beta
      // is zero. Packing the factors takes less.
      const std::size_t accesses = 2 + (run.last ? 1 : 0) + (run.last && call.beta != 0 ? 1 : 0);
      const std::size_t numbers = std::min(mapping.rows, call.m - run.row) * columns.count;
      clock->add_work(0, static_cast<double>(accesses * numbers * sizeof(double)));
    }
    board.pending.clear();
    return;
  }
  // The results of a column are returned with the next item.
  const std::uint64_t* words = board.slot.words.data() + tile_rows;
  Parts parts;
  for (const PendingRun& run : board.pending) {
    if (parts.results.empty())
      parts = {run.row, std::min(tile_rows, call.m - run.row), run.first, false, {}};
    parts.results.push_back(reinterpret_cast<const double*>(words));
    parts.last = run.last;
    words += (columns.count + 1) * tile_rows;
    if (!run.last && &run != &board.pending.back()) continue;
    if (parts.first && !parts.last) board.sums.begin(columns.count * parts.rows);
    std::visit([&](const auto& c) { store(c, board, parts, columns); }, call.c);
    if (parts.last) tile_done[run.row / tile_rows] = true;
    parts.results.clear();
  }
  board.pending.clear();
}

}  // namespace gdr::dense
