#include "emulator/engine/runners/joined_outputs.hpp"

#include <algorithm>

#include "emulator/engine/runners/reduction_network.hpp"

namespace gdr {
namespace {

/// Items of a task that stores to memories, or returns to the host.
constexpr std::uint64_t items_stored = 2048, items_returned = 8;

GroupRange all_groups(const PassState& pass, const FillChunk& chunk) noexcept {
  const LoopPlan& plan = pass.run().plan;
  return chunk.groups_of(plan, {0, plan.groups});
}

}  // namespace

void JoinedOutputs::reserve(const PassState& pass, const FillChunk& chunk) {
  const std::uint64_t items = all_groups(pass, chunk).count * pass.run().plan.group;
  const std::size_t size = items * program_.program.output_shorts * geometry_.blocks;
  buffers_.resize(pass.chips());
  for (auto& buffer : buffers_) buffer.resize(std::max(buffer.size(), size));
}

std::uint64_t* JoinedOutputs::row(const PassState& pass, const FillChunk& chunk, BlockPlace place,
                                  std::uint64_t group) {
  const GroupRange all = all_groups(pass, chunk);
  const std::uint64_t row = place.block * all.count + group - all.first;
  return buffers_[place.chip].data() + row * program_.halves.output_step;
}

void JoinedOutputs::store_visible(const PassState& pass, const FillChunk& chunk, BlockPlace place,
                                  std::uint64_t end) {
  const LoopPlan& plan = pass.run().plan;
  const BmHalves& halves = program_.halves;
  const GroupRange slice = plan.slice(place.block);
  std::uint64_t* const bm = pass.state(place.chip).blocks[place.block].bm.data();
  const std::uint64_t first = std::max(chunk.first_fill + visible_fills, end) - visible_fills;
  for (std::uint64_t f = first; f < end; ++f) {
    const GroupRange groups = plan.fill(slice, f);
    std::copy_n(row(pass, chunk, place, groups.first), groups.count * halves.output_step,
                bm + halves.output_base[f % 2]);
  }
}

void JoinedOutputs::add_tasks(const PassState& pass, const FillChunk& chunk,
                              std::vector<Phase>& phases) {
  const bool returns = pass.run_has(run_return);
  const std::uint64_t items = all_groups(pass, chunk).count * pass.run().plan.group;
  const std::uint64_t size = returns ? items_returned : items_stored;
  const std::uint64_t parts = divide_up(items, size), chips = returns ? 1 : pass.chips();
  phases.push_back({chips * parts, [this, &pass, chunk, parts, size](std::size_t i) {
                      join(pass, chunk, i / parts, {i % parts * size, size});
                    }});
}

/// Reduces `part` of a chunk's items.
void JoinedOutputs::join(const PassState& pass, const FillChunk& chunk, std::size_t chip,
                         GroupRange part) {
  const PassRun& run = pass.run();
  const LoopPlan& plan = run.plan;
  const Program& program = program_.program;
  const bool returns = pass.run_has(run_return);
  const GroupRange all = all_groups(pass, chunk);
  const std::uint64_t items = plan.items_in(all);
  if (part.first >= items) return;  // a part of nothing but pads
  const std::uint64_t count = std::min(part.count, items - part.first);
  std::vector<std::vector<const std::uint64_t*>> chips;
  for (std::size_t c = 0; c < pass.chips(); ++c) {
    if (pass.blocks_of(c) == 0 || (!returns && c != chip)) continue;
    auto& blocks = chips.emplace_back();
    for (std::uint64_t b = 0; b < geometry_.blocks; ++b) {
      const std::uint64_t row = b * all.count * plan.group + part.first;
      blocks.push_back(buffers_[c].data() + row * program.output_shorts);
    }
  }
  if (chips.empty()) return;
  const std::uint64_t records = output_records(program, geometry_, plan.partition);
  const std::uint64_t words = records * program_.layout.output_words;
  const std::uint64_t first = (all.first * plan.group + part.first) * words;
  if (returns)
    return join_outputs(program_, chips, records, count,
                        pass.pass().results + run.output_offset + first);
  std::vector<std::uint64_t> joined(count * words);
  join_outputs(program_, chips, records, count, joined.data());
  pass.memory_of(chip).store(run.output_address + first, joined);
}

}  // namespace gdr
