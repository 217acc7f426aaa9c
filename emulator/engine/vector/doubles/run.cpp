#include "emulator/engine/vector/doubles/run.hpp"

#include <algorithm>
#include <cstring>
#include <optional>
#include <vector>

#include "emulator/engine/lanes/doubles/verified.hpp"

namespace gdr {
namespace {

/// Frames are reused: one per thread, as large as the largest so far.
thread_local std::vector<double, LineAllocator<double>> frame_memory;
/// The section whose constants are in a thread's frame.
thread_local std::uint64_t frame_of = 0;

/// Rows saved by Frame::save_checkpoint.
thread_local LaneMemory checkpoint_memory;
/// Words of the broadcast memory, to roll back a failed run.
thread_local LaneMemory saved_memory;

LaneMemory& memory_of(BlockState& block, StateMemory memory) {
  switch (memory) {
    case StateMemory::Registers:
      return block.registers;
    case StateMemory::Local:
      return block.local;
    case StateMemory::T:
      return block.t;
    case StateMemory::Masks:
      break;
  }
  return block.masks;
}

/// Which of the exported words are stored to the block.
enum class Wanted { All, Results, Carried };

bool skips(const StateLink& link, Wanted wanted) {
  if (wanted == Wanted::Results) return link.scratch;
  return wanted == Wanted::Carried && !link.carried;
}

/// One section on one block. One at a time in a thread.
class Frame {
 public:
  Frame(const DoublesSection& section, const DoublesKernels& kernels, BlockState& block,
        const BlockRun& steps, SourceLanes sources)
      : section_(section),
        kernels_(kernels),
        block_(block),
        writes_memory_(section.writes_memory && steps.outputs == nullptr),
        source_step_(sources.step),
        output_step_(steps.output_step) {
    const std::size_t doubles = section.frame_bytes / sizeof(double);
    if (frame_memory.size() < doubles) {
      frame_memory.resize(doubles);
      frame_of = 0;
    }
    base_ = frame_memory.data();
    run_.frame = reinterpret_cast<std::byte*>(base_);
    run_.memory[0] = block.bm.data();
    run_.memory[1] = const_cast<std::uint64_t*>(sources.first);
    run_.memory[2] = steps.outputs != nullptr ? steps.outputs : block.bm.data() + steps.output_base;
    if (!writes_memory_) return;
    saved_memory.clear();
    if (section.bm_stores.empty()) saved_memory = block.bm;
    for (const std::uint32_t at : section.bm_stores) saved_memory.push_back(block.bm[at]);
  }

  DoublesRun& run() { return run_; }
  /// Bits of DoublesFailure so far.
  std::uint64_t failure() const {
    const bool flags = (raised_flags() & kernels_.failure_flags) != 0;
    return run_.failure | (flags ? std::uint64_t{inexact} : 0);
  }
  void clear_failure() {
    clear_flags();
    run_.failure = 0;
  }

  /// Constants and the state's words to their rows. False on failure.
  bool import() {
    clear_failure();
    const bool kept = frame_of == section_.number;
    for (const ConstantRow& c : section_.constants) {
      if (!kept || c.kind == ConstantRow::Kind::BlockNumber) fill_constant(c);
    }
    frame_of = section_.number;
    for (const StateLink& link : section_.imports) {
      if (link.memory == StateMemory::Masks) {
        copy_masks_in(link);
      } else {
        run_.failure |= kernels_.import[static_cast<unsigned>(link.form)](rows(link));
      }
    }
    return failure() == 0;
  }

  /// All operations of a list.
  void once(const OpList& list) {
    for (const DoublesOp* op = list.ops.data(); op != nullptr; op = run_.next)
      op->kernel(*op, run_);
  }
  void next_group() {
    run_.memory[1] += source_step_;
    run_.memory[2] += output_step_;
  }

  /// What precedes the first of passes that do not compute dead lanes.
  void before_passes() {
    once(section_.before);
    once(section_.enter);
    kernels_.leave();
  }

  /// All passes of a run. True if a checkpoint was saved before the last ones.
  bool all_passes(const BlockRun& run) {
    const auto pass = [this](const OpList& list) {
      once(list);
      next_group();
    };
    bool has_checkpoint = false;
    once(section_.before);
    std::uint64_t left = run.iterations;
    const std::uint64_t last = section_.last_count(run);
    if (left > last) {
      once(section_.enter);
      for (; left > last; --left) pass(section_.pass);
      has_checkpoint = section_.resumable && !section_.writes_memory && failure() == 0;
      if (has_checkpoint) save_checkpoint();
    }
    for (; left > 0; --left) pass(section_.last);
    once(section_.after);
    kernels_.leave();
    return has_checkpoint;
  }

  /// Exports the words. True if verification succeeded; then they are in the block.
  bool leave(Wanted wanted) {
    thread_local std::vector<std::uint64_t> words;
    if (run_.failure == 0) run_.failure = export_to(words, wanted);
    kernels_.leave();
    if (failure() != 0) return false;
    commit(words, wanted);
    return true;
  }

  /// Restores the rows that the last passes overwrite.
  void restore_checkpoint() {
    clear_failure();
    const std::uint64_t* from = checkpoint_memory.data();
    for (const std::uint32_t offset : section_.checkpoint) {
      std::memcpy(lanes(offset), from, section_.row_lanes * sizeof(double));
      from += section_.row_lanes;
    }
  }

  /// Restores the words that the section may have written in the broadcast memory.
  void restore_memory() const {
    if (!writes_memory_) return;
    std::uint64_t* const bm = block_.bm.data();  // in place: callers point into it
    if (section_.bm_stores.empty()) std::ranges::copy(saved_memory, bm);
    for (std::size_t k = 0; k < section_.bm_stores.size(); ++k)
      bm[section_.bm_stores[k]] = saved_memory[k];
  }

  /// Exports rows; returns bits of DoublesFailure. Words that the section has read are buffered in
  /// `words` until verification succeeds; others are stored directly.
  std::uint64_t export_to(std::vector<std::uint64_t>& words, Wanted wanted) {
    const std::size_t most = 2 * block_.pes * section_.deferred_longs;
    if (words.size() < most) words.resize(most);  // never shrunk: growing again would clear it
    std::uint64_t failure = 0;
    std::uint64_t* next = words.data();
    for (const StateLink& link : section_.exports) {
      if (link.memory == StateMemory::Masks || skips(link, wanted)) continue;
      StateRows r = rows(link);
      const StateKernel exported = kernels_.export_[static_cast<unsigned>(link.form)];
      if (link.form == Form::Short) {
        if (link.fresh)
          failure |= (link.float_result ? kernels_.export_result : exported)(r);
        else if (link.float_result)
          failure |= kernels_.check_result(r);
        continue;
      }
      if (!link.fresh) {
        r.hi = next;
        r.lo = next + block_.pes;
        r.state_step = 2 * block_.pes;
        next += link.count * r.state_step;
      }
      failure |= exported(r);
    }
    return failure;
  }

 private:
  double* lanes(std::uint32_t offset) const { return base_ + offset / sizeof(double); }

  void save_checkpoint() const {
    const std::size_t row = section_.row_lanes;
    if (checkpoint_memory.size() < row * section_.checkpoint.size())
      checkpoint_memory.resize(row * section_.checkpoint.size());
    std::uint64_t* to = checkpoint_memory.data();
    for (const std::uint32_t offset : section_.checkpoint) {
      std::memcpy(to, lanes(offset), row * sizeof(double));
      to += row;
    }
  }

  void commit(const std::vector<std::uint64_t>& words, Wanted wanted) {
    const std::uint64_t* next = words.data();
    for (const StateLink& link : section_.exports) {
      if (link.fresh || skips(link, wanted)) continue;
      if (link.memory == StateMemory::Masks) {
        for (std::uint32_t n = 0; n < link.count; ++n)
          std::memcpy(state_row(link, n), lanes(link.lanes + n * link.lane_step),
                      block_.pes * sizeof(std::uint64_t));
      } else if (link.form == Form::Short) {
        kernels_.export_[static_cast<unsigned>(Form::Short)](rows(link));
      } else {
        for (std::uint32_t n = 0; n < link.count; ++n, next += 2 * block_.pes)
          std::copy_n(next, 2 * block_.pes, state_row(link, n));
      }
    }
    kernels_.leave();
  }

  std::uint64_t* state_row(const StateLink& link, std::uint32_t word = 0) const {
    const std::size_t row = link.row + word * link.row_step;
    return memory_of(block_, link.memory).data() + row * block_.pes;
  }

  StateRows rows(const StateLink& link) const {
    std::uint64_t* state = state_row(link);
    return {state,
            state + block_.pes,
            lanes(link.lanes),
            lanes(link.tail),
            block_.pes,
            section_.row_lanes,
            link.plus_zero,
            link.count,
            std::size_t{link.row_step} * block_.pes,
            link.lane_step / sizeof(double)};
  }

  void copy_masks_in(const StateLink& link) const {
    for (std::uint32_t n = 0; n < link.count; ++n) {
      const std::uint64_t* from = state_row(link, n);
      auto* to = reinterpret_cast<std::uint64_t*>(lanes(link.lanes + n * link.lane_step));
      std::copy_n(from, block_.pes, to);
      std::fill(to + block_.pes, to + section_.row_lanes, from[0]);
    }
  }

  void fill_constant(const ConstantRow& c) const {
    auto* to = reinterpret_cast<std::uint64_t*>(lanes(c.lanes));
    if (c.kind == ConstantRow::Kind::PeNumber) {
      for (std::size_t pe = 0; pe < section_.row_lanes; ++pe)
        to[pe] = (pe < block_.pes ? pe : 0) << 28;
      return;
    }
    const std::uint64_t number = std::uint64_t{block_.number} << 28;
    std::fill_n(to, section_.row_lanes, c.kind == ConstantRow::Kind::Bits ? c.bits : number);
  }

  const DoublesSection& section_;
  const DoublesKernels& kernels_;
  BlockState& block_;
  const bool writes_memory_;  ///< whether it stores to the block's broadcast memory
  double* base_ = nullptr;
  DoublesRun run_;
  std::size_t source_step_ = 0, output_step_ = 0;
};

void run_next(const DoublesOp& op, DoublesRun& run) {
  const DoublesOp& next = *(&op + 1);
  next.kernel(next, run);
}
void write_word(const DoublesOp& op, DoublesRun& run) {
  run.memory[op.memory][op.address] = run.bm_words[op.element];
}

/// Texts for MXCSR's flags (in the order of their bits) and DoublesFailure.
std::string meaning(unsigned flags, std::uint64_t failure) {
  if ((flags & 0x08) != 0) return "a number is too large for doubles";
  if ((flags & 0x10) != 0) return "a number is too small for doubles";
  if ((flags & 0x01) != 0) return "an operand is infinite or NaN";
  if ((flags & 0x20) != 0 || (failure & inexact) != 0)
    return "a result is inexact in doubles, infinite or NaN";
  return "a long has more bits than a double, or is -0";
}

/// Section, instruction and source line of an operation.
std::string describe(const Program& program, const OpOrigin& place) {
  const auto section = static_cast<unsigned>(place.section);
  std::string where = std::string(section_names[section]) + ", ";
  const auto& lines = program.lines[section];
  if (place.instruction >= program.sections[section].size()) return where + "at its end";
  where += "instruction " + std::to_string(place.instruction);
  if (place.instruction < lines.size() && lines[place.instruction].line != 0) {
    const SourceLine line = lines[place.instruction];
    where += ", ";
    if (line.file < program.files.size()) where += program.files[line.file] + ":";
    where += std::to_string(line.line);
  }
  return where;
}

}  // namespace

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

std::string diagnose(const Program& program, const DoublesSection& section,
                     const DoublesKernels& kernels, BlockState& block, const BlockRun& run,
                     SourceLanes sources) {
  Frame frame(section, kernels, block, run, sources);
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
  const auto fails_in_pass = [&](const OpList& list) {
    if (fails_in(list)) return true;
    frame.next_group();
    return false;
  };
  bool found = !frame.import() || fails_in(section.before);
  std::uint64_t left = run.iterations;
  const std::uint64_t last = section.last_count(run);
  found = found || (left > last && fails_in(section.enter));
  for (; left > last && !found; --left) found = fails_in_pass(section.pass);
  for (; left > 0 && !found; --left) found = fails_in_pass(section.last);
  if (!found && !fails_in(section.after)) {
    std::vector<std::uint64_t> words;
    frame.run().failure |= frame.export_to(words, Wanted::All);
  }
  frame.restore_memory();
  kernels.leave();
  const std::string where =
      place ? describe(program, *place) : "a word that the section reads or writes";
  return where + ": " + meaning(raised_flags() & kernels.failure_flags, frame.run().failure);
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
