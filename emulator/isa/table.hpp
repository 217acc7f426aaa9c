// The instruction table. Mnemonics, encoding, decoding, operands, flags, clocks and the reference
// pages in docs/ are all derived from these rows; an operation is added by adding one (and, for
// arithmetic, the function that computes it).
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string_view>

#include "emulator/isa/instruction.hpp"
#include "emulator/numeric/float.hpp"
#include "emulator/numeric/integer.hpp"

namespace gdr {

enum class Unit : std::uint8_t { Multiplier, Adder, Integer, Transfer };

/// Floating-point operations compute on widened operands; integer ones on words of the result's
/// width. One of the two is set for an arithmetic row.
using FloatFunction = FloatWord (*)(Long a, Long b, Width out, Flags& flags) noexcept;
using IntFunction = IntResult (*)(IntWord a, IntWord b, Width width) noexcept;

struct OpInfo {
  Op op;
  std::string_view mnemonic;
  Unit unit;
  std::uint8_t operands;         ///< sources: 1 or 2
  std::uint8_t element_clocks;   ///< clocks an element takes: 2 for dmul, else 1
  bool signed_operands = false;  ///< integer: a short operand widens with its sign
  bool unsigned_count = false;   ///< integer: the second operand is a count, never sign-extended
  bool has_carry = false;        ///< integer: sets the carry flag
  FloatFunction compute_float = nullptr;
  IntFunction compute_int = nullptr;
  std::string_view summary;  ///< one line for the reference page
  std::string_view meaning;  ///< a few lines of pseudo-code
  std::string_view notes;    ///< numerical notes
  std::string_view example;  ///< a line that assembles
};

/// All rows, indexed by opcode (row 0 is Op::None).
std::span<const OpInfo> instruction_table() noexcept;
const OpInfo& info(Op op) noexcept;

}  // namespace gdr
