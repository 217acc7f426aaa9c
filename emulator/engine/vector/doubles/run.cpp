#include "emulator/engine/vector/doubles/run.hpp"

#include "emulator/engine/vector/doubles/frame.hpp"

namespace gdr {

DoublesResult run_on_doubles(const DoublesSection& section, const DoublesKernels& kernels,
                             BlockState& block, const BlockRun& run, SourceLanes sources) {
  Frame frame(section, kernels, block, run, sources);
  const bool has_checkpoint = frame.import() && frame.all_passes(run);
  if (frame.leave(run.results_only ? Wanted::Results : Wanted::All)) return {0, run.iterations};
  const std::uint64_t failure = frame.failure();
  if (has_checkpoint) {
    // The passes before the last ones are valid.
    frame.restore_checkpoint();
    if (frame.leave(Wanted::Carried)) return {failure, run.iterations - section.last_count(run)};
  }
  frame.restore_memory();
  return {failure, 0};
}

std::uint64_t run_before_passes(const DoublesSection& section, const DoublesKernels& kernels,
                                BlockState& block, const BlockRun& run,
                                const std::function<void(const std::byte* frame)>& take) {
  Frame frame(section, kernels, block, run, {});
  if (frame.import()) frame.before_passes();
  if (frame.failure() == 0) take(frame.run().frame);
  frame.restore_memory();
  return frame.failure();
}

std::uint64_t run_after_passes(const DoublesSection& section, const DoublesKernels& kernels,
                               BlockState& block, const BlockRun& run,
                               const std::function<void(std::byte* frame)>& put) {
  Frame frame(section, kernels, block, run, {});
  if (frame.import()) frame.before_passes();
  put(frame.run().frame);
  frame.once(section.after);
  kernels.leave();
  if (frame.leave(Wanted::Results)) return 0;
  frame.restore_memory();
  return frame.failure();
}

}  // namespace gdr
