#include "emulator/engine/runners/block_sources.hpp"

#include <algorithm>

namespace gdr {

void BlockSources::reserve(std::size_t chips, std::size_t blocks) {
  streams_.resize(chips);
  for (auto& chip : streams_) chip.resize(blocks);
}

void BlockSources::overwritten() noexcept {
  for (auto& chip : streams_)
    for (CachedStream& stream : chip) stream.in_memory = false;
}

bool BlockSources::is_unchanged(const PassState& pass, BlockPlace place, GroupRange groups) {
  CachedStream& stream = of(place);
  std::vector<GroupRange> changes;
  if (!pass.changed_groups(place.chip, stream.key, changes)) return false;
  const bool touched = std::ranges::any_of(changes, [&](const GroupRange& change) {
    return change.first < groups.first + groups.count && groups.first < change.first + change.count;
  });
  if (!touched) stream.key = pass.items_of(place.chip);
  return !touched;
}

bool BlockSources::convert(const PassState& pass, BlockPlace place, GroupRange groups,
                           std::uint64_t last) {
  thread_local std::vector<std::uint64_t> shorts, scratch;
  const LoopPlan& plan = pass.run().plan;
  const BmHalves& halves = program_.halves;
  const BoardMemory& memory = pass.memory_of(place.chip);
  const StreamingExecutable& executable = *streamed_;
  CachedStream& stream = of(place);
  const std::uint32_t step = halves.source_step;
  if (shorts.size() < groups.count * step) shorts.resize(groups.count * step);
  stream.groups.resize(groups.count * executable.stream_bytes());
  load_sources(program_, plan, memory, records_of(pass.run(), place.block), groups, shorts.data(),
               scratch);
  stream.key.reset();
  stream.in_memory = false;
  if (!executable.convert_sources(shorts.data(), groups.count, step, stream.groups.data())) {
    return false;
  }
  const GroupRange slice = plan.slice(place.block);
  for (std::uint64_t k = 0; k < visible_fills; ++k) {
    auto& saved = stream.last_fills[k];
    saved.shorts.clear();
    if (last + k + 1 < visible_fills) continue;  // there was no fill before the first
    const std::uint64_t f = last + k + 1 - visible_fills;
    const GroupRange fill = plan.fill(slice, f);
    if (fill.first < groups.first) continue;  // what was done before left it there
    const std::uint64_t* const from = shorts.data() + (fill.first - groups.first) * step;
    saved.shorts.assign(from, from + fill.count * step);
    saved.base = halves.source_base[f % 2];
    stream.last_group = saved.base + static_cast<std::uint32_t>(fill.count - 1) * step;
  }
  stream.revision = next_revision();
  stream.key = pass.items_of(place.chip);
  return true;
}

}  // namespace gdr
