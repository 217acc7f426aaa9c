#include "emulator/engine/native/run/packed_pass.hpp"

#include <algorithm>
#include <bit>

#include "emulator/engine/runners/small_blocks.hpp"

namespace gdr::native {
namespace {

bool any_result(const LoadedProgram& loaded, Reduce reduce) {
  return std::ranges::find(loaded.results, reduce, &PortField::reduce) != loaded.results.end();
}

/// Whether sums of integers do not wrap around even if one PE adds all terms. Otherwise it matters
/// which PE adds a term, since the network adds up the PEs' sums with more bits.
bool keeps_integers(const Pass& pass, const LoadedProgram& loaded,
                    std::optional<std::uint64_t> change, Precision precision) {
  if (!any_result(loaded, Reduce::Iadd)) return true;
  if (!change) return false;
  const std::uint64_t most = largest_integer_sum(precision);
  std::uint64_t iterations = 1;  // End
  for (const PassRun& run : pass.runs)
    iterations += run.plan.items * static_cast<std::uint64_t>(std::popcount(run.chips));
  return *change == 0 || iterations <= most / *change;
}

/// Whether the runs are one results-only loop from Start to End.
bool has_one_loop(const Pass& pass, const LoadedProgram& loaded,
                  std::optional<std::uint64_t> integer_change, Precision precision) {
  if (!wants_results_only(pass)) return false;
  const PassRun& first = pass.runs.front();
  const bool any_order = keeps_integers(pass, loaded, integer_change, precision);
  return std::ranges::all_of(pass.runs, [&](const PassRun& run) {
    return run.plan.partition == ChipPartition::TargetsOverBlocks
               ? run.chips == first.chips
               : run.plan.partition == ChipPartition::SourcesOverBlocks && any_order &&
                     (run.flags & run_reassociate) != 0;
  });
}

/// Whether all targets are written and all their results are read.
bool has_all_transfers(const Pass& pass, const LoadedProgram& loaded) {
  if (pass.writes.empty() || pass.writes.size() != pass.reads.size()) return false;
  const PassRun& run = pass.runs.front();
  for (std::size_t k = 0; k < pass.writes.size(); ++k) {
    const TargetWrite& write = pass.writes[k];
    const ResultRead& read = pass.reads[k];
    const auto chip = static_cast<std::size_t>(std::countr_zero(write.chips));
    // Without variables of targets all slots are alike.
    const std::uint64_t targets = loaded.targets.empty() ? write.slots.count
                                  : run.targets != 0     ? run.targets
                                                         : pass.chips[chip].targets;
    const bool split = run.plan.partition == ChipPartition::SourcesOverBlocks;
    const bool whole = split ? pass.writes.size() == 1 && read.joined && run.chips == write.chips
                             : std::has_single_bit(write.chips) && read.joined == read.raw &&
                                   takes_part(run.chips, chip);
    if (!whole || write.slots.partition != run.plan.partition ||
        read.slots.partition != run.plan.partition || read.chips != write.chips ||
        write.slots.first != 0 || read.slots.first != 0 || write.slots.count != targets ||
        read.slots.count != targets || targets == 0)
      return false;
  }
  return true;
}

}  // namespace

bool bounds_integers(const Pass& pass, const LoadedProgram& loaded) {
  return !pass.runs.empty() &&
         pass.runs.front().plan.partition == ChipPartition::SourcesOverBlocks &&
         any_result(loaded, Reduce::Iadd);
}

std::uint64_t largest_integer(const Pass& pass, const LoadedProgram& loaded,
                              std::vector<RecordSegment>& segments) {
  std::uint64_t largest = 0;
  const auto search = [&](std::span<const PortField> fields, const std::uint64_t* records,
                          std::size_t words, std::uint64_t count) {
    for (const PortField& field : fields) {
      if (field.conversion.machine != MachineFormat::Integer) continue;
      for (std::uint64_t i = 0; i < count; ++i) {
        const auto value = static_cast<std::int64_t>(host_bits(field, records + i * words));
        const auto bits = static_cast<std::uint64_t>(value);
        largest = std::max(largest, value < 0 ? -bits : bits);
      }
    }
  };
  for (const TargetWrite& write : pass.writes)
    search(loaded.targets, write.records, loaded.layout.target_words, write.slots.count);
  if (pass.pending_writes != nullptr) pass.pending_writes->finish(pass.threads);
  find_segments(pass, loaded, segments);
  std::vector<std::uint64_t> scratch;
  const std::size_t words = loaded.layout.source_words;
  for (const RecordSegment& s : segments)
    search(loaded.sources, s.memory->view(s.address, s.items * words, scratch), words, s.items);
  return largest;
}

bool may_pack(const Pass& pass, const LoadedProgram& loaded,
              std::optional<std::uint64_t> integer_change, Precision precision) {
  return has_one_loop(pass, loaded, integer_change, precision) && has_all_transfers(pass, loaded);
}

bool adds_in_any_order(const Pass& pass, const LoadedProgram& loaded) {
  return pass.runs.front().plan.partition == ChipPartition::SourcesOverBlocks &&
         !any_result(loaded, Reduce::Pass);
}

void find_segments(const Pass& pass, const LoadedProgram& loaded,
                   std::vector<RecordSegment>& segments) {
  segments.clear();
  for (const PassRun& run : pass.runs) {
    const bool split = run.plan.partition == ChipPartition::SourcesOverBlocks;
    const BoardMemory* first = nullptr;
    for (std::size_t c = 0; c < pass.chips.size(); ++c) {
      if (!takes_part(run.chips, c)) continue;
      const BoardMemory& memory = pass.chips[c].memory;
      if (!split && first != nullptr) {
        if (memory.revision() != first->revision() && pass.pending_writes != nullptr)
          pass.pending_writes->finish(pass.threads);
        // Whatever a job with other sources in each chip has left beside these.
        if (!memory.equals(*first, run.address, run.plan.items * loaded.layout.source_words))
          return segments.clear();
        continue;
      }
      first = &memory;
      if (run.plan.items != 0) segments.push_back({&memory, run.address, run.plan.items});
    }
  }
}

}  // namespace gdr::native
