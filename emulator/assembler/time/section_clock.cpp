#include "emulator/assembler/time/section_clock.hpp"

namespace gdr::assembly {

void SectionClock::add(const InstructionAccesses& accesses, Section section,
                       const Geometry& geometry, bool track_writers) {
  if (!timeline_) timeline_ = std::make_unique<Timeline>(geometry, track_writers);
  const Stall stall = timeline_->stall_of(accesses);
  if (stall.clocks != 0) {
    pads_.push_back({count_, stall});
    timeline_->advance(stall.clocks);
  }
  timeline_->issue(accesses, {static_cast<std::uint8_t>(section), count_});
  ++count_;
}

}  // namespace gdr::assembly
