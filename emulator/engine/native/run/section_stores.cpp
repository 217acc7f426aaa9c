#include "emulator/engine/native/run/section_stores.hpp"

#include <algorithm>
#include <cstring>

#include "emulator/engine/native/words/conversion_avx512.hpp"

namespace gdr::native {
namespace {

/// Rows have few lanes: an unrolled loop of eight costs less than a call of a library function.
constexpr std::size_t at_once = 8;

void fill_lanes(std::uint64_t* to, std::size_t n, std::uint64_t word) {
  std::size_t i = 0;
  for (; i + at_once <= n; i += at_once) {
    for (std::size_t k = 0; k < at_once; ++k) to[i + k] = word;
  }
  for (; i < n; ++i) to[i] = word;
}

void copy_lanes(const std::uint64_t* from, std::size_t n, std::uint64_t* to) {
  std::size_t i = 0;
  for (; i + at_once <= n; i += at_once) std::memcpy(to + i, from + i, at_once * sizeof *to);
  for (; i < n; ++i) to[i] = from[i];
}

/// Row of the buffers of BM stores (upper, lower, enabled) that a part begins with.
unsigned row_of(LeafKey key) {
  const auto part = static_cast<BmStorePart>(key.delay);
  return part == BmStorePart::Enabled ? 2 : part == BmStorePart::Lower ? 1 : 0;
}

std::uint64_t* put_row(SectionFrame& f, LeafKey key, unsigned word) {
  return f.scratch.scatter_words.data() + (key.place * 3 + word) * f.live;
}

void store_row(SectionFrame& f, const RowTransfer& t, std::size_t item, const std::byte* from) {
  WordsOut rows{};
  if (t.key.delay == 0) {
    rows.upper = t.cell.in(f.block);
    rows.lower = t.key.type == WordType::Long ? rows.upper + f.block.pes : rows.upper;
  } else {
    rows = {put_row(f, t.key, row_of(t.key)), put_row(f, t.key, 1)};
  }
  const auto convert = row_conversion(f.code->target, t.key.type).from_lanes;
  const std::size_t live = f.live, width = f.lanes();
  for (std::size_t first = 0; first < live; first += width, from += item)
    convert(from, std::min(width, live - first), {rows.upper + first, rows.lower + first});
}

void store_results(SectionFrame& f, std::size_t k) {
  const auto& entry = f.code->kernels[k];
  const WorkItems items = f.work_items(k);
  const std::span<const RowTransfer> out = f.active(entry.out);
  if (f.converts_avx512) lanes_to_rows_avx512(out, f.precision(), items, f.block);
  for (const RowTransfer& t : out) {
    if (!f.converts_avx512 || t.outside_state()) store_row(f, t, items.bytes, items.place(t));
  }
}

/// Copies shorts, from the initial state or from the last group of items.
void gather_moved(SectionFrame& f) {
  f.scratch.moved.resize(f.section.moves().size() * f.block.pes);
  std::uint64_t* to = f.scratch.moved.data();
  for (const MovedShort& move : f.section.moves()) {
    if (move.from == NodeOp::Input) {
      copy_lanes(f.cell(move.place).in(f.block), f.live, to);
    } else {
      std::uint64_t base = 0;
      if (move.from == NodeOp::Source) {
        base = f.run.stream.groups != nullptr ? f.run.stream.last_group
                                              : f.source_base + (f.count - 1) * f.run.source_step;
      }
      fill_lanes(to, f.live, f.block.bm[base + move.place]);
    }
    to += f.block.pes;
  }
}

void leave_moved(SectionFrame& f) {
  const std::uint64_t* from = f.scratch.moved.data();
  for (const MovedShort& move : f.section.moves()) {
    copy_lanes(from, f.live, f.cell(move.to).in(f.block));
    from += f.block.pes;
  }
}

void leave_constants(SectionFrame& f, const std::vector<ConstantRoot>& constants) {
  for (const ConstantRoot& constant : constants) {
    const std::size_t pes = f.block.pes;
    if (constant.key.delay != 0) {
      const bool word = static_cast<BmStorePart>(constant.key.delay) == BmStorePart::Word;
      std::fill_n(put_row(f, constant.key, row_of(constant.key)), f.live, constant.upper);
      if (word) std::fill_n(put_row(f, constant.key, 1), f.live, constant.lower);
      continue;
    }
    std::uint64_t* const row = cell_row(f.section.map(), constant.key).in(f.block);
    fill_lanes(row, f.live, constant.upper);
    if (constant.key.type == WordType::Long) fill_lanes(row + pes, f.live, constant.lower);
  }
}

void scatter_words(SectionFrame& f) {
  for (std::uint32_t n = 0; n < f.section.bm_stores().size(); ++n) {
    const BmStore& put = f.section.bm_stores()[n];
    const LeafKey key{WordType::Mask, n, 0};
    if (put_row(f, key, 2)[put.pe] == 0) continue;
    const u128 lower = put_row(f, key, 1)[put.pe];
    const u128 upper = put_row(f, key, 0)[put.pe];
    write_bm(f.block, put.address, put.width,
             put.width == Width::Long ? (upper << Short::bit_count) | lower : lower);
  }
}

}  // namespace

void store_all(SectionFrame& f, const std::vector<ConstantRoot>& constants) {
  gather_moved(f);
  for (std::size_t k = 0; k < f.section.kernels().size(); ++k) store_results(f, k);
  leave_moved(f);
  leave_constants(f, constants);
  scatter_words(f);
}

}  // namespace gdr::native
