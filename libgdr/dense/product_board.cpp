// What a board is told for a product: its program, columns to memory, tile after tile with runs
// that return the results.
#include <algorithm>
#include <array>
#include <bit>
#include <cstring>
#include <type_traits>
#include <utility>

#include "emulator/host/parallel.hpp"
#include "gdr/error.hpp"
#include "libgdr/dense/nontemporal.hpp"
#include "libgdr/dense/product_impl.hpp"

namespace gdr::dense {
namespace {

/// Words that one list returns, and takes, at most: within a list the next tile is sent while a
/// board works.
constexpr std::size_t list_words = std::size_t{1} << 24;
/// Less than this is stored by one thread.
constexpr std::size_t worthwhile = 100'000;
/// Elements of C beyond which it is written with non-temporal stores if it is not read.
constexpr std::size_t cache_numbers = std::size_t{1} << 19;

}  // namespace

Command& ProductRunner::add(OnBoard& on, CommandKind kind, std::uint64_t chips) const {
  Command& command = on.slot.list.commands.emplace_back();
  command.kind = kind;
  command.chips = chips;
  command.payload = on.payload_used;
  return command;
}

/// Words behind what the list has; what stands there is left from before.
std::uint64_t* ProductRunner::room(OnBoard& on, std::size_t words) {
  std::vector<std::uint64_t>& payload = on.slot.list.payload;
  const std::size_t from = on.payload_used;
  on.payload_used += words;
  if (payload.size() < on.payload_used) payload.resize(on.payload_used);
  return payload.data() + from;
}

void ProductRunner::execute(OnBoard& on) {
  if (stop.stop_requested()) throw Cancelled();
  // Lists without runs leave the results of earlier ones where they are, with their memory.
  std::vector<std::uint64_t> none;
  on.slot.board->execute(on.slot.list, on.pending.empty() ? none : on.slot.words, stop);
  on.slot.list.commands.clear();
  on.payload_used = 0;  // memory that was touched already costs less
}

void ProductRunner::load(OnBoard& on) {
  on.slot.list.commands.clear();
  on.payload_used = 0;
  const Kernel& wanted = kernel();
  if (on.slot.contents.holds(wanted)) return;
  on.slot.contents.invalidate();
  const std::vector<std::uint8_t>& object = wanted.object();
  Command& command = add(on, CommandKind::LoadProgram, 0);
  command.count = object.size();
  std::memcpy(room(on, (object.size() + 7) / 8), object.data(), object.size());
  execute(on);
  on.slot.contents.loaded(wanted, core->geometry.chips_per_board);
}

/// Columns of B to the memories: parts of the inner dimension one behind the other, in each part an
/// item for each column and one more, with which the last results leave.
void ProductRunner::send_columns(OnBoard& on, const Inner& inner, const Columns& columns) {
  const std::size_t item = chip_words(), words = (columns.count + 1) * item;
  for (std::size_t first = 0, part = 0; first < inner.size(); first += pass_depth(inner), ++part) {
    for (unsigned chip = 0; chip < chips(inner); ++chip) {
      Command& write = add(on, CommandKind::WriteMemory, std::uint64_t{1} << chip);
      write.address = columns.place + part * words;
      write.count = words;
      if (needs_data()) {
        std::uint64_t* const to = room(on, words);
        pack_columns(call.b, columns.first, columns.count, inner, first + chip * chip_depth(), item,
                     call.held, core->threads, to);
        std::fill_n(to + columns.count * item, item, 0);
      }
      execute(on);
    }
  }
}

/// The columns, unless the board has them. It remembers the stretches that stay by their number.
void ProductRunner::need_columns(OnBoard& on, const Inner& inner, const Columns& columns) {
  const SourceVersion had = on.slot.contents.sources;
  const bool known = had.job == number && had.generation == streaming;
  const std::size_t stretches = known ? had.changes : 0;
  if (columns.index < stretches) return;
  on.slot.contents.sources = {};
  send_columns(on, inner, columns);
  if (columns.stay && columns.index == stretches)
    on.slot.contents.sources = {number, streaming, stretches + 1, ChipPartition::PartsOverBlocks};
}

/// Blocks of a chip whose inner indices, from `first` on, are not all beyond the last one.
std::size_t ProductRunner::blocks_of(const Inner& inner, std::size_t first) const {
  const std::size_t at = first % inner.pitch, depth = mapping.block;
  if (first >= inner.size() || at >= inner.k) return 0;
  // Blocks that hold different rows hold the same inner indices.
  const std::size_t alike = core->geometry.blocks * depth / mapping.depth;
  return std::min<std::size_t>(alike * ((inner.k - at + depth - 1) / depth), core->geometry.blocks);
}

/// A tile of A for one part of the inner dimension, to the chips that share it, unless they have
/// it: to the blocks that it fills, and zeros to those that the one before filled. Where the list
/// fails the board's program counts as lost, and the tile with it.
void ProductRunner::send_tile(OnBoard& on, const Inner& inner, std::size_t row, std::size_t first) {
  const ResidentTile wanted{number, tiled, row, first};
  BoardContents& contents = on.slot.contents;
  if (std::exchange(contents.tile, wanted) == wanted) return;
  const std::size_t block_pes = core->geometry.pes_per_block;
  const std::size_t rows = std::min(mapping.rows, call.m - row);
  for (std::size_t chip = 0; chip < chips(inner); ++chip) {
    const std::size_t from = first + chip * chip_depth(), needed = blocks_of(inner, from);
    const std::size_t blocks = std::max(needed, contents.fill_blocks(chip, needed));
    if (blocks == 0) continue;
    Command& write = add(on, CommandKind::WriteTargets, std::uint64_t{1} << chip);
    write.count = blocks * block_pes * elements;
    if (!needs_data()) continue;
    pack_tile(call.a, {row, rows, from, blocks, block_pes}, inner, call.held, core->threads,
              room(on, write.count * 2 * block_words));
  }
}

/// Rows of C from `row` on, of columns that are on the board: all parts of the inner dimension.
void ProductRunner::add_tile(OnBoard& on, const Inner& inner, std::size_t row,
                             const Columns& columns) {
  const std::size_t results = (columns.count + 1) * mapping.results;
  for (std::size_t first = 0; first < inner.size(); first += pass_depth(inner)) {
    const bool full =
        (on.pending.size() + 1) * results > list_words || on.payload_used > list_words;
    if (full && !on.pending.empty()) collect(on, columns);
    send_tile(on, inner, row, first);
    Command& run = add(on, CommandKind::Run, (std::uint64_t{2} << (chips(inner) - 1)) - 1);
    run.partition = ChipPartition::PartsOverBlocks;
    run.address = columns.place + first / pass_depth(inner) * (columns.count + 1) * chip_words();
    run.count = columns.count + 1;
    // Also blocks that no tile has filled: they add zeros.
    run.targets = core->geometry.blocks * core->geometry.pes_per_block * elements;
    run.flags = run_start | run_end | run_return | run_results_only;
    on.pending.push_back({row, first == 0, first + pass_depth(inner) >= inner.size()});
  }
}

/// What the runs of a tile that a list has give: all parts of the inner dimension, or the first,
/// the last, or some others.
struct ProductRunner::Parts {
  std::size_t row = 0, rows = 0;            ///< of C
  bool first = false, last = false;         ///< they have that part
  std::vector<const double*> results = {};  ///< of each: [column][row of the tile]
};

/// The sums of a column, complete with the last part: where they are, or rounded to `to`. Those of
/// parts that are to follow are kept.
const double* ProductRunner::sum_up(OnBoard& on, const Parts& parts, std::size_t column,
                                    double* to) {
  const std::size_t rows = parts.rows, at = column * tile_rows;
  if (parts.first && parts.last && parts.results.size() == 1) return parts.results.front() + at;
  std::array<double, tile_rows> high{}, low{};
  if (!parts.first) {
    std::copy_n(on.sums.high.begin() + static_cast<std::ptrdiff_t>(column * rows), rows,
                high.begin());
    std::copy_n(on.sums.low.begin() + static_cast<std::ptrdiff_t>(column * rows), rows,
                low.begin());
  }
  for (const double* const results : parts.results)
    add_to_sums(high.data(), low.data(), results + at, rows);
  if (parts.last) {
    round_sums(high.data(), low.data(), rows, to);
    return to;
  }
  std::copy_n(high.begin(), rows,
              on.sums.high.begin() + static_cast<std::ptrdiff_t>(column * rows));
  std::copy_n(low.begin(), rows, on.sums.low.begin() + static_cast<std::ptrdiff_t>(column * rows));
  return nullptr;
}

/// Sums up, and brings what is complete to its place in C: scaled in double, and rounded once.
template <typename Number>
void ProductRunner::store(const MatrixView<Number>& c, OnBoard& on, const Parts& parts,
                          const Columns& columns) {
  constexpr std::size_t strip = 64;  // columns of a task
  const bool flipped = c.transpose == Transpose::Yes;
  const std::size_t down = flipped ? c.stride : 1, across = flipped ? 1 : c.stride;
  const double alpha = call.alpha, beta = call.beta;
  const bool large = call.m * call.n > cache_numbers;
  const std::size_t rows = parts.rows;
  const auto store_column = [&](std::size_t column) {
    std::array<double, tile_rows> sums;
    const double* const from = sum_up(on, parts, column, sums.data());
    if (!parts.last) return;
    Number* const to = c.data + parts.row * down + (columns.first + column) * across;
    // The usual cases have loops of their own, which are vectors of the host.
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
  run_phases({&phase, 1}, columns.count * rows > worthwhile ? core->threads : 1);
}

/// Executes what was added, and takes the results.
void ProductRunner::collect(OnBoard& on, const Columns& columns) {
  execute(on);
  if (!needs_data()) {
    for (const Pending& run : on.pending) stored[run.row / mapping.rows] = true;
    on.pending.clear();
    return;
  }
  // The results of a column leave with the item behind it.
  const std::uint64_t* words = on.slot.words.data() + tile_rows;
  Parts parts;
  for (const Pending& run : on.pending) {
    if (parts.results.empty())
      parts = {run.row, std::min(tile_rows, call.m - run.row), run.first, false, {}};
    parts.results.push_back(reinterpret_cast<const double*>(words));
    parts.last = run.last;
    words += (columns.count + 1) * tile_rows;
    if (!run.last && &run != &on.pending.back()) continue;
    if (parts.first && !parts.last) on.sums.begin(columns.count * parts.rows);
    std::visit([&](const auto& c) { store(c, on, parts, columns); }, call.c);
    if (parts.last) stored[run.row / tile_rows] = true;
    parts.results.clear();
  }
  on.pending.clear();
}

}  // namespace gdr::dense
