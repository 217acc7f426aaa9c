// Blocks that hold packed targets only.
#pragma once

#include <cstdint>
#include <span>

#include "emulator/engine/api/pass.hpp"
#include "emulator/engine/native/run/block_executor.hpp"
#include "emulator/engine/native/run/packed_plan.hpp"

namespace gdr::native {

/// Targets of a write, the destination of their results, and their slice of the sources: a task.
struct TargetGroup {
  const TargetWrite* write = nullptr;
  const ResultRead* read = nullptr;
  std::uint64_t* results = nullptr;  ///< results of the pass
  std::uint64_t first = 0, count = 0;
  std::size_t slice = 0;
};

/// One of the adjacent PEs that a target is in.
struct TargetCopy {
  std::uint64_t number = 0, copies = 1;
};

/// The state of a PE before section Start, blocks of as many PEs as a group of targets needs, and
/// the transfers of targets and results. Members that are const may run in several threads.
class TargetBlocks {
 public:
  /// `fills_vectors`: PEs without a target repeat one, up to a whole vector of the host.
  TargetBlocks(const CompiledProgram& compiled, const LoadedProgram& loaded,
               const Geometry& geometry, const Executable& executable, const PackedPlan& plan,
               bool fills_vectors);

  /// Makes the state of a PE after section Init and with the parameters of a pass. False if PEs, or
  /// the chips of the pass, differ.
  bool make_image(const Pass& pass);
  const BlockState& image() const noexcept { return image_.blocks[0]; }
  /// A number of this image among those of all runners.
  std::uint64_t image_number() const noexcept { return image_number_; }

  /// A block with the targets of a group, each in so many adjacent PEs, before section Start. It
  /// belongs to the thread, until it loads others.
  PackedTargets load(const TargetGroup& group, std::uint64_t copies = 1) const;
  /// Stores results of a group to their place among `results`: records, or words of the network.
  void store(const BlockState& block, const TargetGroup& group, std::uint64_t* results) const;
  /// Stores words of the network, two for each result; `words`: those of the first target.
  void store_raw(const BlockState& block, const TargetGroup& group, std::uint64_t* words,
                 TargetCopy copy) const;
  /// Words of the network of a target.
  std::size_t raw_words() const noexcept { return 2 * loaded_.results.size(); }

 private:
  bool all_pes_are_equal() const;
  std::uint64_t pes_with(const TargetGroup& group, unsigned element) const noexcept;
  std::uint64_t pes_for(const TargetGroup& group, std::uint64_t copies) const noexcept;
  BlockState& provide(std::uint32_t pes) const;
  void load_records(BlockState& block, const TargetGroup& group, std::uint64_t copies) const;

  const CompiledProgram& compiled_;
  const LoadedProgram& loaded_;
  const Geometry geometry_;
  const Executable& executable_;
  const PackedPlan& plan_;
  const bool fills_vectors_;
  /// PEs of a block: whole vectors of the host, and those whose words section Start stores.
  std::uint32_t min_pes_ = 16;
  ChipState image_;  ///< a block after Init, with parameters
  Params image_params_;
  bool image_made_ = false, image_usable_ = false;
  std::uint64_t image_number_ = 0;
};

}  // namespace gdr::native
