#include <array>
#include <cstddef>

#include "emulator/engine/jit/allocate.hpp"
#include "emulator/engine/jit/order.hpp"
#include "emulator/engine/jit/x86/emit.hpp"
#include "emulator/engine/vector/doubles/codegen/trace.hpp"
#include "emulator/host/host_limits.hpp"

namespace gdr::codegen {
namespace {

/// Two registers, masks or vectors, collect failures.
jit::RegisterLimits limits(jit::VectorTarget target) {
  return target.mask_registers ? jit::RegisterLimits{32, 6} : jit::RegisterLimits{14, 8};
}

/// Instructions per vector, including spills.
std::size_t instructions(const Trace& trace, jit::VectorTarget target, Arrangement a) {
  jit::ConstantPool pool(target, base_constants);
  const LoopNestCode code = to_ir(trace, target, a, pool);
  jit::SpillArea spills{base_scratch, 0, 0};
  std::size_t count = 0;
  for (const jit::Block* block : {&code.lanes, &code.element, &code.left})
    count += jit::allocate(*block, target, limits(target), spills).body.size();
  return count / a.copies;
}

/// Interleaved vectors. AVX-512: one is limited by latency, and the code for four exceeds the cache
/// of decoded instructions (gravity: 155, 99 and 105 clocks for eight interactions). AVX2 has half
/// the registers, so that four cause spills (gravity_jerk: 0.87 of the speed of two,
/// gravity_jerk_long 0.54), but two are limited by latency in long chains (morse and buckingham:
/// 0.73 of the speed of four, with a critical path of 1.4 clocks per operation; at 0.9 it is 0.8,
/// at 0.7 and below two are faster). For rows of fewer lanes, a divisor of their vectors.
unsigned copies(const Trace& trace, jit::VectorTarget target, std::uint32_t vectors) {
  unsigned wanted = 2;
  if (!target.mask_registers) {
    jit::ConstantPool pool(target, base_constants);
    const jit::Block one = to_ir(trace, target, {1, 1}, pool).element;
    const auto path = static_cast<std::size_t>(jit::longest_way(one));
    if (path * 10 > one.code.size() * 8) wanted = 4;
  }
  if (vectors % wanted == 0) return wanted;
  return vectors % 3 == 0 ? 3 : vectors % 2 == 0 ? 2 : 1;
}

/// The largest window that causes few spills: gravity with AVX-512 is 7 % slower with a window of
/// 64 than with 256, gravity_jerk 40 % faster with 8.
Arrangement arrangement(const Trace& trace, jit::VectorTarget target, std::uint32_t vectors) {
  Arrangement a{copies(trace, target, vectors), 1};
  const std::size_t least = instructions(trace, target, a);
  for (a.window = 256; a.window > 4; a.window /= 2) {
    if (instructions(trace, target, a) * 100 <= least * 106) break;
  }
  return a;
}

class Function {
 public:
  Function(Xbyak::CodeGenerator& generator, const Trace& trace, Isa isa, std::uint32_t lanes)
      : a_(generator),
        target_(jit::vector_target(isa, false)),
        trace_(trace),
        pool_(target_, base_constants),
        vectors_(lanes / target_.lanes()),
        arrangement_(arrangement(trace, target_, vectors_)),
        code_(to_ir(trace, target_, arrangement_, pool_)),
        spills_{base_scratch, static_cast<std::int32_t>(code_.kept * target_.vector_bytes), 0} {}

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
    emit(code_.iteration);

    // From here on the broadcast memory is not read.
    const Xbyak::Reg64 vectors_left = a_.r9, elements_left = a_.rcx;
    a_.mov(vectors_left, vectors_ / arrangement_.copies);
    Xbyak::Label next_vectors, next_element;
    a_.align(32);
    a_.L(next_vectors);
    emit(code_.lanes);
    a_.mov(base(base_element), base(base_lanes));
    a_.mov(elements_left, trace_.elements);
    a_.align(32);
    a_.L(next_element);
    emit(code_.element);
    a_.add(base(base_element), trace_.row_bytes);
    a_.dec(elements_left);
    a_.jnz(next_element, near);
    emit(code_.left);
    a_.add(base(base_lanes), target_.vector_bytes * arrangement_.copies);
    a_.dec(vectors_left);
    a_.jnz(next_vectors, near);
    leave();
    jit::embed(a_, pool, pool_.bytes());
  }

  std::uint32_t scratch_bytes() const {
    return (code_.kept + spills_.slots) * target_.vector_bytes;
  }

 private:
  const Xbyak::Reg64& base(Base b) const { return bases_[b]; }
  Xbyak::Address of_run(std::size_t offset) const { return a_.ptr[run_ + offset]; }

  void emit(const jit::Block& block) {
    const jit::AllocatedBlock code = jit::allocate(block, target_, limits(target_), spills_);
    jit::emit({a_, target_, bases_, found()}, code.body);
  }

  const std::array<int, 2>& found() const {
    static constexpr std::array<int, 2> masks{6, 7}, vectors{14, 15};
    return target_.mask_registers ? masks : vectors;
  }
  void clear_found() {
    for (const int n : found()) {
      if (target_.mask_registers) {
        a_.kxorb(Xbyak::Opmask(n), Xbyak::Opmask(n), Xbyak::Opmask(n));
      } else {
        a_.vxorpd(Xbyak::Ymm(n), Xbyak::Ymm(n), Xbyak::Ymm(n));
      }
    }
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

  /// Stores failures and jumps to the next operation.
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
  const Trace& trace_;
  jit::ConstantPool pool_;
  std::uint32_t vectors_;
  Arrangement arrangement_;
  LoopNestCode code_;
  jit::SpillArea spills_;
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
    Function function(*generator, trace, isa, lanes);
    function.emit(scratch);
    generator->ready(Xbyak::CodeArray::PROTECT_RE);
    return {generator->getCode<DoublesKernel>(), function.scratch_bytes(), generator};
  } catch (const Xbyak::Error&) {
    can_execute_generated_code();  // for the statistics
    return {};
  }
}

}  // namespace gdr::codegen
