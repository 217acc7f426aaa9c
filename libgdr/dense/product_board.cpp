// What a board is told for a product: its program, columns to memory, tile after tile with runs
// that return the results.
#include <algorithm>
#include <bit>
#include <cstring>

#include "gdr/error.hpp"
#include "libgdr/dense/product_impl.hpp"

namespace gdr {
namespace {

using dense::block_depth;
using dense::Inner;
using dense::scaled;
using dense::tile_rows;

/// Words that one list returns, and takes, at most: within a list the next tile is sent while a
/// board works.
constexpr std::size_t list_words = std::size_t{1} << 24;

}  // namespace

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
  if (slot.loaded && &slot.loaded->program() == &kernel.program()) return;
  slot.loaded.reset();
  slot.resident = {};
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
  for (std::size_t first = 0, part = 0; first < inner.size(); first += pass_depth(inner), ++part) {
    for (unsigned chip = 0; chip < chips(inner); ++chip) {
      Command& write = add(slot, CommandKind::WriteMemory, std::uint64_t{1} << chip);
      write.address = columns.place + part * words;
      write.count = words;
      slot.list.payload.resize(write.payload + words, 0);
      dense::pack_columns(call.b, columns.first, columns.count, inner, first + chip * depth, depth,
                          core->threads, slot.list.payload.data() + write.payload);
      execute(slot);
    }
  }
}

/// The columns, unless the board has them. It remembers the stretches that stay by their number.
void MatrixProduct::Impl::need_columns(BoardSlot& slot, const Inner& inner,
                                       const Columns& columns) {
  const SourceVersion had = slot.resident;
  const bool known = had.job == number && had.generation == generation;
  const std::size_t stretches = known ? had.changes : 0;
  if (columns.index < stretches) return;
  slot.resident = {};
  send_columns(slot, inner, columns);
  if (columns.stay && columns.index == stretches)
    slot.resident = {number, generation, stretches + 1, Share::PartsOverBlocks};
}

/// A tile of A for one part of the inner dimension, to the chips that share it.
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
  for (std::size_t first = 0; first < inner.size(); first += pass_depth(inner)) {
    const bool full =
        (pending.size() + 1) * results > list_words || slot.list.payload.size() > list_words;
    if (full && !pending.empty()) collect(slot, columns);
    send_tile(slot, inner, row, first);
    Command& run = add(slot, CommandKind::Run, (std::uint64_t{2} << (chips(inner) - 1)) - 1);
    run.share = Share::PartsOverBlocks;
    run.address = columns.place + first / pass_depth(inner) * (columns.count + 1) * chip_depth();
    run.count = columns.count + 1;
    run.flags = run_start | run_end | run_return | run_results_only;
    pending.push_back({row, first == 0, first + pass_depth(inner) >= inner.size()});
  }
}

/// Sums that are complete, to their place in C: scaled in double, and rounded once.
template <typename Number>
void MatrixProduct::Impl::store(const MatrixView<Number>& c, std::size_t row, std::size_t rows,
                                const Columns& columns) const {
  const bool flipped = c.transpose == Transpose::Yes;
  const std::size_t down = flipped ? c.stride : 1, across = flipped ? 1 : c.stride;
  for (std::size_t column = 0; column < columns.count; ++column) {
    Number* to = c.data + row * down + (columns.first + column) * across;
    for (std::size_t r = 0; r < rows; ++r, to += down)
      *to =
          static_cast<Number>(call.alpha * sums.value(column * rows + r) + scaled(call.beta, *to));
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
    if (run.last) std::visit([&](const auto& c) { store(c, run.row, rows, columns); }, call.c);
  }
  pending.clear();
}

}  // namespace gdr
