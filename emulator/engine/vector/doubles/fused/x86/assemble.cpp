#include "emulator/engine/vector/doubles/fused/assemble.hpp"

#include <array>
#include <cstddef>

#include "emulator/engine/jit/allocate.hpp"
#include "emulator/engine/jit/x86/emit.hpp"
#include "emulator/engine/vector/doubles/fused/to_ir.hpp"

namespace gdr::fused {
namespace {

constexpr jit::VectorTarget target{true, false};

/// Vectors side by side. One leaves the host waiting for results; the code for four no longer fits
/// where it keeps decoded instructions. Gravity: 155, 99 and 105 clocks for eight interactions.
constexpr unsigned copies = 2;

class Function {
 public:
  Function(Xbyak::CodeGenerator& generator, const Recording& recording)
      : a_(generator),
        recording_(recording),
        pool_(target, base_constants),
        pieces_(to_ir(recording, target, copies, pool_)),
        spills_{base_scratch, static_cast<std::int32_t>(pieces_.kept * target.vector_bytes()), 0} {}

  void emit(std::uint32_t lanes, std::uint32_t scratch) {
    constexpr auto near = Xbyak::CodeGenerator::T_NEAR;
    Xbyak::Label pool;
    a_.mov(base(base_lanes), of_run(offsetof(DoublesRun, frame)));
    a_.lea(base(base_scratch), a_.ptr[base(base_lanes) + scratch]);
    a_.lea(base(base_constants), a_.ptr[a_.rip + pool]);
    for (unsigned m = 0; m < 3; ++m) {
      a_.mov(bases_[base_memory + m], of_run(offsetof(DoublesRun, memory) + 8 * m));
    }
    for (const Xbyak::Opmask& m : found_) a_.kxorb(m, m, m);
    emit(pieces_.pass);

    // From here on the broadcast memory is not read.
    const Xbyak::Reg64 vectors_left = a_.r9, elements_left = a_.rcx;
    a_.mov(vectors_left, lanes / (target.lanes() * copies));
    Xbyak::Label next_vectors, next_element;
    a_.align(32);
    a_.L(next_vectors);
    emit(pieces_.lanes);
    a_.mov(base(base_element), base(base_lanes));
    a_.mov(elements_left, recording_.elements);
    a_.align(32);
    a_.L(next_element);
    emit(pieces_.element);
    a_.add(base(base_element), recording_.row_bytes);
    a_.dec(elements_left);
    a_.jnz(next_element, near);
    emit(pieces_.left);
    a_.add(base(base_lanes), target.vector_bytes() * copies);
    a_.dec(vectors_left);
    a_.jnz(next_vectors, near);
    leave();
    jit::embed(a_, pool, pool_.bytes());
  }

  std::uint32_t scratch_bytes() const {
    return (pieces_.kept + spills_.slots) * target.vector_bytes();
  }

 private:
  const Xbyak::Reg64& base(Base b) const { return bases_[b]; }
  Xbyak::Address of_run(std::size_t offset) const { return a_.ptr[run_ + offset]; }

  void emit(const jit::Block& block) {
    // Two mask registers are for what is found.
    const jit::AllocatedBlock code = jit::allocate(block, target, {32, 6}, spills_);
    jit::emit({a_, target, bases_, found_}, code.body);
  }

  /// Notes what was found, and goes on to the next operation.
  void leave() {
    for (unsigned bit = 0; bit < 2; ++bit) {
      Xbyak::Label clear;
      a_.kortestb(found_[bit], found_[bit]);
      a_.jz(clear);
      a_.or_(a_.qword[run_ + offsetof(DoublesRun, failure)], 1U << bit);
      a_.L(clear);
    }
    a_.add(op_, sizeof(DoublesOp));
    a_.jmp(a_.ptr[op_ + offsetof(DoublesOp, kernel)]);
  }

  Xbyak::CodeGenerator& a_;
  const Recording& recording_;
  jit::ConstantPool pool_;
  Pieces pieces_;
  jit::SpillArea spills_;
  const Xbyak::Reg64 op_ = a_.rdi, run_ = a_.rsi;
  const std::array<Xbyak::Reg64, base_count> bases_{a_.rax, a_.r8,  a_.r10, a_.r11,
                                                    a_.rdx, a_.rcx, a_.r9};
  const std::array<Xbyak::Opmask, 2> found_{a_.k6, a_.k7};  ///< bits of DoublesFailure
};

}  // namespace

FusedOperation assemble(const Recording& recording, std::uint32_t lanes, std::uint32_t scratch) {
  try {
    // Writable while it is made, then executable and no longer writable.
    const auto generator = std::make_shared<Xbyak::CodeGenerator>(4096, Xbyak::AutoGrow);
    Function function(*generator, recording);
    function.emit(lanes, scratch);
    generator->ready(Xbyak::CodeArray::PROTECT_RE);
    return {generator->getCode<DoublesKernel>(), function.scratch_bytes(), generator};
  } catch (const Xbyak::Error&) {
    return {};
  }
}

}  // namespace gdr::fused
