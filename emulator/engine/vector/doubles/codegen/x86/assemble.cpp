#include <array>
#include <cstddef>

#include "emulator/engine/jit/x86/emit.hpp"
#include "emulator/engine/vector/doubles/codegen/loop_nest.hpp"
#include "emulator/host/host_limits.hpp"

namespace gdr::codegen {
namespace {

/// The scalar instructions of x86-64.
class X86Host {
 public:
  X86Host(Xbyak::CodeGenerator& generator, jit::VectorTarget target)
      : a_(generator), target_(target) {}

  void begin(std::uint32_t scratch) {
    a_.mov(base(base_lanes), of_run(offsetof(DoublesRun, frame)));
    a_.lea(base(base_scratch), a_.ptr[base(base_lanes) + scratch]);
    a_.lea(base(base_constants), a_.ptr[a_.rip + constants_]);
    for (unsigned m = 0; m < 3; ++m)
      a_.mov(bases_[base_memory + m], of_run(offsetof(DoublesRun, memory) + 8 * m));
    for (const int n : found()) {
      if (target_.mask_registers)
        a_.kxorb(Xbyak::Opmask(n), Xbyak::Opmask(n), Xbyak::Opmask(n));
      else
        a_.vxorpd(Xbyak::Ymm(n), Xbyak::Ymm(n), Xbyak::Ymm(n));
    }
  }
  void emit(const std::vector<jit::Instruction>& code) {
    jit::emit({a_, target_, bases_, found()}, code);
  }
  void begin_loop(Counter c, std::uint32_t count) {
    a_.mov(counter(c), count);
    a_.align(32);
    a_.L(tops_[static_cast<unsigned>(c)]);
  }
  void end_loop(Counter c) {
    a_.dec(counter(c));
    a_.jnz(tops_[static_cast<unsigned>(c)], Xbyak::CodeGenerator::T_NEAR);
  }
  void first_element() { a_.mov(base(base_element), base(base_lanes)); }
  void advance(Base b, std::uint32_t bytes) { a_.add(base(b), bytes); }

  /// Stores failures and jumps to the next operation.
  void end(const std::vector<std::uint8_t>& constants) {
    for (unsigned bit = 0; bit < failure_sets; ++bit) {
      Xbyak::Label clear;
      test_found(found()[bit]);
      a_.jz(clear);
      a_.or_(a_.qword[run_ + offsetof(DoublesRun, failure)], 1U << bit);
      a_.L(clear);
    }
    a_.add(op_, sizeof(DoublesOp));
    a_.jmp(a_.ptr[op_ + offsetof(DoublesOp, kernel)]);
    jit::embed(a_, constants_, constants);
  }

 private:
  const Xbyak::Reg64& base(Base b) const { return bases_[b]; }
  Xbyak::Address of_run(std::size_t offset) const { return a_.ptr[run_ + offset]; }
  const Xbyak::Reg64& counter(Counter c) const { return c == Counter::Vectors ? a_.r9 : a_.rcx; }

  const std::array<int, failure_sets>& found() const {
    static constexpr std::array<int, failure_sets> masks{6, 7}, vectors{14, 15};
    return target_.mask_registers ? masks : vectors;
  }
  /// Sets the zero flag if no bit is set; signs of lanes do not count.
  void test_found(int n) {
    if (target_.mask_registers) {
      a_.kortestb(Xbyak::Opmask(n), Xbyak::Opmask(n));
    } else {
      const Xbyak::Ymm set(n);
      a_.vpsllq(set, set, 1);
      a_.vptest(set, set);
    }
  }

  Xbyak::CodeGenerator& a_;
  const jit::VectorTarget target_;
  Xbyak::Label constants_;
  std::array<Xbyak::Label, 2> tops_;
  const Xbyak::Reg64 op_ = a_.rdi, run_ = a_.rsi;
  const std::array<Xbyak::Reg64, base_count> bases_{a_.rax, a_.r8,  a_.r10, a_.r11,
                                                    a_.rdx, a_.rcx, a_.r9};
};

}  // namespace

CompiledOperation assemble(const Trace& trace, Isa isa, std::uint32_t lanes,
                           std::uint32_t scratch) {
  try {
    // Writable during generation, then executable only.
    const auto generator = std::make_shared<Xbyak::CodeGenerator>(4096, Xbyak::AutoGrow);
    const jit::VectorTarget target = jit::vector_target(isa, false);
    X86Host host(*generator, target);
    LoopNestEmitter emitter(host, trace, target, lanes);
    emitter.emit(scratch);
    generator->ready(Xbyak::CodeArray::PROTECT_RE);
    return {generator->getCode<DoublesKernel>(), emitter.scratch_bytes(), generator};
  } catch (const Xbyak::Error&) {
    can_execute_generated_code();  // for the statistics
    return {};
  }
}

}  // namespace gdr::codegen
