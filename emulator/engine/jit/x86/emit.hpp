// Instructions with registers as machine code.
#pragma once

#include <xbyak/xbyak.h>

#include <span>

#include "emulator/engine/jit/allocate.hpp"

namespace gdr::jit {

/// Where instructions go, and the registers that stand for the bases of places.
struct EmitContext {
  Xbyak::CodeGenerator& generator;
  VectorTarget target;
  std::span<const Xbyak::Reg64> bases;
  /// The sets of Op::Collect: mask registers, on AVX2 vectors, which values may not have.
  std::span<const int> collected;
};

void emit(const EmitContext& context, std::span<const Instruction> code);

/// Puts the bytes of a constant pool behind the code.
void embed(Xbyak::CodeGenerator& generator, Xbyak::Label& label,
           std::span<const std::uint8_t> bytes);

}  // namespace gdr::jit
