#include "emulator/engine/runners/block_sources.hpp"

#include <algorithm>

namespace gdr {

void BlockStream::write_fills(std::uint64_t* bm) const {
  for (const LastFill& fill : last_fills)
    std::copy_n(items.words.data() + fill.first, fill.count, bm + fill.base);
}

void BlockSources::reserve(std::size_t chips, std::size_t blocks) {
  blocks_ = blocks;
  while (streams_.size() < chips * blocks) streams_.emplace_back();
}

void BlockSources::overwritten() noexcept {
  for (BlockStream& stream : streams_) stream.in_memory = false;
}

bool BlockSources::provide(const PassState& pass, BlockPlace place, GroupRange groups,
                           std::uint64_t last) {
  const LoopPlan& plan = pass.run().plan;
  const BmHalves& halves = program_.halves;
  BlockStream& stream = of(place);
  EncodedSources& items = stream.items;
  const RecordSegment segment = segment_of(pass, place.chip, groups);
  if (!items.view.update({&segment, 1}, plan.record_words(program_))) return true;
  items.reserve(program_, streamed_, groups.count);
  items.changes.restart();
  items.usable = true;
  stream.in_memory = false;
  items.encode(pass, place.chip, records_of(pass.run(), place.block).part, groups.first,
               {0, groups.count}, streamed_);
  if (!items.usable) return false;
  stream.last_fills.clear();
  for (std::uint64_t f = std::max(last + 1, visible_fills) - visible_fills; f <= last; ++f) {
    const GroupRange fill = plan.fill(plan.slice(place.block), f);
    if (fill.first < groups.first) continue;  // what was done before left it there
    const std::uint32_t step = halves.source_step, base = halves.source_base[f % 2];
    stream.last_fills.push_back({base, (fill.first - groups.first) * step, fill.count * step});
    stream.last_group = base + static_cast<std::uint32_t>(fill.count - 1) * step;
  }
  items.view.commit();
  return true;
}

}  // namespace gdr
