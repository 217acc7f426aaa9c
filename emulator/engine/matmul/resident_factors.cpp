#include "emulator/engine/matmul/resident_factors.hpp"

#include <algorithm>

namespace gdr {

ResidentFactors::ResidentFactors(const MatmulPattern& pattern, const LoadedProgram& program,
                                 const Geometry& geometry, const StreamingExecutable& executable)
    : program_(program),
      geometry_(geometry),
      executable_(executable),
      packed_(pattern, program, geometry) {}

/// Whether all writes to a chip are targets of whole blocks.
bool ResidentFactors::writes_whole_blocks(const PassState& state, std::size_t chip) const noexcept {
  const std::uint64_t lanes = std::uint64_t{geometry_.pes_per_block} * program_.program.elements;
  return std::ranges::all_of(state.writes(), [&](const TargetWrite& w) {
    return !takes_part(w.chips, chip) || (w.slots.partition != ChipPartition::SourcesOverBlocks &&
                                          w.slots.first % lanes == 0 && w.slots.count % lanes == 0);
  });
}

/// Records of a block's targets in the last write of this pass; null if there is none. Writes are
/// of whole blocks.
const std::uint64_t* ResidentFactors::records_for(const PassState& state, std::size_t chip,
                                                  std::size_t block) const noexcept {
  const std::uint64_t lanes = std::uint64_t{geometry_.pes_per_block} * program_.program.elements;
  const std::uint64_t* records = nullptr;
  for (const TargetWrite& w : state.writes()) {
    const std::uint64_t first = block * lanes;
    if (!takes_part(w.chips, chip) || first < w.slots.first ||
        first >= w.slots.first + w.slots.count)
      continue;
    records = w.records + (first - w.slots.first) * program_.layout.target_words;
  }
  return records;
}

/// Factors of chips are gathered from records, from the cache or once from the state.
void ResidentFactors::begin(ProductPass& pass) {
  PassState& state = pass.state;
  packed_.allocate(state.chips());
  cached_.resize(state.chips());
  for (CachedFactors& cached : cached_) cached.by_records = false;
  for (const std::uint32_t c : pass.chips) {
    const LoadedChip& chip = state.pass().chips[c].chip;
    CachedFactors& cached = cached_[c];
    cached.known = cached.version == chip.version();
    cached.by_records = packed_.gathers_records() && pass.fills_before == 0 &&
                        state.reads().empty() && writes_whole_blocks(state, c);
    cached.version = ~std::uint64_t{0};  // until the pass is done
    bool missing = !cached.by_records;
    for (std::size_t b = 0; !cached.known && b < geometry_.blocks; ++b)
      missing = missing || records_for(state, c, b) == nullptr;
    if (missing) state.require_state(c);
  }
  std::uint64_t others = 0;
  for (const TargetWrite& write : state.writes()) others |= write.chips;
  for (const ResultRead& read : state.reads()) others |= read.chips;
  for (std::size_t c = 0; c < state.chips(); ++c)
    if (takes_part(others, c) && !cached_[c].by_records) state.require_state(c);
}

void ResidentFactors::gather(const ProductPass& pass, std::uint32_t chip, std::uint32_t block) {
  const CachedFactors& cached = cached_[chip];
  const auto from_state = [&] { packed_.gather_words(chip, pass.state.state(chip).blocks[block]); };
  if (!cached.by_records) return from_state();
  if (const std::uint64_t* const records = records_for(pass.state, chip, block))
    packed_.gather_records(chip, block, records, *executable_.matmul().fast);
  else if (!cached.known)
    from_state();
}

void ResidentFactors::end(ProductPass& pass) {
  for (const std::uint32_t c : pass.chips) {
    LoadedChip& chip = pass.state.pass().chips[c].chip;
    CachedFactors& cached = cached_[c];
    cached.version = chip.version();
    pass.state.forget_state(c);
    if (cached.by_records) chip.defer([this, c](ChipState& state) { scatter(c, state); });
  }
}

/// Deferred writes of passes that bypassed the state: targets and registers set by Start.
void ResidentFactors::scatter(std::size_t chip, ChipState& state) {
  BlockRun start;
  start.section = Section::Start;
  start.source_base = program_.halves.source_base[0];
  start.output_base = program_.halves.output_base[0];
  for (BlockState& block : state.blocks) {
    packed_.scatter_words(chip, block);
    executable_.run(block, start);
  }
}

}  // namespace gdr
