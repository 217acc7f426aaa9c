#include "emulator/engine/native/run/source_slices.hpp"

#include <algorithm>
#include <bit>
#include <utility>

#include "emulator/engine/native/run/packed_pass.hpp"

namespace gdr::native {
namespace {

/// Minimum number of sources per slice, and maximum number of slices.
constexpr std::uint64_t items_a_slice = 16384, max_slices = 8;
/// Minimum number of iterations of a loop over vectors of sources per slice.
constexpr std::uint64_t iterations_a_slice = 2048;
/// Minimum number of iterations that lanes save which divide the sources: beside fewer, it takes as
/// long to make vectors of sources and to join the lanes.
constexpr std::uint64_t min_saved_iterations = 1536;

bool has_lists(const CompiledSection& body) {
  return std::ranges::any_of(body.kernels(),
                             [](const Kernel& kernel) { return !kernel.lists.empty(); });
}

}  // namespace

SourceSlices::SourceSlices(const CompiledProgram& compiled, const LoadedProgram& loaded,
                           const PackedPlan& plan)
    : compiled_(compiled),
      loaded_(loaded),
      plan_(plan),
      // The copies on GPUs are of one set.
      sets_(*compiled.section(Section::Body), loaded,
            lanes_may_differ(*compiled.section(Section::Body)), compiled.gpus.empty()),
      lanes_(&sets_.now().lanes),
      vectors_(sets_.now().vectors.get()) {}

/// Whether lanes of a target may have different sources: the loop leaves nothing else of the last
/// group than its results, or that group is one of pads.
bool SourceSlices::lanes_may_differ(const CompiledSection& body) const {
  const auto leaves_group = [](const MovedShort& move) { return move.from == NodeOp::Source; };
  return !has_lists(body) &&
         (loaded_.program.group > 1 || std::ranges::none_of(body.moves(), leaves_group));
}

void SourceSlices::use(std::span<const RecordSegment> segments) {
  if (!sets_.use(segments)) return;
  lanes_ = &sets_.now().lanes;
  vectors_ = sets_.now().vectors.get();
  divided_groups_ = 0;
}

std::uint64_t SourceSlices::targets_of_vector(bool over_lanes) const noexcept {
  return plan_.elements * (over_lanes ? 1 : std::uint64_t{compiled_.target.lanes()});
}
std::uint64_t SourceSlices::vectors_for(std::uint64_t targets, bool over_lanes) const noexcept {
  const std::uint64_t of_vector = targets_of_vector(over_lanes);
  return (targets + of_vector - 1) / of_vector;
}

/// Number of slices that keeps threads busy with few targets.
std::uint64_t SourceSlices::slices_wanted(const Pass& pass) const {
  if (!adds_in_any_order(pass, loaded_)) return 1;
  return std::clamp<std::uint64_t>(lanes_->item_count() / items_a_slice, 1, max_slices);
}
/// The same for targets whose lanes divide the sources: a power of two, so that two threads have
/// equal parts, and at most those of many targets.
std::uint64_t SourceSlices::slices_over_lanes(const Pass& pass, std::uint64_t targets) const {
  const std::uint64_t iterations =
      vectors_for(targets, true) * (lanes_->group_count() / vectors_->lanes());
  return std::bit_floor(
      std::clamp<std::uint64_t>(iterations / iterations_a_slice, 1, slices_wanted(pass)));
}
/// Whether the lanes divide the sources: for at most half of the targets that fill a vector, since
/// it takes time to make vectors of new sources.
bool SourceSlices::divides_over_lanes(const Pass& pass, std::uint64_t targets) const {
  if (vectors_ == nullptr || !adds_in_any_order(pass, loaded_)) return false;
  const std::uint64_t lanes = vectors_->lanes(), groups = lanes_->group_count();
  const std::uint64_t vectors = vectors_for(targets, true);
  return 2 * vectors <= lanes && groups * (lanes - vectors) >= min_saved_iterations * lanes &&
         groups <= groups_between_polls * lanes / 2 * slices_over_lanes(pass, targets);
}

void SourceSlices::divide(const Pass& pass, std::uint64_t targets, Division allowed) {
  const bool over_lanes = allowed == Division::Any && divides_over_lanes(pass, targets);
  if (over_lanes)
    make_slices(slices_over_lanes(pass, targets), true);
  else
    make_slices(allowed == Division::None ? 1 : slices_wanted(pass), false);
}

/// Whole chunks, of nearly equal size; over lanes also the groups that fill no row.
void SourceSlices::make_slices(std::uint64_t wanted, bool over_lanes) {
  constexpr std::uint64_t chunk = LaneSources::chunk_groups;
  const std::uint64_t groups = lanes_->group_count();
  const std::uint64_t chunks = (groups + chunk - 1) / chunk;
  const std::uint64_t left_over = over_lanes ? vectors_->left_over(groups) : 0;
  wanted = std::min(wanted, chunks);
  const std::uint64_t all = wanted + (left_over != 0 ? 1 : 0);
  if (all == slices_.size() && groups == divided_groups_ && over_lanes == over_lanes_) return;
  last_groups_revision_ = 0;
  divided_groups_ = groups;
  over_lanes_ = over_lanes;
  slices_.assign(all, {});
  for (std::uint64_t s = 0; s < wanted; ++s) {
    slices_[s].first = chunks * s / wanted * chunk;
    slices_[s].count =
        std::min(groups - left_over, chunks * (s + 1) / wanted * chunk) - slices_[s].first;
    slices_[s].over_lanes = over_lanes;
  }
  if (left_over != 0) {
    slices_.back().first = groups - left_over;
    slices_.back().count = left_over;
  }
  std::size_t partials = 0;
  for (SourceSlice& slice : slices_) {
    slice.partials = slice.over_lanes ? vectors_->lanes() : 1;
    slice.first_partial = std::exchange(partials, partials + slice.partials);
  }
}

/// The slices that are divided over lanes, which come first.
void SourceSlices::prepare_vectors(std::vector<Phase>& phases) {
  if (!over_lanes_) return;
  vector_parts_.clear();
  for (const SourceSlice& slice : slices_)
    if (slice.over_lanes) vector_parts_.push_back({slice.first, slice.count});
  vectors_->prepare(vector_parts_, phases);
}

void SourceSlices::copy_last_groups() {
  const Revision now = lanes_->changes().revision();
  if (last_groups_revision_ == now) return;
  for (SourceSlice& slice : slices_) copy_last_groups(slice);
  last_groups_revision_ = now;
}

/// The last group of each part, whose words the loop may store.
void SourceSlices::copy_last_groups(SourceSlice& slice) const {
  const std::size_t size = loaded_.program.group * std::size_t{loaded_.program.item_shorts};
  slice.last_groups.resize((slice.count + groups_between_polls - 1) / groups_between_polls * size);
  std::uint64_t* to = slice.last_groups.data();
  for (std::uint64_t end = 0; end < slice.count; to += size) {
    end = std::min(slice.count, end + groups_between_polls);
    copy_group(slice.first + end - 1, to);
  }
}

void SourceSlices::copy_last_group(std::vector<std::uint64_t>& to) const {
  to.resize(loaded_.program.group * std::size_t{loaded_.program.item_shorts});
  copy_group(slices_[0].first + slices_[0].count - 1, to.data());
}

/// A group of sources in the layout of the broadcast memory.
void SourceSlices::copy_group(std::uint64_t group, std::uint64_t* to) const {
  const std::size_t item_shorts = loaded_.program.item_shorts, words = loaded_.layout.source_words;
  thread_local std::vector<std::uint64_t> records;
  records.resize(loaded_.program.group * words);
  lanes_->copy_group(group, records.data());
  for (const PortField& field : loaded_.sources)
    port_load(field, {records.data(), words}, loaded_.program.group,
              {to + field.location.address, item_shorts, 1});
}

PackedSources SourceSlices::of(std::size_t number, bool over_lanes) const {
  const SourceSlice& slice = slices_[number];
  PackedSources sources;
  if (over_lanes) {
    sources = vectors_->part(number);
  } else {
    sources.groups = lanes_->groups() + slice.first * lanes_->group_bytes();
    sources.count = slice.count;
    // Groups that fill no row begin anywhere.
    if (slice.first % SourceWindows::groups == 0) sources.windows = &lanes_->windows();
    sources.first_window = slice.first / SourceWindows::groups;
  }
  sources.group_shorts = loaded_.program.group * loaded_.program.item_shorts;
  sources.address = loaded_.halves.source_base[0];
  sources.last_groups = slice.last_groups.data();
  if (over_lanes) sources.last_groups += slice.last_groups.size() - sources.group_shorts;
  return sources;
}

}  // namespace gdr::native
