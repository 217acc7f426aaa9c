// Appends to lists: a test in the code, and the rare rest behind it.
#pragma once

#include <xbyak/xbyak.h>

#include <array>
#include <deque>
#include <span>

#include "emulator/engine/jit/allocate.hpp"

namespace gdr::jit {

/// Sets the zero flag unless a mask, in this register, is set in any lane.
void test_any_lane(Xbyak::CodeGenerator& generator, VectorTarget target, int mask);

/// The appends of a function. Where no lane appends, one is a test and a branch that is not taken.
/// The function saves and restores `scratch`, uses them for nothing else, and has nothing below its
/// stack pointer (the red zone).
class AppendCode {
 public:
  AppendCode(Xbyak::CodeGenerator& generator, VectorTarget target,
             std::span<const Xbyak::Reg64> bases)
      : a_(generator), target_(target), bases_(bases) {}

  /// Emits an append: a is the mask, b the entries, `to` the place of the ListRows.
  void test(const Instruction& append);
  /// Emits what the tests branch to, behind the function.
  void emit_paths();

  static constexpr std::array<Xbyak::Operand::Code, 5> scratch{
      Xbyak::Operand::RBX, Xbyak::Operand::RBP, Xbyak::Operand::R12, Xbyak::Operand::R13,
      Xbyak::Operand::R14};

 private:
  struct Path {
    Instruction append;
    Xbyak::Label begin, back;
  };
  void path(Path& path);
  void load_entry(const Instruction& append);

  Xbyak::CodeGenerator& a_;
  VectorTarget target_;
  std::span<const Xbyak::Reg64> bases_;
  std::deque<Path> paths_;
  const Xbyak::Reg64 lanes_{scratch[0]}, lane_{scratch[1]}, address_{scratch[2]}, word_{scratch[3]},
      pointer_{scratch[4]};
};

}  // namespace gdr::jit
