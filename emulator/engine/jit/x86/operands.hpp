// Registers and places of the IR as operands of xbyak.
#pragma once

#include <xbyak/xbyak.h>

#include <cstddef>
#include <cstdint>
#include <span>

#include "emulator/engine/jit/allocate.hpp"

namespace gdr::jit {

/// A register or memory as the base class of both, which outlives the call that it is made for.
class AnyOperand {
 public:
  explicit AnyOperand(const Xbyak::Xmm& r) : register_(r) {}
  explicit AnyOperand(const Xbyak::Address& m) : memory_(m), in_memory_(true) {}
  operator const Xbyak::Operand&() const {
    if (in_memory_) return memory_;
    return register_;
  }

 private:
  Xbyak::Xmm register_{0};
  Xbyak::Address memory_{0};
  bool in_memory_ = false;
};

/// The operands of instructions for a target.
class Operands {
 protected:
  Operands(Xbyak::CodeGenerator& generator, VectorTarget target,
           std::span<const Xbyak::Reg64> bases)
      : generator_(generator), target_(target), bases_(bases) {}

  static Xbyak::Zmm zmm(const Location& l) { return Xbyak::Zmm(l.number); }
  Xbyak::Xmm vector(const Location& l) const {
    if (target_.mask_registers) return Xbyak::Zmm(l.number);
    return Xbyak::Ymm(l.number);
  }
  static Xbyak::Opmask mask(const Location& l) { return Xbyak::Opmask(l.number); }
  Xbyak::Address address(const Place& p) const {
    // Xbyak takes displacements as size_t and means signed ones.
    const auto offset = static_cast<std::size_t>(std::int64_t{p.offset});
    const Xbyak::RegExp at = Xbyak::RegExp(bases_[p.base]) + offset;
    return p.broadcast ? generator_.ptr_b[at] : generator_.ptr[at];
  }
  AnyOperand operand(const Location& l) const {
    if (l.kind == Location::Kind::Memory) return AnyOperand(address(l.place));
    return AnyOperand(vector(l));
  }
  /// The result register with the mask of an instruction.
  Xbyak::Xmm under_mask(const Instruction& i) const {
    const Xbyak::Xmm to = vector(i.to);
    if (i.mask < 0) return to;
    const Xbyak::Xmm masked = to | Xbyak::Opmask(i.mask);
    return i.zeroing ? masked | generator_.T_z : masked;
  }
  /// A register as the last operand of an instruction with a rounding mode of its own.
  static Xbyak::Xmm rounded(const Xbyak::Xmm& x, Rounding rounding) {
    const Xbyak::EvexModifierRounding modes[] = {Xbyak::util::T_rn_sae, Xbyak::util::T_rd_sae,
                                                 Xbyak::util::T_ru_sae, Xbyak::util::T_rz_sae};
    return x | modes[static_cast<int>(rounding) - 1];
  }

 private:
  Xbyak::CodeGenerator& generator_;
  VectorTarget target_;
  std::span<const Xbyak::Reg64> bases_;  ///< registers of the base pointers of places
};

}  // namespace gdr::jit
