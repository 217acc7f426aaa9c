// What code generation knows about the vector unit of a host.
#pragma once

#include <cstdint>

#include "emulator/host/isa.hpp"

namespace gdr::jit {

/// The operands that instructions may have in memory.
enum class MemoryOperands : std::uint8_t {
  None,        ///< loads and stores only
  Vectors,     ///< one operand of most instructions, but not of shifts by a constant
  Broadcasts,  ///< one operand of all, also one lane of memory for all lanes
};

/// The comparisons that have their complement as an instruction.
enum class Complements : std::uint8_t { None, OfNumbers, All };

/// A host's vector unit, as a description that the steps read, and the type of the lanes.
struct VectorTarget {
  std::uint32_t vector_bytes = 64;
  unsigned registers = 32;  ///< vector registers that values may have
  /// Masks have registers of their own, and operations can run under them (AVX-512). Otherwise a
  /// mask is a vector whose lanes are all ones or zero.
  bool mask_registers = true;
  MemoryOperands memory = MemoryOperands::Broadcasts;
  Complements complements = Complements::All;
  /// A fused multiply-add can replace any of its operands. Otherwise it replaces the addend.
  bool fma_replaces_any = true;
  /// Gathers are an instruction, which needs a register for its mask.
  bool gathers = true;
  /// Estimates have 8 bits, and the host has the factor of a Newton step as an instruction.
  bool newton_steps = false;
  bool floats = false;  ///< lanes of 32 bits; otherwise of 64
  /// Select takes any bits as a mask.
  bool selects_bits = false;
  /// A factor may be lane 0 of a register, which needs no vector unit to be loaded.
  bool multiplies_by_lane = false;
  /// Two comparisons of the same numbers, for less and for equal, become one (measured on NEON
  /// only).
  bool joins_comparisons = false;

  constexpr std::uint32_t lane_bytes() const noexcept { return floats ? 4 : 8; }
  constexpr std::uint32_t lanes() const noexcept { return vector_bytes / lane_bytes(); }
  /// Whether loops can keep most of their values in registers.
  constexpr bool has_many_registers() const noexcept { return registers > 16; }
};

/// The vector unit of an instruction set other than Portable. NEON's last register is for the steps
/// of operations that are several instructions there.
constexpr VectorTarget vector_target(Isa isa, bool floats) noexcept {
  VectorTarget t;
  t.floats = floats;
  if (isa == Isa::Avx2) {
    t.vector_bytes = 32;
    t.registers = 16;
    t.mask_registers = false;
    t.memory = MemoryOperands::Vectors;
    t.complements = Complements::OfNumbers;
  } else if (isa == Isa::Neon) {
    t.vector_bytes = 16;
    t.registers = 31;
    t.mask_registers = false;
    t.memory = MemoryOperands::None;
    t.complements = Complements::None;
    t.fma_replaces_any = false;
    t.gathers = false;
    t.newton_steps = true;
    t.selects_bits = true;
    t.multiplies_by_lane = true;
    t.joins_comparisons = true;
  }
  return t;
}

}  // namespace gdr::jit
