#include "emulator/engine/vector/doubles/frame.hpp"

#include <algorithm>
#include <cstring>

#if defined(__x86_64__)
#include <immintrin.h>
#endif

namespace gdr {
namespace {

/// Frames are reused: one per thread, as large as the largest so far.
thread_local std::vector<double, LineAllocator<double>> frame_memory;
/// The section whose constants are in a thread's frame.
thread_local std::uint64_t frame_of = 0;

/// Data of Frame::save_checkpoint.
thread_local LaneMemory checkpoint_memory;

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

}  // namespace

#if defined(__x86_64__)
constexpr unsigned all_flags = 0x3f;
unsigned raised_flags() noexcept { return _mm_getcsr() & all_flags; }
void clear_flags() noexcept { _mm_setcsr(_mm_getcsr() & ~all_flags); }
#else
unsigned raised_flags() noexcept { return 0; }
void clear_flags() noexcept {}
#endif

Frame::Frame(const DoublesSection& section, const DoublesKernels& kernels, BlockState& block,
             const BlockRun& steps, SourceLanes sources)
    : section_(section),
      kernels_(kernels),
      block_(block),
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
}

bool Frame::failed() const {
  return run_.failure != 0 || (raised_flags() & kernels_.failure_flags) != 0;
}

std::uint64_t Frame::import() {
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

void Frame::once(const OpList& list) {
  for (const DoublesOp* op = list.ops.data(); op != nullptr; op = run_.next) op->kernel(*op, run_);
}

void Frame::save_checkpoint() {
  const std::size_t row = section_.row_lanes;
  if (checkpoint_memory.size() < row * section_.checkpoint.size())
    checkpoint_memory.resize(row * section_.checkpoint.size());
  std::uint64_t* to = checkpoint_memory.data();
  for (const std::uint32_t offset : section_.checkpoint) {
    std::memcpy(to, lanes(offset), row * sizeof(double));
    to += row;
  }
}
void Frame::restore_checkpoint() {
  const std::size_t row = section_.row_lanes;
  const std::uint64_t* from = checkpoint_memory.data();
  for (const std::uint32_t offset : section_.checkpoint) {
    std::memcpy(lanes(offset), from, row * sizeof(double));
    from += row;
  }
}

bool Frame::skips(const StateLink& link, Wanted wanted) {
  if (wanted == Wanted::Results) return link.scratch;
  return wanted == Wanted::Carried && !link.carried;
}

std::uint64_t Frame::export_to(std::vector<std::uint64_t>& words, Wanted wanted) {
  const std::size_t most = 2 * block_.pes * section_.deferred_longs;
  if (words.size() < most) words.resize(most);  // never shrunk: growing again would clear it
  std::uint64_t failure = 0;
  std::uint64_t* next = words.data();
  for (const StateLink& link : section_.exports) {
    if (link.memory == StateMemory::Masks || skips(link, wanted)) continue;
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

void Frame::commit(const std::vector<std::uint64_t>& words, Wanted wanted) {
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

std::uint64_t* Frame::state_row(const StateLink& link, std::uint32_t word) const {
  const std::size_t row = link.row + word * link.row_step;
  return memory_of(block_, link.memory).data() + row * block_.pes;
}

StateRows Frame::rows(const StateLink& link) const {
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

void Frame::copy_masks_in(const StateLink& link) const {
  for (std::uint32_t n = 0; n < link.count; ++n) {
    const std::uint64_t* from = state_row(link, n);
    auto* to = reinterpret_cast<std::uint64_t*>(lanes(link.lanes + n * link.lane_step));
    std::copy_n(from, block_.pes, to);
    std::fill(to + block_.pes, to + section_.row_lanes, from[0]);
  }
}

void Frame::fill_constant(const ConstantRow& c) const {
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

}  // namespace gdr
