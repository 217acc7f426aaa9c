#include "emulator/engine/vector/doubles/fused/assemble.hpp"

#include <array>
#include <cstddef>

#include "emulator/engine/jit/allocate.hpp"
#include "emulator/engine/jit/x86/emit.hpp"
#include "emulator/engine/vector/doubles/fused/to_ir.hpp"

namespace gdr::fused {
namespace {

/// AVX-512: one vector leaves the host waiting for results, and the code for four no longer fits
/// where it keeps decoded instructions (gravity: 155, 99 and 105 clocks for eight interactions). Of
/// windows of 0, 32, 64, 128, 256 and 1000 operations: 117, 105, 101, 102, 99 and 101 clocks. AVX2
/// has half the registers and lanes: its copies hide latencies, and any more overlap costs spills
/// (one copy: 0.85 of the speed without fusion, two 1.14 and on some kernels 0.83, four 1.0
/// to 1.37).
///
/// Rows of fewer lanes, of blocks with few PEs, may take another number of copies.
Arrangement arrangement(Isa isa, std::uint32_t vectors) {
  Arrangement a = isa == Isa::Avx512 ? Arrangement{2, 128} : Arrangement{4, 8};
  if (vectors % a.copies != 0) a.copies = vectors % 3 == 0 ? 3 : vectors % 2 == 0 ? 2 : 1;
  return a;
}

class Function {
 public:
  Function(Xbyak::CodeGenerator& generator, const Recording& recording, Isa isa,
           std::uint32_t lanes)
      : a_(generator),
        target_{isa == Isa::Avx512, false},
        recording_(recording),
        pool_(target_, base_constants),
        vectors_(lanes / target_.lanes()),
        copies_(arrangement(isa, vectors_).copies),
        pieces_(to_ir(recording, target_, arrangement(isa, vectors_), pool_)),
        spills_{base_scratch, static_cast<std::int32_t>(pieces_.kept * target_.vector_bytes()), 0} {
  }

  void emit(std::uint32_t scratch) {
    constexpr auto near = Xbyak::CodeGenerator::T_NEAR;
    Xbyak::Label pool;
    a_.mov(base(base_lanes), of_run(offsetof(DoublesRun, frame)));
    a_.lea(base(base_scratch), a_.ptr[base(base_lanes) + scratch]);
    a_.lea(base(base_constants), a_.ptr[a_.rip + pool]);
    for (unsigned m = 0; m < 3; ++m) {
      a_.mov(bases_[base_memory + m], of_run(offsetof(DoublesRun, memory) + 8 * m));
    }
    clear_found();
    emit(pieces_.pass);

    // From here on the broadcast memory is not read.
    const Xbyak::Reg64 vectors_left = a_.r9, elements_left = a_.rcx;
    a_.mov(vectors_left, vectors_ / copies_);
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
    a_.add(base(base_lanes), target_.vector_bytes() * copies_);
    a_.dec(vectors_left);
    a_.jnz(next_vectors, near);
    leave();
    jit::embed(a_, pool, pool_.bytes());
  }

  std::uint32_t scratch_bytes() const {
    return (pieces_.kept + spills_.slots) * target_.vector_bytes();
  }

 private:
  const Xbyak::Reg64& base(Base b) const { return bases_[b]; }
  Xbyak::Address of_run(std::size_t offset) const { return a_.ptr[run_ + offset]; }

  void emit(const jit::Block& block) {
    const jit::AllocatedBlock code = jit::allocate(block, target_, limits(), spills_);
    jit::emit({a_, target_, bases_, found()}, code.body);
  }

  /// Two registers, of masks or vectors, are for what is found.
  jit::RegisterLimits limits() const {
    return target_.avx512 ? jit::RegisterLimits{32, 6} : jit::RegisterLimits{14, 8};
  }
  const std::array<int, 2>& found() const {
    static constexpr std::array<int, 2> masks{6, 7}, vectors{14, 15};
    return target_.avx512 ? masks : vectors;
  }
  void clear_found() {
    for (const int n : found()) {
      if (target_.avx512) {
        a_.kxorb(Xbyak::Opmask(n), Xbyak::Opmask(n), Xbyak::Opmask(n));
      } else {
        a_.vxorpd(Xbyak::Ymm(n), Xbyak::Ymm(n), Xbyak::Ymm(n));
      }
    }
  }
  /// Sets the zero flag where there is nothing; the sign of a lane is nothing.
  void test_found(int n) {
    if (target_.avx512) {
      a_.kortestb(Xbyak::Opmask(n), Xbyak::Opmask(n));
    } else {
      const Xbyak::Ymm set(n);
      a_.vpsllq(set, set, 1);
      a_.vptest(set, set);
    }
  }

  /// Notes what was found, and goes on to the next operation.
  void leave() {
    for (unsigned bit = 0; bit < 2; ++bit) {
      Xbyak::Label clear;
      test_found(found()[bit]);
      a_.jz(clear);
      a_.or_(a_.qword[run_ + offsetof(DoublesRun, failure)], 1U << bit);
      a_.L(clear);
    }
    a_.add(op_, sizeof(DoublesOp));
    a_.jmp(a_.ptr[op_ + offsetof(DoublesOp, kernel)]);
  }

  Xbyak::CodeGenerator& a_;
  jit::VectorTarget target_;
  const Recording& recording_;
  jit::ConstantPool pool_;
  std::uint32_t vectors_;
  unsigned copies_;
  Pieces pieces_;
  jit::SpillArea spills_;
  const Xbyak::Reg64 op_ = a_.rdi, run_ = a_.rsi;
  const std::array<Xbyak::Reg64, base_count> bases_{a_.rax, a_.r8,  a_.r10, a_.r11,
                                                    a_.rdx, a_.rcx, a_.r9};
};

}  // namespace

FusedOperation assemble(const Recording& recording, Isa isa, std::uint32_t lanes,
                        std::uint32_t scratch) {
  try {
    // Writable while it is made, then executable and no longer writable.
    const auto generator = std::make_shared<Xbyak::CodeGenerator>(4096, Xbyak::AutoGrow);
    Function function(*generator, recording, isa, lanes);
    function.emit(scratch);
    generator->ready(Xbyak::CodeArray::PROTECT_RE);
    return {generator->getCode<DoublesKernel>(), function.scratch_bytes(), generator};
  } catch (const Xbyak::Error&) {
    return {};
  }
}

}  // namespace gdr::fused
