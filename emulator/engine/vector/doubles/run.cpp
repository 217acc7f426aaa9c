#include "emulator/engine/vector/doubles/run.hpp"

#include "emulator/engine/vector/doubles/frame.hpp"
#include "emulator/engine/vector/doubles/saved_memory.hpp"

namespace gdr {
namespace {

/// Runs a section on a block, from import to export.
class Run {
 public:
  Run(const DoublesSection& section, const DoublesKernels& kernels, BlockState& block,
      const BlockRun& run, SourceLanes sources)
      : section_(section),
        kernels_(kernels),
        run_(run),
        frame_(section, kernels, block, run, sources),
        saved_(section, block, run.outputs != nullptr) {}

  DoublesResult finish() {
    clear_flags();
    frame_.run().failure = frame_.import();
    if (!frame_.failed()) all_passes();
    const Frame::Wanted wanted = run_.results_only ? Frame::Wanted::Results : Frame::Wanted::All;
    if (leave(wanted)) return {0, run_.iterations};
    const std::uint64_t failure = failure_now();
    if (has_checkpoint_) {
      // The passes before the last ones are valid.
      clear_flags();
      frame_.run().failure = 0;
      frame_.restore_checkpoint();
      if (leave(Frame::Wanted::Carried))
        return {failure, run_.iterations - section_.last_count(run_)};
    }
    saved_.put_back();
    return {failure, 0};
  }

 private:
  void all_passes() {
    frame_.once(section_.before);
    std::uint64_t left = run_.iterations;
    const std::uint64_t last = section_.last_count(run_);
    if (left > last) {
      frame_.once(section_.enter);
      for (; left > last; --left) frame_.pass(section_.pass);
      if (section_.resumable && !section_.writes_memory && !frame_.failed()) {
        frame_.save_checkpoint();
        has_checkpoint_ = true;
      }
    }
    for (; left > 0; --left) frame_.pass(section_.last);
    frame_.once(section_.after);
    kernels_.leave();
  }

  std::uint64_t failure_now() {
    const bool flags = (raised_flags() & kernels_.failure_flags) != 0;
    return frame_.run().failure | (flags ? std::uint64_t{inexact} : 0);
  }

  /// True if verification succeeded; then the words are in the block.
  bool leave(Frame::Wanted wanted) {
    thread_local std::vector<std::uint64_t> words;
    std::uint64_t& failure = frame_.run().failure;
    if (failure == 0) failure = frame_.export_to(words, wanted);
    kernels_.leave();
    if (failure_now() != 0) return false;
    frame_.commit(words, wanted);
    return true;
  }

  const DoublesSection& section_;
  const DoublesKernels& kernels_;
  const BlockRun& run_;
  Frame frame_;
  const SavedMemory saved_;
  bool has_checkpoint_ = false;
};

}  // namespace

DoublesResult run_on_doubles(const DoublesSection& section, const DoublesKernels& kernels,
                             BlockState& block, const BlockRun& run, SourceLanes sources) {
  return Run(section, kernels, block, run, sources).finish();
}

}  // namespace gdr
