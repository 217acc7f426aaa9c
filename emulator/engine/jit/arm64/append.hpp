// Appends to lists: a test in the code, and the rare rest behind it.
#pragma once

#include <cstdint>
#include <deque>
#include <span>

#include "emulator/engine/jit/allocate.hpp"
#include "emulator/engine/jit/arm64/assembler.hpp"

namespace gdr::jit::arm64 {

/// Branches to a label if a mask, in this vector register, is set in any lane. Changes vector
/// register 31 and x17.
void branch_if_any_lane(Assembler& assembler, VectorTarget target, unsigned mask, Label& label);

/// The appends of a function. Where no lane appends, one is a test and a branch that is not taken.
/// The rest uses registers x9 to x13, which a function need not preserve.
class AppendCode {
 public:
  AppendCode(Assembler& assembler, VectorTarget target, std::span<const std::uint8_t> bases)
      : a_(assembler), target_(target), bases_(bases) {}

  /// Emits an append: a is the mask, b the entries, `to` the place of the ListRows.
  void test(const Instruction& append);
  /// Emits what the tests branch to, behind the function.
  void emit_paths();

 private:
  struct Path {
    Instruction append;
    Label begin, back;
  };
  void lane(const Instruction& append, unsigned lane);
  void load_entry(const Instruction& append, unsigned lane, unsigned to);

  Assembler& a_;
  VectorTarget target_;
  std::span<const std::uint8_t> bases_;
  std::deque<Path> paths_;
};

}  // namespace gdr::jit::arm64
