// Packed passes on GPUs.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "emulator/engine/gpu/place_choice.hpp"
#include "emulator/engine/native/run/gpu_batch.hpp"
#include "emulator/engine/native/run/packed_tasks.hpp"

namespace gdr::native {

/// Divides targets among all usable GPUs. While they compute some, the host loads the next ones and
/// finishes those before.
class PackedOnGpus {
 public:
  PackedOnGpus(const CompiledProgram& compiled, const LoadedProgram& loaded, const PackedPlan& plan,
               const TargetBlocks& blocks, SourceSlices& slices, PackedTasks& tasks);

  /// Whether a pass on so many targets is to run here.
  bool takes(const Pass& pass, std::uint64_t targets);
  /// Runs passes with the same sources and parameters; returns the number of groups of targets.
  /// None: the processor has to do the work, from its beginning. After the failure of a GPU the
  /// others do it, or else the processor where the user allows that.
  std::optional<std::size_t> run(std::span<const Pass> passes, std::uint64_t targets);
  /// Records the time of a pass, here or on the host.
  void record(std::uint64_t targets, bool on_gpu, double seconds);

 private:
  /// A GPU with its copy of the sources.
  struct Card {
    explicit Card(Gpu& used) : gpu(used), sources(used) {}
    Gpu& gpu;
    GpuLanes sources;
  };
  /// A group in a batch of a GPU.
  struct GpuGroup {
    TargetGroup group;
    std::size_t card = 0;
    GpuSlot slot;
    bool loaded = false;
  };
  /// Groups that the cards compute at the same time.
  struct Step {
    std::span<GpuGroup> groups;
    std::vector<std::size_t> vectors;  ///< number of vectors of each card
    std::deque<GpuBatch> batches;      ///< batches of the cards
  };

  double pairs_with(std::uint64_t targets) const noexcept;
  bool shares_iterations(const Pass& pass) const;
  std::vector<Card*> usable_cards() const;
  std::vector<GpuGroup> make_groups(std::span<const Pass> passes, std::size_t slice) const;
  static std::vector<std::size_t> place(std::span<GpuGroup> groups, std::size_t cards);
  std::size_t vectors_a_launch() const;
  std::size_t run_slice(const std::vector<Card*>& cards, std::span<const Pass> passes,
                        std::size_t slice, std::uint64_t targets, bool shared);
  void launch(Card& card, Step& step, std::size_t number);
  void load(GpuGroup& g, Step& step);
  void finish(const GpuGroup& g, const Step& step);

  const CompiledProgram& compiled_;
  const LoadedProgram& loaded_;
  const PackedPlan& plan_;
  const TargetBlocks& blocks_;
  SourceSlices& slices_;
  PackedTasks& tasks_;
  std::vector<std::unique_ptr<Card>> cards_;
  PlaceChoice place_;
};

}  // namespace gdr::native
