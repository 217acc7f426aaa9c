// Instructions with registers as machine code.
#pragma once

#include <xbyak/xbyak.h>

#include <span>

#include "emulator/engine/jit/allocate.hpp"
#include "emulator/engine/jit/x86/append.hpp"

namespace gdr::jit {

/// The destination of instructions, and the registers that hold the base pointers of places.
struct EmitContext {
  Xbyak::CodeGenerator& generator;
  VectorTarget target;
  std::span<const Xbyak::Reg64> bases;
  /// Registers of the sets of Op::Collect: masks, on AVX2 vectors; not used for values.
  std::span<const int> collected = {};
  AppendCode* appends = nullptr;  ///< code of Op::Append
  /// Register for the mask of Op::Gather, a mask register, on AVX2 a vector; not used for values.
  int gather_mask = -1;
  Xbyak::Label* leave = nullptr;  ///< destination of Op::Leave
};

void emit(const EmitContext& context, std::span<const Instruction> code);

/// Puts the bytes of a constant pool behind the code.
void embed(Xbyak::CodeGenerator& generator, Xbyak::Label& label,
           std::span<const std::uint8_t> bytes);

}  // namespace gdr::jit
