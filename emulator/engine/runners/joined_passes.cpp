#include "emulator/engine/runners/joined_passes.hpp"

#include <algorithm>
#include <utility>

#include "emulator/engine/runners/blockwise.hpp"
#include "emulator/engine/runners/small_blocks.hpp"

namespace gdr {
namespace {

/// Of a mask of chips.
constexpr std::size_t max_chips = 64;

bool on_equal_sources(const PassRun& a, const PassRun& b) {
  return a.plan.partition == ChipPartition::TargetsOverBlocks &&
         a.plan.partition == b.plan.partition && a.plan.items == b.plan.items &&
         a.address == b.address && a.flags == b.flags;
}

}  // namespace

JoinedPasses::JoinedPasses(const LoadedProgram& program, const Geometry& geometry,
                           const StreamingExecutable& executable,
                           std::unique_ptr<PassRunner> one_by_one)
    : program_(program),
      geometry_(geometry),
      executable_(executable),
      one_by_one_(std::move(one_by_one)) {}

bool JoinedPasses::run_together(std::span<const Pass> passes) {
  const Pass& first = passes.front();
  const std::size_t most = max_chips / first.chips.size();
  if (passes.size() < 2 || most < 2 || !executable_.joins_passes() ||
      !std::ranges::all_of(passes, [&](const Pass& pass) { return may_join(pass, first); }))
    return false;
  for (std::size_t done = 0; done < passes.size(); done += most)
    run_as_one(passes.subspan(done, std::min(most, passes.size() - done)));
  return true;
}

/// Whether a pass writes all targets that it uses, and reads results of these block by block.
bool JoinedPasses::may_join(const Pass& pass, const Pass& first) const {
  const auto is_simple_read = [](const ResultRead& read) {
    return !read.joined && !read.raw && read.slots.partition == ChipPartition::TargetsOverBlocks;
  };
  return program_.outputs.empty() && pass.chips.size() == first.chips.size() &&
         wants_results_only(pass) && slots_of_own_targets(pass) &&
         std::ranges::equal(pass.runs, first.runs, on_equal_sources) &&
         std::ranges::all_of(pass.reads, is_simple_read);
}

/// The chip of the joined pass that stands for a chip of `pass`.
PassChip JoinedPasses::chip_for(std::size_t number, const Pass& pass, std::size_t chip) {
  while (chips_.size() <= number) {
    chips_.emplace_back(geometry_);
    chips_.back().load(program_, executable_);
  }
  const PassChip& own = pass.chips[chip];
  chips_[number].copy_params(own.chip);
  const std::uint64_t of_run = pass.runs.front().targets;
  return {chips_[number], own.memory, of_run != 0 ? of_run : own.targets};
}

void JoinedPasses::run_as_one(std::span<const Pass> passes) {
  const std::size_t chips = passes.front().chips.size();
  std::vector<PassChip> all;
  std::vector<TargetWrite> writes;
  std::vector<ResultRead> reads;
  std::vector<PassRun> runs(passes.front().runs.begin(), passes.front().runs.end());
  for (PassRun& run : runs) run.chips = run.targets = 0;
  std::size_t words = 0;
  for (const Pass& pass : passes) {
    const std::size_t before = all.size();
    for (std::size_t c = 0; c < chips; ++c) all.push_back(chip_for(before + c, pass, c));
    for (std::size_t r = 0; r < runs.size(); ++r) runs[r].chips |= pass.runs[r].chips << before;
    for (TargetWrite write : pass.writes) {
      write.chips <<= before;
      writes.push_back(write);
    }
    for (ResultRead read : pass.reads) {
      read.chips <<= before;
      read.offset = words;
      words += read.slots.count * program_.layout.result_words;
      reads.push_back(read);
    }
  }
  results_.resize(words);
  if (runner_ == nullptr) runner_ = blockwise_runner(program_, geometry_, executable_);
  runner_->run({all, writes, runs, reads, results_.data(), passes.front().threads});
  const std::uint64_t* from = results_.data();
  for (const Pass& pass : passes)
    for (const ResultRead& read : pass.reads) {
      const std::size_t count = read.slots.count * program_.layout.result_words;
      std::copy_n(from, count, pass.results + read.offset);
      from += count;
    }
}

}  // namespace gdr
