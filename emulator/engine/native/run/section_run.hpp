// One section on one block: state to lanes, code, lanes to state.
#pragma once

#include "emulator/engine/native/run/gpu_batch.hpp"
#include "emulator/engine/native/run/section_frame.hpp"

namespace gdr::native {

class SectionRun {
 public:
  /// `folded`: only element 0 is computed.
  SectionRun(const CompiledSection& section, BlockState& block, const BlockRun& run,
             bool folded = false);

  /// Leaves out PEs without targets, except those whose words the section stores to the broadcast
  /// memory. For packed blocks: there these words are constants.
  void leave_out_idle_pes();
  /// For a section without kernels: stores the constants that the next one does not absorb.
  void leave_to(const CompiledSection& next);
  /// Sets the windows of the next iterations' sources: `first` is the index of the first window.
  void set_windows(const SourceWindows& windows, std::uint64_t first) noexcept;
  /// The sources of the next iterations are rows of SourceVectors.
  void set_source_vectors() noexcept { f_.variant.source_vectors = true; }

  /// `after`: the previous section's constants are inputs of this one. False, with the state as
  /// before, if that needs another code than one for vectors of sources.
  bool run_iterations(std::uint64_t count, std::uint32_t source_base, bool after = false);

  /// The iterations of this section run on a GPU: its part before GpuBatch::run, and the one after.
  /// False if they must run on the host; the state is then as before.
  bool load(std::uint64_t count, bool after, GpuBatch& batch, const GpuSlot& slot);
  bool finish_loaded(std::uint64_t count, bool after, const GpuBatch& batch, const GpuSlot& slot);

 private:
  bool run_in_doubles();
  bool prepare(Precision precision, Gpu* gpu = nullptr);
  bool compute();
  void execute(std::size_t k);
  std::vector<std::size_t> begins() const;
  std::vector<std::size_t> all_instances() const;

  SectionFrame f_;
};

}  // namespace gdr::native
