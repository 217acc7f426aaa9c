#include "emulator/engine/runners/small_blocks.hpp"

#include <algorithm>
#include <utility>

#include "gdr/error.hpp"

namespace gdr {
namespace {

/// The number of PEs is a multiple of the host's vectors.
constexpr std::uint32_t pes_together = 8;

}  // namespace

bool wants_results_only(const Pass& pass) noexcept {
  if (pass.runs.empty()) return false;
  const PassRun& first = pass.runs.front();
  const PassRun& last = pass.runs.back();
  constexpr std::uint32_t at_end = run_end | run_results_only;
  if ((first.flags & run_start) == 0 || (last.flags & at_end) != at_end) return false;
  return std::ranges::all_of(pass.runs, [&](const PassRun& run) {
    return (run.flags & (run_flags | run_return)) == 0 &&
           (&run == &first || (run.flags & run_start) == 0) &&
           (&run == &last || (run.flags & run_end) == 0) &&
           run.plan.partition == first.plan.partition && run.targets == first.targets;
  });
}

std::optional<std::uint64_t> slots_of_own_targets(const Pass& pass) {
  std::vector<std::uint64_t> written(pass.chips.size(), 0);
  for (const TargetWrite& write : pass.writes)
    for (std::size_t c = 0; c < written.size(); ++c) {
      if (!takes_part(write.chips, c)) continue;
      if (write.slots.first != 0 || written[c] != 0) return std::nullopt;
      written[c] = write.slots.count;
    }
  for (std::size_t c = 0; c < written.size(); ++c) {
    const auto is_own_run = [&](const PassRun& run) {
      const std::uint64_t targets = run.targets != 0 ? run.targets : pass.chips[c].targets;
      return !takes_part(run.chips, c) || (written[c] != 0 && targets <= written[c]);
    };
    const auto is_own_read = [&](const ResultRead& read) {
      return !takes_part(read.chips, c) || read.slots.first + read.slots.count <= written[c];
    };
    if (!std::ranges::all_of(pass.runs, is_own_run) ||
        !std::ranges::all_of(pass.reads, is_own_read))
      return std::nullopt;
  }
  return written.empty() ? 0 : *std::ranges::max_element(written);
}

SmallBlockRunner::SmallBlockRunner(const LoadedProgram& program, const Geometry& geometry,
                                   Prepare prepare, std::unique_ptr<PassRunner> full)
    : program_(program),
      geometry_(geometry),
      prepare_(std::move(prepare)),
      full_(std::move(full)) {}

void SmallBlockRunner::run(const Pass& pass) {
  const std::uint32_t pes = pes_needed(pass);
  if (pes == geometry_.pes_per_block) return full_->run(pass);
  Small& blocks = small(pes, pass.chips.size());
  if (!blocks.executable) return full_->run(pass);
  run_small(blocks, pass);
}

/// PEs of the first block with targets, rounded to whole vectors; all PEs if the pass uses other
/// targets than its own or has output items.
std::uint32_t SmallBlockRunner::pes_needed(const Pass& pass) const {
  const std::uint32_t all = geometry_.pes_per_block;
  if (!wants_results_only(pass) || !program_.outputs.empty()) return all;
  const std::optional<std::uint64_t> slots = slots_of_own_targets(pass);
  if (!slots) return all;
  const std::uint64_t elements = program_.program.elements;
  const std::uint64_t pes =
      ((*slots + elements - 1) / elements + pes_together - 1) / pes_together * pes_together;
  return pes == 0 || pes > all ? all : static_cast<std::uint32_t>(pes);
}

SmallBlockRunner::Small& SmallBlockRunner::small(std::uint32_t pes, std::size_t chips) {
  const auto [at, is_new] = small_.try_emplace(pes);
  Small& made = at->second;
  if (!is_new) return made;
  Geometry geometry = geometry_;
  geometry.pes_per_block = pes;
  try {
    made.executable = prepare_(geometry);
  } catch (const Error&) {
    return made;  // it names a PE that is not there
  }
  made.runner = made.executable->pass_runner(program_, geometry);
  made.chips.assign(chips, LoadedChip(geometry));
  for (LoadedChip& chip : made.chips) chip.load(program_, *made.executable);
  return made;
}

void SmallBlockRunner::run_small(Small& small, const Pass& pass) {
  std::vector<PassChip> chips;
  for (std::size_t c = 0; c < pass.chips.size(); ++c) {
    const PassChip& chip = pass.chips[c];
    small.chips[c].copy_params(chip.chip);
    chips.push_back({small.chips[c], chip.memory, chip.targets});
  }
  Pass own = pass;
  own.chips = chips;
  small.runner->run(own);
}

}  // namespace gdr
