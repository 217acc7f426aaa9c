#include "emulator/engine/vector/doubles/run.hpp"

#include <algorithm>
#include <cstring>

#if defined(__x86_64__)
#include <immintrin.h>
#endif

namespace gdr {
namespace {

/// Frames are kept from run to run: one for each thread, as large as the largest so far.
thread_local std::vector<double, LineAllocator<double>> frame_memory;
/// The section that a thread's frame was last filled for: its constants stand there still.
thread_local std::uint64_t frame_of = 0;

#if defined(__x86_64__)
constexpr unsigned all_flags = 0x3f;
unsigned raised_flags() { return _mm_getcsr() & all_flags; }
void clear_flags() { _mm_setcsr(_mm_getcsr() & ~all_flags); }
#else
unsigned raised_flags() { return 0; }
void clear_flags() {}
#endif

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

/// One section on one block, while it runs.
class Frame {
 public:
  Frame(const DoublesSection& section, const DoublesKernels& kernels, BlockState& block)
      : section_(section), kernels_(kernels), block_(block) {
    const std::size_t doubles = section.frame_bytes / sizeof(double);
    if (frame_memory.size() < doubles) {
      frame_memory.resize(doubles);
      frame_of = 0;
    }
    base_ = frame_memory.data();
  }

  std::uint64_t import() {
    const bool kept = frame_of == section_.number;
    for (const ConstantRow& c : section_.constants) {
      if (!kept || c.kind == ConstantRow::Kind::BlockNumber) fill_constant(c);
    }
    frame_of = section_.number;
    std::uint64_t failure = 0;
    for (const StateLink& link : section_.imports) {
      if (link.memory == StateMemory::Masks) {
        copy_masks_in(link);
      } else {
        failure |= kernels_.import[static_cast<unsigned>(link.form)](rows(link));
      }
    }
    return failure;
  }

  void pass(std::uint64_t passes, DoublesRun& run, const BlockRun& steps, SourceLanes sources) {
    run.frame = reinterpret_cast<std::byte*>(base_);
    run.memory[0] = block_.bm.data();
    run.memory[1] = const_cast<std::uint64_t*>(sources.first);
    run.memory[2] = steps.outputs != nullptr ? steps.outputs : block_.bm.data() + steps.output_base;
    const auto once = [&run](const std::vector<DoublesOp>& ops) {
      for (const DoublesOp* op = ops.data(); op != nullptr; op = run.next) op->kernel(*op, run);
    };
    once(section_.before);
    for (std::uint64_t n = 0; n < passes; ++n) {
      once(section_.ops);
      run.memory[1] += sources.step;
      run.memory[2] += steps.output_step;
    }
    once(section_.after);
    kernels_.leave();
  }

  /// Whether all results have words. Those that the section had looked at wait in `words`, ready to
  /// be stored: without a proof they must be as they were. The others go to their places.
  std::uint64_t export_to(std::vector<std::uint64_t>& words, bool results_only) {
    const std::size_t most = 2 * block_.pes * section_.waiting_longs;
    if (words.size() < most) words.resize(most);  // never shrunk: growing again would clear it
    std::uint64_t failure = 0;
    std::uint64_t* next = words.data();
    for (const StateLink& link : section_.exports) {
      if (link.memory == StateMemory::Masks || (results_only && link.scratch)) continue;
      StateRows r = rows(link);
      if (link.form == Form::Short) {
        const StateKernel as_it_is = kernels_.export_[static_cast<unsigned>(Form::Short)];
        if (link.fresh)
          failure |= (link.float_result ? kernels_.export_result : as_it_is)(r);
        else if (link.float_result)
          failure |= kernels_.check_result(r);
        continue;
      }
      if (link.fresh) {
        failure |= kernels_.export_[static_cast<unsigned>(link.form)](r);
        continue;
      }
      r.hi = next;
      r.lo = next + block_.pes;
      r.state_step = 2 * block_.pes;
      failure |= kernels_.export_[static_cast<unsigned>(link.form)](r);
      next += link.count * r.state_step;
    }
    return failure;
  }

  void commit(const std::vector<std::uint64_t>& words) {
    const std::uint64_t* next = words.data();
    for (const StateLink& link : section_.exports) {
      if (link.fresh) continue;
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

 private:
  double* lanes(std::uint32_t offset) const { return base_ + offset / sizeof(double); }

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
      for (std::size_t pe = 0; pe < section_.row_lanes; ++pe) {
        to[pe] = (pe < block_.pes ? pe : 0) << 28;
      }
      return;
    }
    const std::uint64_t number = std::uint64_t{block_.number} << 28;
    std::fill_n(to, section_.row_lanes, c.kind == ConstantRow::Kind::Bits ? c.bits : number);
  }

  const DoublesSection& section_;
  const DoublesKernels& kernels_;
  BlockState& block_;
  double* base_ = nullptr;
};

/// What a section may write in the broadcast memory, as it was before. One at a time in a thread.
class SavedMemory {
 public:
  SavedMemory(const DoublesSection& section, BlockState& block, bool elsewhere)
      : section_(section), block_(block), written_(section.writes_memory && !elsewhere) {
    if (!written_) return;
    words_.clear();
    if (section.puts.empty()) words_ = block.bm;
    for (const std::uint32_t at : section.puts) words_.push_back(block.bm[at]);
  }
  void put_back() const {
    if (!written_) return;
    std::uint64_t* const bm = block_.bm.data();  // in place: callers point into it
    if (section_.puts.empty()) std::copy(words_.begin(), words_.end(), bm);
    for (std::size_t k = 0; k < section_.puts.size(); ++k) bm[section_.puts[k]] = words_[k];
  }

 private:
  const DoublesSection& section_;
  BlockState& block_;
  bool written_;
  static thread_local LaneMemory words_;
};
thread_local LaneMemory SavedMemory::words_;

}  // namespace

std::uint64_t run_on_doubles(const DoublesSection& section, const DoublesKernels& kernels,
                             BlockState& block, const BlockRun& run, SourceLanes sources) {
  thread_local std::vector<std::uint64_t> words;
  Frame frame(section, kernels, block);
  const SavedMemory saved(section, block, run.outputs != nullptr);
  clear_flags();
  DoublesRun state;
  state.failure = frame.import();
  if (state.failure == 0) frame.pass(run.iterations, state, run, sources);
  if (state.failure == 0) state.failure = frame.export_to(words, run.results_only);
  kernels.leave();
  if ((raised_flags() & kernels.proving_flags) != 0) state.failure |= inexact;
  if (state.failure == 0) {
    frame.commit(words);
  } else {
    saved.put_back();
  }
  return state.failure;
}

}  // namespace gdr
