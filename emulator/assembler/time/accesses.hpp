// Accesses of an instruction by element, in reusable buffers.
#pragma once

#include <array>
#include <span>
#include <vector>

#include "emulator/isa/ports.hpp"

namespace gdr::assembly {

struct InstructionAccesses {
  std::array<std::vector<Access>, max_elements> lists;
  unsigned vlen = 0;
  unsigned stride = 1;

  void collect(const Instruction& instruction, const Geometry& geometry) {
    vlen = instruction.vlen;
    stride = instruction.stride();
    for (unsigned k = 0; k < vlen; ++k) accesses_of_element(instruction, k, geometry, lists[k]);
  }
  unsigned clocks() const noexcept { return vlen * stride; }
  /// Clock of an access relative to the issue of element 0: a result of a dmul belongs to the
  /// second of its element's clocks, all other accesses to the first.
  unsigned clock_of(unsigned element, const Access& access) const noexcept {
    return element * stride + (access.write && access.slot == 0 ? stride - 1 : 0);
  }
};

}  // namespace gdr::assembly
