#include "emulator/engine/vector/doubles/run.hpp"

#include <cstring>
#include <optional>
#include <vector>

#include "emulator/engine/lanes/doubles/verified.hpp"
#include "emulator/engine/vector/doubles/failure_text.hpp"
#include "emulator/engine/vector/doubles/frame.hpp"

namespace gdr {
namespace {

using Wanted = DoublesFrame::Wanted;

thread_local FrameMemory frame_memory;

void run_next(const DoublesOp& op, DoublesRun& run) {
  const DoublesOp& next = *(&op + 1);
  next.kernel(next, run);
}
void write_word(const DoublesOp& op, DoublesRun& run) {
  run.memory[op.memory][op.address] = run.bm_words[op.element];
}

}  // namespace

DoublesResult run_on_doubles(const DoublesSection& section, const DoublesKernels& kernels,
                             BlockState& block, const BlockRun& run, SourceLanes sources) {
  DoublesFrame frame(frame_memory, section, kernels, block, run, sources);
  const bool has_checkpoint = frame.import() && frame.all_iterations(run);
  if (frame.leave(run.results_only ? Wanted::Results : Wanted::All)) return {0, run.iterations};
  const std::uint64_t failure = frame.failure();
  if (has_checkpoint) {
    // The iterations before the last ones are valid.
    frame.restore_checkpoint();
    if (frame.leave(Wanted::Carried)) return {failure, run.iterations - section.last_count(run)};
  }
  frame.restore_memory();
  return {failure, 0};
}

std::uint64_t run_before_loop(const DoublesSection& section, const DoublesKernels& kernels,
                              BlockState& block, const BlockRun& run,
                              const std::function<void(const std::byte* frame)>& take) {
  DoublesFrame frame(frame_memory, section, kernels, block, run, {});
  if (frame.import()) frame.before_loop();
  if (frame.failure() == 0) take(frame.run().frame);
  frame.restore_memory();
  return frame.failure();
}

std::uint64_t run_after_loop(const DoublesSection& section, const DoublesKernels& kernels,
                             BlockState& block, const BlockRun& run,
                             const std::function<void(std::byte* frame)>& put) {
  DoublesFrame frame(frame_memory, section, kernels, block, run, {});
  if (frame.import()) frame.before_loop();
  put(frame.run().frame);
  frame.once(section.after);
  kernels.leave();
  if (frame.leave(Wanted::Results)) return 0;
  frame.restore_memory();
  return frame.failure();
}

std::string diagnose(const Program& program, const DoublesSection& section,
                     const DoublesKernels& kernels, BlockState& block, const BlockRun& run,
                     SourceLanes sources) {
  DoublesFrame frame(frame_memory, section, kernels, block, run, sources);
  std::optional<OpOrigin> place;
  const auto fails_in = [&](const OpList& list) {
    for (std::size_t n = 0; n + 1 < list.ops.size(); ++n) {
      if (list.ops[n].kernel == pause) continue;
      const DoublesOp one[2] = {list.ops[n], plain_operation(stop)};
      one[0].kernel(one[0], frame.run());
      if (frame.failure() == 0) continue;
      place = list.origins[n];
      return true;
    }
    return false;
  };
  const auto fails_in_iteration = [&](const OpList& list) {
    if (fails_in(list)) return true;
    frame.next_group();
    return false;
  };
  bool found = !frame.import() || fails_in(section.before);
  std::uint64_t left = run.iterations;
  const std::uint64_t last = section.last_count(run);
  found = found || (left > last && fails_in(section.enter));
  for (; left > last && !found; --left) found = fails_in_iteration(section.iteration);
  for (; left > 0 && !found; --left) found = fails_in_iteration(section.last);
  if (!found && !fails_in(section.after)) {
    std::vector<std::uint64_t> words;
    frame.run().failure |= frame.export_to(words, Wanted::All);
  }
  frame.restore_memory();
  kernels.leave();
  const std::string where =
      place ? place_text(program, *place) : "a word that the section reads or writes";
  return where + ": " + failure_text(raised_flags() & kernels.failure_flags, frame.run().failure);
}

// --- kernels that need no vectors (op.hpp)

void read_lane(const DoublesOp& op, DoublesRun& run) {
  std::uint64_t bits;
  std::memcpy(&bits, run.frame + op.a.lanes + op.lane * sizeof bits, sizeof bits);
  run.bm_words[op.element] = bits >> 28;
  run_next(op, run);
}
void write_always(const DoublesOp& op, DoublesRun& run) {
  write_word(op, run);
  run_next(op, run);
}
void write_masked_word(const DoublesOp& op, DoublesRun& run) {
  std::uint64_t mask;
  std::memcpy(&mask, run.frame + op.mask.lanes + op.lane * sizeof mask, sizeof mask);
  if ((mask != 0) == op.value) write_word(op, run);
  run_next(op, run);
}
void store_longs(const DoublesOp& op, DoublesRun& run) {
  const std::byte* const lane = run.frame + op.lane * sizeof(std::uint64_t);
  std::uint64_t* to = run.memory[op.memory] + op.address;
  for (std::uint32_t k = 0; k < op.elements; ++k, to += 2) {
    std::uint64_t upper, lower;
    std::memcpy(&upper, lane + op.a.lanes + k * op.a.step, sizeof upper);
    std::memcpy(&lower, lane + op.a.tail + k * op.a.step, sizeof lower);
    to[0] = upper >> 28;
    to[1] = lower >> 28;
  }
  run_next(op, run);
}
bool touches_memory(DoublesKernel kernel) {
  return kernel == store_longs || kernel == read_lane || kernel == write_always ||
         kernel == write_masked_word;
}
void stop(const DoublesOp&, DoublesRun& run) { run.next = nullptr; }
void pause(const DoublesOp& op, DoublesRun& run) { run.next = &op + 1; }

DoublesOp plain_operation(DoublesKernel kernel) {
  DoublesOp op;
  op.kernel = kernel;
  return op;
}

}  // namespace gdr
