#include "emulator/engine/native/run/section_frame.hpp"

#include <algorithm>
#include <cstring>

namespace gdr::native {

SectionScratch& scratch_of_thread() {
  static thread_local SectionScratch scratch;
  return scratch;
}

std::span<const RowTransfer> SectionFrame::active(const std::vector<RowTransfer>& rows) const {
  if (!folded) return rows;
  return {rows.begin(),
          std::ranges::partition_point(rows, [](const RowTransfer& t) { return t.instance == 0; })};
}

void bind_lists(SectionFrame& f, std::size_t k) {
  const ItemLayout& layout = f.code->kernels[k].code.layout;
  if (layout.lists == 0) return;
  std::byte* item = f.scratch.items.data() + f.places[k].begin;
  for (std::size_t i = 0; i < f.instances(k); ++i)
    for (std::size_t first = 0; first < f.live; first += f.lanes(), item += layout.bytes())
      for (std::uint32_t n = 0; n < layout.lists; ++n) {
        const List& list = f.section.kernels()[k].instances[i].lists[n];
        const std::size_t count = std::min<std::size_t>(f.lanes(), f.live - first);
        const jit::ListRows rows{f.cell(list.counter).in(f.block) + first,
                                 f.cell(f.section.map().local).in(f.block) + first,
                                 f.block.pes * sizeof(std::uint64_t),
                                 ~std::uint64_t{0} >> (64 - count),
                                 list.stride,
                                 list.first,
                                 list.last};
        std::memcpy(item + layout.list(n), &rows, sizeof rows);
      }
}

namespace {

/// Calls `visit` for each row of each list.
template <typename Visit>
void each_list_row(SectionFrame& f, Visit visit) {
  for (std::size_t k = 0; k < f.section.kernels().size(); ++k)
    for (std::size_t i = 0; i < f.instances(k); ++i)
      for (const List& list : f.section.kernels()[k].instances[i].lists) {
        visit(f.cell(list.counter).in(f.block));
        for (std::uint32_t at = list.first; at <= list.last; ++at)
          visit(f.cell(f.section.map().local + at).in(f.block));
      }
}

}  // namespace

void save_lists(SectionFrame& f) {
  f.scratch.lists.clear();
  each_list_row(f, [&f](const std::uint64_t* row) {
    f.scratch.lists.insert(f.scratch.lists.end(), row, row + f.live);
  });
}

void restore_lists(SectionFrame& f) {
  const std::uint64_t* from = f.scratch.lists.data();
  each_list_row(f, [&](std::uint64_t* row) {
    std::copy_n(from, f.live, row);
    from += f.live;
  });
}

}  // namespace gdr::native
