// Instructions with registers as machine code for AArch64 with NEON.
#pragma once

#include <cstdint>
#include <span>

#include "emulator/engine/jit/allocate.hpp"
#include "emulator/engine/jit/arm64/append.hpp"
#include "emulator/engine/jit/arm64/assembler.hpp"

namespace gdr::jit::arm64 {

/// The destination of instructions, and the registers that hold the base pointers of places.
struct EmitContext {
  Assembler& assembler;
  VectorTarget target;
  std::span<const std::uint8_t> bases;
  /// Vector registers of the sets of Op::Collect; not used for values.
  std::span<const int> collected = {};
  AppendCode* appends = nullptr;  ///< code of Op::Append
  Label* leave = nullptr;         ///< destination of Op::Leave
};

/// Operations that are several instructions use vector register 31. Throws std::logic_error for an
/// operation that is for hosts with mask registers only.
void emit(const EmitContext& context, std::span<const Instruction> code);

}  // namespace gdr::jit::arm64
