// Issue times of a section during parsing, with the required stalls.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <vector>

#include "emulator/assembler/time/timeline.hpp"
#include "emulator/isa/program.hpp"

namespace gdr::assembly {

/// Idle clocks before an instruction (by index without idle clocks; the number of instructions
/// denotes the end of the section), and their reason.
struct Pad {
  std::uint32_t index = 0;
  Stall stall;
};

/// Stalls of a section for its own writes, determined during parsing.
class SectionClock {
 public:
  void add(const InstructionAccesses& accesses, Section section, const Geometry& geometry,
           bool track_writers);
  /// An invalid instruction: later ones do not depend on earlier ones.
  void gap() {
    if (timeline_) timeline_->advance(2 * result_latency);
  }
  const std::vector<Pad>& pads() const noexcept { return pads_; }

 private:
  std::unique_ptr<Timeline> timeline_;
  std::vector<Pad> pads_;
  std::uint32_t count_ = 0;
};

}  // namespace gdr::assembly
