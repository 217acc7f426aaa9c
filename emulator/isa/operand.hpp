// Operands of instructions.
#pragma once

#include <cstdint>

#include "emulator/numeric/words.hpp"

namespace gdr {

/// Memory or register of an operand. Values are part of the encoding.
enum class Space : std::uint8_t {
  None = 0,         ///< no operand
  Register = 1,     ///< the PE's register file
  Local = 2,        ///< the PE's local memory
  LocalByT = 3,     ///< local memory at the address that T's integer value names
  T = 4,            ///< the T register of the element
  Immediate = 5,    ///< the slot's immediate
  PeNumber = 6,     ///< fixed input: number of the PE in its block
  BlockNumber = 7,  ///< fixed input: number of the block
  Bm = 8,           ///< broadcast memory, fixed address
  BmSource = 9,     ///< broadcast memory, relative to the current group of j-items
  BmOutput = 10,    ///< broadcast memory, relative to the current group of output items
};

constexpr bool in_broadcast_memory(Space space) noexcept { return space >= Space::Bm; }
constexpr bool in_pe_memory(Space space) noexcept {
  return space == Space::Register || space == Space::Local;
}
/// Whether operands of this space have an address, and may be vectors.
constexpr bool has_address(Space space) noexcept {
  return in_pe_memory(space) || in_broadcast_memory(space);
}

/// One operand. `address` counts shorts (that of a long is even) and is 0 (upper half or
/// whole) or 1 (lower half) in T. A vector operand advances by its width from element to element;
/// T and T-indirect operands always go by element.
struct Operand {
  Space space = Space::None;
  Width width = Width::Long;
  bool vector = false;
  std::uint16_t address = 0;
  /// LocalByT: the declared range of addresses, in units of the width, inclusive; last = 0 means
  /// that none was declared and any address may be touched. (A range 0..0 is a plain scalar.)
  std::uint16_t range_first = 0;
  std::uint16_t range_last = 0;

  friend constexpr bool operator==(const Operand&, const Operand&) = default;

  constexpr bool used() const noexcept { return space != Space::None; }
  /// Address of an element, in shorts.
  constexpr unsigned at(unsigned element) const noexcept {
    return address + (vector ? element * shorts_in(width) : 0);
  }
};

}  // namespace gdr
