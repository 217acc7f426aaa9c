#include "emulator/engine/vector/doubles/state_transfer.hpp"

#include <algorithm>
#include <cstring>

namespace gdr {
namespace {

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

bool skips(const StateLink& link, Wanted wanted) {
  if (wanted == Wanted::Results) return link.scratch;
  return wanted == Wanted::Carried && !link.carried;
}

}  // namespace

void StateTransfer::fill_constants(bool known) const {
  for (const ConstantRow& c : section_.constants)
    if (!known || c.kind == ConstantRow::Kind::BlockNumber) fill_constant(c);
}

std::uint64_t StateTransfer::import() const {
  std::uint64_t failure = 0;
  for (const StateLink& link : section_.imports) {
    if (link.memory == StateMemory::Masks)
      copy_masks_in(link);
    else
      failure |= kernels_.import[static_cast<unsigned>(link.form)](rows(link));
  }
  return failure;
}

std::uint64_t StateTransfer::export_to(std::vector<std::uint64_t>& words, Wanted wanted) const {
  const std::size_t needed = 2 * block_.pes * section_.deferred_longs;
  if (words.size() < needed) words.resize(needed);  // never shrunk: growing again would clear it
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

void StateTransfer::commit(const std::vector<std::uint64_t>& words, Wanted wanted) const {
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

std::uint64_t* StateTransfer::state_row(const StateLink& link, std::uint32_t word) const {
  const std::size_t row = link.row + word * link.row_step;
  return memory_of(block_, link.memory).data() + row * block_.pes;
}

StateRows StateTransfer::rows(const StateLink& link) const {
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

void StateTransfer::copy_masks_in(const StateLink& link) const {
  for (std::uint32_t n = 0; n < link.count; ++n) {
    const std::uint64_t* from = state_row(link, n);
    auto* to = reinterpret_cast<std::uint64_t*>(lanes(link.lanes + n * link.lane_step));
    std::copy_n(from, block_.pes, to);
    std::fill(to + block_.pes, to + section_.row_lanes, from[0]);
  }
}

void StateTransfer::fill_constant(const ConstantRow& c) const {
  auto* to = reinterpret_cast<std::uint64_t*>(lanes(c.lanes));
  if (c.kind == ConstantRow::Kind::PeNumber) {
    for (std::size_t pe = 0; pe < section_.row_lanes; ++pe)
      to[pe] = (pe < block_.pes ? pe : 0) << 28;
    return;
  }
  const std::uint64_t number = std::uint64_t{block_.number} << 28;
  std::fill_n(to, section_.row_lanes, c.kind == ConstantRow::Kind::Bits ? c.bits : number);
}

}  // namespace gdr
