// The clock of each section while it is read: where instructions have to wait for results.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <vector>

#include "emulator/assembler/time/timeline.hpp"
#include "emulator/isa/program.hpp"

namespace gdr::assembly {

/// Idle clocks in front of an instruction (by its index without padding; the number of instructions
/// stands for the end of the section), and what they wait for.
struct Pad {
  std::uint32_t index = 0;
  Wait wait;
};

/// The waits that a section needs for what it has itself written, found as it is read.
class SectionClock {
 public:
  void add(const InstructionAccesses& accesses, Section section, const Geometry& geometry,
           bool track_writers);
  /// An instruction that could not be read: nothing behind it depends on what stands before.
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
