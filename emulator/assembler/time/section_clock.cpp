#include "emulator/assembler/time/section_clock.hpp"

namespace gdr::assembly {

void SectionClock::add(const InstructionAccesses& accesses, Section section,
                       const Geometry& geometry, bool track_writers) {
  if (!timeline_) timeline_ = std::make_unique<Timeline>(geometry, track_writers);
  const Wait wait = timeline_->wait_of(accesses);
  if (wait.clocks != 0) {
    pads_.push_back({count_, wait});
    timeline_->advance(wait.clocks);
  }
  timeline_->issue(accesses, {static_cast<std::uint8_t>(section), count_});
  ++count_;
}

}  // namespace gdr::assembly
