#include "emulator/engine/native/run/packed_on_gpus.hpp"

#include <algorithm>

#include "emulator/engine/native/run/packed_pass.hpp"
#include "emulator/host/float_mode.hpp"
#include "emulator/host/thread_choice.hpp"

namespace gdr::native {
namespace {

/// Vectors of a task on a GPU, whose items have whole vectors, and maximum number of these in a
/// launch: 262144 threads.
constexpr std::uint64_t gpu_vectors_a_task = 4, gpu_vectors_a_launch = 8192;
/// Threads that are worth a launch, if each has a target of its own.
constexpr std::uint64_t min_threads = 1024;

}  // namespace

PackedOnGpus::PackedOnGpus(const CompiledProgram& compiled, const LoadedProgram& loaded,
                           const PackedPlan& plan, const TargetBlocks& blocks, SourceSlices& slices,
                           PackedTasks& tasks)
    : compiled_(compiled),
      loaded_(loaded),
      plan_(plan),
      blocks_(blocks),
      slices_(slices),
      tasks_(tasks) {
  for (const auto& gpu : compiled.gpus) cards_.push_back(std::make_unique<Card>(*gpu));
}

double PackedOnGpus::pairs_with(std::uint64_t targets) const noexcept {
  return static_cast<double>(targets) * static_cast<double>(slices_.lanes().item_count());
}

bool PackedOnGpus::takes(const Pass& pass, std::uint64_t targets) {
  if (cards_.empty() || !compiled_.section(Section::Body)->may_run_on_gpu()) return false;
  const Gpu& gpu = *compiled_.gpus.front();
  const double least = gpu.min_pairs, pairs = pairs_with(targets);
  // A thread of a GPU is slower than one of the processor: few are not worth a launch.
  const bool few = targets < min_threads && !shares_iterations(pass);
  if (few && least != 0) return false;
  return gpu.measured_if_bits_differ ? place_.on_gpu(pairs, least) : pairs >= least;
}

void PackedOnGpus::record(std::uint64_t targets, bool on_gpu, double seconds) {
  if (!cards_.empty()) place_.record(pairs_with(targets), on_gpu, seconds);
}

/// Whether threads share the iterations of a target: so few targets fill a GPU, too. Then slices
/// are not needed.
bool PackedOnGpus::shares_iterations(const Pass& pass) const {
  return adds_in_any_order(pass, loaded_) &&
         compiled_.section(Section::Body)->can_share_iterations();
}

std::vector<PackedOnGpus::Card*> PackedOnGpus::usable_cards() const {
  std::vector<Card*> usable;
  for (const auto& card : cards_)
    if (card->gpu.is_usable()) usable.push_back(card.get());
  return usable;
}

std::optional<std::size_t> PackedOnGpus::run(std::span<const Pass> passes, std::uint64_t targets) {
  using enum SourceSlices::Division;
  const CompiledSection& body = *compiled_.section(Section::Body);
  const bool shared = shares_iterations(passes.front());
  slices_.divide(passes.front(), targets, shared ? None : AmongThreads);
  tasks_.begin(passes, targets, false);
  slices_.copy_last_groups();
  for (;;) {
    const std::vector<Card*> usable = usable_cards();
    try {
      if (usable.empty()) cards_.front()->gpu.device->require_usable();
      std::size_t groups = 0;
      for (std::size_t slice = 0; slice < slices_.all().size(); ++slice)
        groups += run_slice(usable, passes, slice, targets, shared);
      return groups;
    } catch (const GpuError& error) {
      const std::size_t left = usable_cards().size();
      const bool others = left > 0 && left < usable.size();
      if (!others) compiled_.gpus.front()->require_fallback(error);
      body.note_gpu_failure(error.reason() +
                            (others ? "; the other GPUs took over" : "; the processor took over"));
      if (!others) return std::nullopt;
    }
  }
}

/// The groups of all targets of a slice, for batches of the cards.
std::vector<PackedOnGpus::GpuGroup> PackedOnGpus::make_groups(std::span<const Pass> passes,
                                                              std::size_t slice) const {
  const std::uint64_t lanes = Target{Isa::Portable}.lanes() * std::uint64_t{plan_.elements};
  const std::uint64_t size = gpu_vectors_a_task * lanes;
  std::vector<GpuGroup> groups;
  for (const Pass& pass : passes)
    for (std::size_t k = 0; k < pass.writes.size(); ++k) {
      const std::uint64_t count = pass.writes[k].slots.count;
      for (std::uint64_t first = 0; first < count; first += size) {
        const std::uint64_t some = std::min(size, count - first);
        groups.push_back({{&pass.writes[k], &pass.reads[k], pass.results, first, some, slice},
                          0,
                          {0, static_cast<std::size_t>((some + lanes - 1) / lanes)}});
      }
    }
  return groups;
}

/// Divides the groups among the cards; returns the number of vectors of each.
std::vector<std::size_t> PackedOnGpus::place(std::span<GpuGroup> groups, std::size_t cards) {
  std::size_t all = 0, before = 0;
  for (const GpuGroup& g : groups) all += g.slot.count;
  std::vector<std::size_t> vectors(cards);
  for (GpuGroup& g : groups) {
    g.card = before * cards / all;
    g.slot.first = vectors[g.card];
    vectors[g.card] += g.slot.count;
    before += g.slot.count;
  }
  return vectors;
}

/// Fewer for kernels whose lists fill the memories of the host and of a GPU.
std::size_t PackedOnGpus::vectors_a_launch() const {
  constexpr std::uint64_t max_bytes = std::uint64_t{1} << 28;
  std::uint64_t words = 0;  // of a thread
  for (const Kernel& kernel : compiled_.section(Section::Body)->kernels())
    for (const KernelList& list : kernel.lists)
      words += (list.last - list.first + 1) * (plan_.folded ? 1 : kernel.instances.size());
  const std::uint64_t bytes = words * sizeof(std::uint64_t) * Target{Isa::Portable}.lanes();
  return bytes == 0 ? gpu_vectors_a_launch
                    : std::clamp(max_bytes / bytes, gpu_vectors_a_task, gpu_vectors_a_launch);
}

/// While the cards compute a step, the host loads the next one and finishes the one before.
std::size_t PackedOnGpus::run_slice(const std::vector<Card*>& cards, std::span<const Pass> passes,
                                    std::size_t slice, std::uint64_t targets, bool shared) {
  constexpr double ns_a_target = 150;
  std::vector<GpuGroup> all = make_groups(passes, slice);
  const std::size_t at_once =
      std::max<std::size_t>(1, cards.size() * vectors_a_launch() / gpu_vectors_a_task);
  std::deque<Step> steps;
  for (std::size_t done = 0; done < all.size(); done += at_once) {
    Step& step = steps.emplace_back();
    step.groups = std::span(all).subspan(done, std::min(at_once, all.size() - done));
    step.vectors = place(step.groups, cards.size());
  }
  // A thread waits for each card.
  const auto waiting = static_cast<unsigned>(cards.size());
  const unsigned converting =
      threads_for_input(ns_a_target * static_cast<double>(targets), passes.front().threads);
  const unsigned threads = steps.size() > 1 ? waiting + converting : std::max(waiting, converting);
  for (std::size_t n = 0; n < steps.size() + 2; ++n) {
    Step* const next = n < steps.size() ? &steps[n] : nullptr;
    Step* const running = n >= 1 && n <= steps.size() ? &steps[n - 1] : nullptr;
    Step* const done = n >= 2 ? &steps[n - 2] : nullptr;
    if (next != nullptr)
      for (std::size_t c = 0; c < cards.size(); ++c)
        next->batches.emplace_back(cards[c]->gpu, cards[c]->sources, next->vectors[c],
                                   slices_.all()[slice].first, slices_.all()[slice].count, shared);
    const std::size_t runs = running != nullptr ? cards.size() : 0;
    const std::size_t loads = next != nullptr ? next->groups.size() : 0;
    const std::size_t ends = done != nullptr ? done->groups.size() : 0;
    const Phase phase{runs + loads + ends, [&](std::size_t i) {
                        if (i < runs)
                          launch(*cards[i], *running, i);
                        else if (i < runs + loads)
                          load(next->groups[i - runs], *next);
                        else
                          finish(done->groups[i - runs - loads], *done);
                      }};
    run_phases({&phase, 1}, threads);
    if (done != nullptr) done->batches.clear();
  }
  return all.size();
}

void PackedOnGpus::launch(Card& card, Step& step, std::size_t number) {
  if (step.vectors[number] == 0) return;
  card.sources.update(slices_.lanes());
  step.batches[number].run();
}

void PackedOnGpus::load(GpuGroup& g, Step& step) {
  const MachineFloatMode mode;
  const PackedTargets targets = blocks_.load(g.group);
  g.loaded =
      load_packed(compiled_, targets, slices_.of(g.group.slice), step.batches[g.card], g.slot);
}

void PackedOnGpus::finish(const GpuGroup& g, const Step& step) {
  const MachineFloatMode mode;
  if (g.loaded) {
    const PackedTargets targets = blocks_.load(g.group);
    if (finish_packed(compiled_, targets, slices_.of(g.group.slice), step.batches[g.card], g.slot))
      return tasks_.store_results(g.group, targets.block);
  }
  tasks_.run(g.group);
}

}  // namespace gdr::native
