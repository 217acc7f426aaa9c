// A section in host numbers on one block: rows of doubles, and words of the block to and from them.
// Inline, for run.cpp: small runs are frequent.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <vector>

#include "emulator/engine/lanes/doubles/verified.hpp"
#include "emulator/engine/vector/doubles/run.hpp"

namespace gdr {

/// Memory of the frames of a thread, which is kept from run to run.
struct FrameMemory {
  std::vector<double, LineAllocator<double>> rows;  ///< room for the largest frame so far
  std::uint64_t section = 0;         ///< number of the section whose constants are in `rows`
  LaneMemory checkpoint;             ///< rows saved by DoublesFrame::save_checkpoint
  LaneMemory saved;                  ///< words of the broadcast memory, to roll back a failed run
  std::vector<std::uint64_t> words;  ///< exported words until verification succeeds
};

/// A memory of a block.
inline LaneMemory& state_memory(BlockState& block, StateMemory memory) {
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

/// One section on one block. One at a time in a thread.
class DoublesFrame {
 public:
  /// Which of the exported words are stored to the block.
  enum class Wanted { All, Results, Carried };

  /// The arguments outlive the frame.
  DoublesFrame(FrameMemory& memory, const DoublesSection& section, const DoublesKernels& kernels,
               BlockState& block, const BlockRun& steps, SourceLanes sources)
      : memory_(memory),
        section_(section),
        kernels_(kernels),
        block_(block),
        writes_memory_(section.writes_memory && steps.outputs == nullptr),
        source_step_(sources.step),
        output_step_(steps.output_step) {
    const std::size_t doubles = section.frame_bytes / sizeof(double);
    if (memory.rows.size() < doubles) {
      memory.rows.resize(doubles);
      memory.section = 0;
    }
    base_ = memory.rows.data();
    run_.frame = reinterpret_cast<std::byte*>(base_);
    run_.memory[0] = block.bm.data();
    run_.memory[1] = const_cast<std::uint64_t*>(sources.first);
    run_.memory[2] = steps.outputs != nullptr ? steps.outputs : block.bm.data() + steps.output_base;
    if (!writes_memory_) return;
    memory_.saved.clear();
    if (section.bm_stores.empty()) memory_.saved = block.bm;
    for (const std::uint32_t at : section.bm_stores) memory_.saved.push_back(block.bm[at]);
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
    const bool kept = memory_.section == section_.number;
    for (const ConstantRow& c : section_.constants) {
      if (!kept || c.kind == ConstantRow::Kind::BlockNumber) fill_constant(c);
    }
    memory_.section = section_.number;
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

  /// What precedes the first of iterations that do not compute dead lanes.
  void before_loop() {
    once(section_.before);
    once(section_.enter);
    kernels_.leave();
  }

  /// All iterations of a run. True if a checkpoint was saved before the last ones.
  bool all_iterations(const BlockRun& run) {
    const auto iteration = [this](const OpList& list) {
      once(list);
      next_group();
    };
    bool has_checkpoint = false;
    once(section_.before);
    std::uint64_t left = run.iterations;
    const std::uint64_t last = section_.last_count(run);
    if (left > last) {
      once(section_.enter);
      for (; left > last; --left) iteration(section_.iteration);
      has_checkpoint = section_.resumable && !section_.writes_memory && failure() == 0;
      if (has_checkpoint) save_checkpoint();
    }
    for (; left > 0; --left) iteration(section_.last);
    once(section_.after);
    kernels_.leave();
    return has_checkpoint;
  }

  /// Exports the words. True if verification succeeded; then they are in the block.
  bool leave(Wanted wanted) {
    std::vector<std::uint64_t>& words = memory_.words;
    if (run_.failure == 0) run_.failure = export_to(words, wanted);
    kernels_.leave();
    if (failure() != 0) return false;
    commit(words, wanted);
    return true;
  }

  /// Restores the rows that the last iterations overwrite.
  void restore_checkpoint() {
    clear_failure();
    const std::uint64_t* from = memory_.checkpoint.data();
    for (const std::uint32_t offset : section_.checkpoint) {
      std::memcpy(lanes(offset), from, section_.row_lanes * sizeof(double));
      from += section_.row_lanes;
    }
  }

  /// Restores the words that the section may have written in the broadcast memory.
  void restore_memory() const {
    if (!writes_memory_) return;
    std::uint64_t* const bm = block_.bm.data();  // in place: callers point into it
    if (section_.bm_stores.empty()) std::ranges::copy(memory_.saved, bm);
    for (std::size_t k = 0; k < section_.bm_stores.size(); ++k)
      bm[section_.bm_stores[k]] = memory_.saved[k];
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
  static bool skips(const StateLink& link, Wanted wanted) {
    if (wanted == Wanted::Results) return link.scratch;
    return wanted == Wanted::Carried && !link.carried;
  }

  double* lanes(std::uint32_t offset) const { return base_ + offset / sizeof(double); }

  void save_checkpoint() const {
    const std::size_t row = section_.row_lanes;
    if (memory_.checkpoint.size() < row * section_.checkpoint.size())
      memory_.checkpoint.resize(row * section_.checkpoint.size());
    std::uint64_t* to = memory_.checkpoint.data();
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
    return state_memory(block_, link.memory).data() + row * block_.pes;
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

  FrameMemory& memory_;
  const DoublesSection& section_;
  const DoublesKernels& kernels_;
  BlockState& block_;
  const bool writes_memory_;  ///< whether it stores to the block's broadcast memory
  double* base_ = nullptr;
  DoublesRun run_;
  std::size_t source_step_ = 0, output_step_ = 0;
};

}  // namespace gdr
