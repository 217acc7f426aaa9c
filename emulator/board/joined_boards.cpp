#include "emulator/board/joined_boards.hpp"

#include <algorithm>
#include <vector>

namespace gdr {
namespace {

/// Whether passes of a board may be passes of the first one: for the same program, with the same
/// parameters in all chips.
bool has_state_of(const BoardState& first, const BoardState& other) {
  if (first.loaded == nullptr || other.loaded == nullptr ||
      first.loaded->object != other.loaded->object)
    return false;
  const Params& params = first.chips.front().chip.params();
  const auto has_params = [&](const BoardChip& chip) { return chip.chip.params() == params; };
  return std::ranges::all_of(first.chips, has_params) &&
         std::ranges::all_of(other.chips, has_params);
}

/// Whether all chips that take part in a run have the sources of the first chip of a board.
bool has_sources_of(BoardState& board, const PendingPass& pass) {
  const BoardMemory& own = board.chips.front().memory;
  return std::ranges::all_of(pass.runs, [&](const PassRun& run) {
    const std::uint64_t words = run.plan.items * board.loaded->layout.source_words;
    for (std::size_t c = 0; c < pass.chips.size(); ++c) {
      BoardMemory& memory = pass.chips[c].memory;
      if (!takes_part(run.chips, c) || memory.revision() == own.revision()) continue;
      if (!memory.equals(own, run.address, words)) return false;
      // Not compared again until one of them is written to.
      if (memory.equals_except(own, run.address, words)) memory.take_revision(own);
    }
    return true;
  });
}

}  // namespace

bool run_together(std::span<const WaitingBoard> boards) {
  BoardState& first = *boards.front().board;
  std::vector<std::vector<PassChip>> chips;
  std::vector<Pass> passes;
  for (const WaitingBoard& one : boards) {
    if (!has_state_of(first, *one.board)) return false;
    for (const PendingPass& p : one.passes->pending()) {
      if (!has_sources_of(first, p)) return false;
      std::vector<PassChip>& own = chips.emplace_back();
      own.reserve(p.chips.size());
      for (const PassChip& chip : p.chips)
        own.push_back({chip.chip, first.chips.front().memory, chip.targets});
      passes.push_back(p.pass(first.threads));
      passes.back().chips = own;
    }
  }
  return first.loaded->runner->run_together(passes);
}

}  // namespace gdr
