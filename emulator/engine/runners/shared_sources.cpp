#include "emulator/engine/runners/shared_sources.hpp"

#include <algorithm>

namespace gdr {
namespace {

constexpr std::uint64_t items_per_task = 2048;

/// Groups that a task encodes, of a chip's items.
struct Part {
  EncodedSources* items = nullptr;
  std::size_t chip = 0;
  GroupRange groups;
};

}  // namespace

void SharedSources::prepare(const PassState& pass, GroupRange groups, bool streams,
                            std::vector<Phase>& phases) {
  const LoopPlan& plan = pass.run().plan;
  const StreamingExecutable* const engine = streams ? streamed_ : nullptr;
  const std::uint64_t of_part = divide_up(items_per_task, plan.group);
  while (cache_.size() < pass.chips()) cache_.emplace_back();
  by_chip_.assign(pass.chips(), nullptr);
  std::vector<Part> parts;
  for (std::size_t chip = 0; chip < pass.chips(); ++chip) {
    if (pass.blocks_of(chip) == 0) continue;
    for (std::size_t c = 0; c < chip && by_chip_[chip] == nullptr; ++c)
      if (pass.memory_of(c).revision() == pass.memory_of(chip).revision())
        by_chip_[chip] = by_chip_[c];
    if (by_chip_[chip] != nullptr) continue;
    EncodedSources& items = cache_[chip];
    by_chip_[chip] = &items;
    if (!items.usable || items.streamed != streams) items.view.discard();
    const RecordSegment segment = segment_of(pass, chip, groups);
    if (!items.view.update({&segment, 1}, plan.record_words(program_))) continue;
    const bool all = items.view.is_new();
    if (all) {
      items.reserve(program_, engine, groups.count);
      items.changes.restart();
      items.usable = true;
      items.streamed = streams;
    }
    for (std::uint64_t first = 0; first < groups.count; first += of_part) {
      const GroupRange part{first, std::min(of_part, groups.count - first)};
      const auto is_in = [&](const ChangedRange& changed) {
        return changed.first < (part.first + part.count) * plan.group &&
               part.first * plan.group < changed.end();
      };
      if (!all && std::ranges::none_of(items.view.changed(), is_in)) continue;
      if (!all) items.changes.add({part.first, part.count});
      parts.push_back({&items, chip, part});
    }
  }
  if (parts.empty()) return;
  phases.push_back({parts.size(), [&pass, engine, base = groups.first, parts](std::size_t i) {
                      const Part& part = parts[i];
                      part.items->encode(pass, part.chip, 0, base, part.groups, engine);
                    }});
}

void SharedSources::keep() noexcept {
  for (std::size_t chip = 0; chip < by_chip_.size(); ++chip)
    if (by_chip_[chip] == &cache_[chip]) cache_[chip].view.commit();
}

}  // namespace gdr
