#include "emulator/engine/runners/shared_sources.hpp"

#include <algorithm>

#include "emulator/engine/runners/transfers.hpp"

namespace gdr {
namespace {

constexpr std::uint64_t items_per_task = 2048;

}  // namespace

void SharedSources::prepare(const PassState& pass, GroupRange groups, bool whole, bool streams,
                            std::vector<Phase>& phases) {
  const std::uint64_t size = groups.count * pass.run().plan.group * program_.program.item_shorts;
  const std::size_t bytes = streams ? groups.count * streamed_->stream_bytes() : 0;
  struct Part {
    std::uint32_t chip;
    std::uint64_t number;
  };
  std::vector<Part> missing;
  const std::uint64_t of_part = divide_up(items_per_task, pass.run().plan.group);
  const std::uint64_t all_parts = divide_up(groups.count, of_part);
  while (cache_.size() < pass.chips()) cache_.emplace_back();
  by_chip_.assign(pass.chips(), nullptr);
  for (std::uint32_t chip = 0; chip < pass.chips(); ++chip) {
    if (pass.blocks_of(chip) == 0) continue;
    const std::uint64_t contents = pass.memory_of(chip).contents();
    for (std::uint32_t c = 0; c < chip && by_chip_[chip] == nullptr; ++c) {
      if (pass.memory_of(c).contents() == contents) by_chip_[chip] = by_chip_[c];
    }
    if (by_chip_[chip] != nullptr) continue;
    CachedItems& cached = cache_[chip];
    by_chip_[chip] = &cached;
    const bool enough = cached.converted || !streams;
    std::vector<GroupRange> changes;
    const bool known =
        whole && enough && cached.usable && pass.changed_groups(chip, cached.key, changes);
    const auto has_changed = [&](std::uint64_t part) {
      return std::ranges::any_of(changes, [&](const GroupRange& change) {
        return change.first < (part + 1) * of_part && part * of_part < change.first + change.count;
      });
    };
    cached.key.reset();
    if (!known) {
      cached.usable = true;
      if (cached.shorts.size() < size) cached.shorts.resize(size);
      if (cached.groups.size() < bytes) cached.groups.resize(bytes);
    }
    const std::size_t before = missing.size();
    for (std::uint64_t part = 0; part < all_parts; ++part)
      if (!known || has_changed(part)) missing.push_back({chip, part});
    if (missing.size() == before) continue;
    cached.previous = known ? cached.revision : 0;
    cached.revision = next_revision();
    cached.changes.clear();
    const std::span<const std::byte> all(cached.groups.data(), bytes);
    const std::size_t part_bytes = all_parts == 1 ? bytes : bytes / groups.count * of_part;
    for (std::size_t n = before; n < missing.size(); ++n) {
      const std::size_t begin = missing[n].number * part_bytes;
      cached.changes.push_back(all.subspan(begin, std::min(part_bytes, bytes - begin)));
    }
  }
  if (missing.empty()) return;
  phases.push_back({missing.size(), [this, &pass, groups, streams, missing](std::size_t i) {
                      convert(pass, missing[i].chip, groups, missing[i].number, streams);
                    }});
}

/// A part of the groups of a chip.
void SharedSources::convert(const PassState& pass, std::size_t chip, GroupRange all,
                            std::uint64_t part, bool streams) {
  CachedItems& cached = cache_[chip];
  const LoopPlan& plan = pass.run().plan;
  const std::uint64_t size = divide_up(items_per_task, plan.group);
  const GroupRange groups{all.first + part * size, std::min(size, all.count - part * size)};
  std::vector<std::uint64_t> scratch;
  const std::uint32_t step = program_.halves.source_step;
  std::uint64_t* const shorts = cached.shorts.data() + part * size * step;
  load_sources(program_, plan, pass.memory_of(chip), {pass.run().address, 0}, groups, shorts,
               scratch);
  if (!streams) return;
  std::byte* const to = cached.groups.data() + part * size * streamed_->stream_bytes();
  if (!streamed_->convert_sources(shorts, groups.count, step, to)) cached.usable = false;
}

void SharedSources::keep(const PassState& pass, bool streams) {
  for (std::size_t chip = 0; chip < by_chip_.size(); ++chip) {
    if (by_chip_[chip] != &cache_[chip]) continue;
    cache_[chip].key = pass.items_of(chip);
    cache_[chip].converted = streams;
  }
}

}  // namespace gdr
