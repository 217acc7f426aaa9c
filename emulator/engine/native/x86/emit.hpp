// Code of one segment, for several work items side by side.
#pragma once

#include <xbyak/xbyak.h>

#include <map>

#include "emulator/engine/native/code.hpp"
#include "emulator/engine/x86/registers.hpp"

namespace gdr::native {

/// Constants of a function, one vector each, behind its code.
class ConstantPool {
 public:
  /// Offset in bytes of a constant's vector.
  std::int32_t offset(Kind kind, std::uint64_t bits, const ItemLayout& layout) {
    const auto [at, is_new] = known_.try_emplace({kind, bits}, count_);
    if (is_new) ++count_;
    return static_cast<std::int32_t>(at->second * layout.vector_bytes);
  }
  void embed(Xbyak::CodeGenerator& a, Xbyak::Label& label, Target target,
             const ItemLayout& layout) const;

 private:
  std::map<std::pair<Kind, std::uint64_t>, std::uint32_t> known_;
  std::uint32_t count_ = 0;
};

/// What the segments of a function have in common.
struct FunctionContext {
  Xbyak::CodeGenerator& a;
  Target target;
  const KernelCode& kernel;
  unsigned copies, interleave;
  const WordTable& source_words;
  const WordTable& uniform_words;
  ConstantPool pool;
  std::uint32_t spill_bytes = 0;  ///< of the segment that needs most

  // Registers with a fixed meaning: the function's arguments, then what is worked out from them.
  Xbyak::Reg64 items = a.rdi, source = a.rsi, uniforms = a.rdx, passes = a.rcx, spills = a.r8;
  Xbyak::Reg64 carried = a.r9;  ///< set of carried values that is read
  Xbyak::Reg64 next = a.r10;    ///< the one that is written
  Xbyak::Reg64 constants = a.r11;

  bool wide() const noexcept { return target.isa == Isa::Avx512; }
  bool floats() const noexcept { return target.precision == Precision::Float; }
  std::uint32_t word_bytes() const noexcept { return floats() ? 4 : 8; }
  std::uint32_t group_bytes() const noexcept {
    return static_cast<std::uint32_t>(source_words.words.size()) * word_bytes();
  }
};

/// Emits a segment that runs once: carried inputs come from the set `carried`, carried stores go to
/// the set `next`, or `carried` where `in_place`.
void emit_straight(FunctionContext& context, const Segment& segment, bool in_place);

/// Emits the loop: `passes` times. What is carried is in the set `carried` before and after.
void emit_loop(FunctionContext& context, const Segment& segment);

/// How many work items a kernel should take at once, and how many of them in lockstep.
struct Interleaving {
  unsigned copies = 1, lockstep = 1;
};
Interleaving choose_interleaving(const KernelCode& kernel, Target target);

}  // namespace gdr::native
