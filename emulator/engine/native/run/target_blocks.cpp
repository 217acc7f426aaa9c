#include "emulator/engine/native/run/target_blocks.hpp"

#include <algorithm>
#include <atomic>
#include <bit>

namespace gdr::native {
namespace {

/// A packed block and the image that it was copied from.
struct PackedBlock {
  std::uint64_t image = 0;
  ChipState chip;
};
thread_local PackedBlock packed_block;

std::uint64_t next_image() noexcept {
  static std::atomic<std::uint64_t> images = 0;
  return ++images;
}

Geometry one_block(Geometry geometry, std::uint32_t pes) {
  geometry.blocks = 1;
  geometry.pes_per_block = pes;
  return geometry;
}

}  // namespace

TargetBlocks::TargetBlocks(const CompiledProgram& compiled, const LoadedProgram& loaded,
                           const Geometry& geometry, const Executable& executable,
                           const PackedPlan& plan, bool fills_vectors)
    : compiled_(compiled),
      loaded_(loaded),
      geometry_(geometry),
      executable_(executable),
      plan_(plan),
      fills_vectors_(fills_vectors) {
  if (!plan.usable) return;
  for (const BmStore& store : compiled.section(Section::Start)->bm_stores())
    min_pes_ = std::max(min_pes_, store.pe + 1);
}

bool TargetBlocks::make_image(const Pass& pass) {
  const LoadedChip* first = nullptr;
  for (const PassRun& run : pass.runs)
    for (std::size_t c = 0; c < pass.chips.size(); ++c) {
      if (!takes_part(run.chips, c)) continue;
      const LoadedChip& chip = pass.chips[c].chip;
      if (first == nullptr) first = &chip;
      if (&chip != first && chip.params() != first->params()) return false;
    }
  if (image_made_ && image_params_ == first->params()) return image_usable_;
  image_ = make_chip(one_block(geometry_, geometry_.pes_per_block));
  initialise_blocks(image_, loaded_, executable_);
  image_params_ = first->params();
  image_params_.for_each([&](std::uint32_t variable, std::span<const std::uint64_t> words) {
    load_param(loaded_.params[variable], loaded_.program.elements, image_.blocks[0], words.data());
  });
  image_made_ = true;
  image_number_ = next_image();
  image_usable_ = all_pes_are_equal();
  return image_usable_;
}

bool TargetBlocks::all_pes_are_equal() const {
  return std::ranges::all_of(plan_.presets, [&](const std::vector<CellRow>& rows) {
    const std::uint64_t word = *rows.front().in(image());
    return std::ranges::all_of(rows, [&](const CellRow& row) {
      const std::uint64_t* const words = row.in(image());
      return std::all_of(words, words + image().pes, [&](std::uint64_t w) { return w == word; });
    });
  });
}

/// PEs of a group that hold a target in an element.
std::uint64_t TargetBlocks::pes_with(const TargetGroup& group, unsigned element) const noexcept {
  return (group.count + plan_.elements - 1 - element) / plan_.elements;
}

/// PEs of a group, of whole vectors where an overflow in any lane has the run repeated in doubles.
std::uint64_t TargetBlocks::pes_for(const TargetGroup& group, std::uint64_t copies) const noexcept {
  const std::uint64_t pes = pes_with(group, 0) * copies, lanes = compiled_.target.lanes();
  return fills_vectors_ ? (pes + lanes - 1) / lanes * lanes : pes;
}

/// A block of at least so many PEs. The fewer PEs a block has, the closer its words are to each
/// other. A packed run never reads stale words of another program.
BlockState& TargetBlocks::provide(std::uint32_t pes) const {
  PackedBlock& packed = packed_block;
  pes = std::max(pes, min_pes_);
  const std::uint32_t had = packed.chip.geometry.pes_per_block;
  const bool fits = !packed.chip.blocks.empty() && had >= pes &&
                    packed.chip.geometry == one_block(geometry_, had);
  if (!fits) {
    packed.chip = make_chip(one_block(geometry_, std::bit_ceil(pes)));
    packed.image = 0;
  }
  if (packed.image != image_number_) {
    packed.chip.blocks[0].bm = image().bm;
    packed.image = image_number_;
  }
  return packed.chip.blocks[0];
}

PackedTargets TargetBlocks::load(const TargetGroup& group, std::uint64_t copies) const {
  const std::uint64_t pes = pes_for(group, copies);
  BlockState& block = provide(static_cast<std::uint32_t>(pes));
  for (const std::vector<CellRow>& rows : plan_.presets)
    std::fill_n(rows.front().in(block), pes, *rows.front().in(image()));
  load_records(block, group, copies);
  return {block, static_cast<std::uint32_t>(pes), plan_.folded};
}

/// Elements and PEs that no target is left for get the last one.
void TargetBlocks::load_records(BlockState& block, const TargetGroup& group,
                                std::uint64_t copies) const {
  const std::size_t words = loaded_.layout.target_words, step = words * plan_.elements;
  const std::uint64_t* const records = group.write->records + group.first * words;
  const std::uint64_t* const last = records + (group.count - 1) * words;
  for (unsigned e = 0; e < plan_.elements; ++e)
    for (const PortField& field : loaded_.targets) {
      const std::uint64_t targets = pes_with(group, e);
      Lanes<std::uint64_t> to = pe_lanes(block, field.location, e);
      std::uint64_t left = pes_for(group, copies);
      if (copies == 1) {
        port_load(field, {records + e * words, step}, targets, to);
        to.shorts += targets;
        left -= targets;
      } else {
        for (std::uint64_t i = 0; i < targets; ++i, to.shorts += copies, left -= copies)
          port_load(field, {records + e * words + i * step, 0}, copies, to);
      }
      if (left != 0) port_load(field, {last, 0}, left, to);
    }
}

void TargetBlocks::store(const BlockState& block, const TargetGroup& group,
                         std::uint64_t* results) const {
  if (group.read->raw)
    return store_raw(block, group, results + group.first * raw_words(), TargetCopy());
  const std::size_t words = loaded_.layout.result_words;
  std::uint64_t* const records = results + group.first * words;
  if (loaded_.packs_results) std::fill_n(records, group.count * words, 0);
  for (unsigned e = 0; e < plan_.elements; ++e)
    for (const PortField& field : loaded_.results)
      port_store(field, pe_lanes(block, field.location, e), pes_with(group, e),
                 {records + e * words, words * plan_.elements});
}

void TargetBlocks::store_raw(const BlockState& block, const TargetGroup& group,
                             std::uint64_t* words, TargetCopy copy) const {
  for (std::uint64_t i = 0; i < group.count; ++i) {
    const auto element = static_cast<unsigned>(i % plan_.elements);
    const std::uint64_t pe = i / plan_.elements * copy.copies + copy.number;
    std::uint64_t* to = words + i * raw_words();
    for (const PortField& field : loaded_.results) {
      const Lanes<const std::uint64_t> lanes = pe_lanes(block, field.location, element);
      const std::uint64_t* const at = lanes.shorts + pe;
      const u128 word =
          field.width == Width::Short ? u128{*at} : join(Short{at[0]}, Short{at[lanes.lower]}).bits;
      const u128 wide = network_word(field, word).bits;
      *to++ = static_cast<std::uint64_t>(wide);
      *to++ = static_cast<std::uint64_t>(wide >> 64);
    }
  }
}

}  // namespace gdr::native
