#include <array>
#include <cstddef>

#include "emulator/engine/jit/x86/emit.hpp"
#include "emulator/engine/native/codegen/code.hpp"
#include "emulator/engine/native/codegen/kernel_emitter.hpp"
#include "emulator/host/host_limits.hpp"

namespace gdr::native {
namespace {

/// The scalar instructions of x86-64.
class X86Host {
 public:
  using Label = Xbyak::Label;

  X86Host(Xbyak::CodeGenerator& generator, const CodeContext& context)
      : a_(generator),
        target_(vector_target(context.target)),
        has_lists_(context.kernel.layout.lists != 0) {}

  void begin() {
    if (!has_lists_) return;
    for (const auto r : jit::AppendCode::scratch) a_.push(Xbyak::Reg64(r));
  }
  void end(Label& constants, const std::vector<std::uint8_t>& bytes) {
    a_.vzeroupper();
    if (has_lists_)
      for (auto r = jit::AppendCode::scratch.rbegin(); r != jit::AppendCode::scratch.rend(); ++r)
        a_.pop(Xbyak::Reg64(*r));
    a_.ret();
    appends_.emit_paths();
    jit::embed(a_, constants, bytes);
  }
  void emit(const std::vector<jit::Instruction>& code, Label* leave) {
    jit::emit({a_,
               target_,
               std::span(registers_).first<base_count>(),
               {},
               &appends_,
               target_.mask_registers ? 7 : 15,
               leave},
              code);
  }

  /// They are the last argument, in the register of base_carried.
  void take_runs() { a_.mov(reg(scalar_runs), reg(base_carried)); }
  void address(std::uint8_t to, Label& label) { a_.mov(reg(to), label); }
  void address(std::uint8_t to, std::uint8_t base, std::uint32_t offset) {
    a_.lea(reg(to), at(base, offset));
  }
  void load(std::uint8_t to, std::uint8_t base, std::size_t offset) {
    a_.mov(reg(to), at(base, offset));
  }
  void add(std::uint8_t r, std::uint32_t number) { a_.add(reg(r), number); }
  void next_run(std::size_t bytes) { a_.add(reg(scalar_runs), static_cast<int>(bytes)); }
  void exchange(std::uint8_t a, std::uint8_t b) { a_.xchg(reg(a), reg(b)); }
  void skip_to_last(std::uint32_t group_bytes) {
    const Xbyak::Reg64& n = reg(scalar_iterations);
    a_.dec(n);
    a_.imul(n, n, static_cast<int>(group_bytes));
    a_.add(reg(base_source), n);
  }
  void prefetch(std::uint8_t base, int offset) { a_.prefetcht0(a_.ptr[reg(base) + offset]); }

  void align() { a_.align(32); }
  void bind(Label& label) { a_.L(label); }
  void jump(Label& label) { a_.jmp(label, near); }
  void jump_unless_above_one(std::uint8_t r, Label& label) {
    a_.cmp(reg(r), 1);
    a_.jbe(label, near);
  }
  void jump_if_zero(std::uint8_t r, Label& label) {
    a_.test(reg(r), reg(r));
    a_.jz(label, near);
  }
  /// Also where the difference is zero.
  void subtract_or_jump(std::uint8_t r, std::uint32_t number, Label& label) {
    if (number == 1)
      a_.dec(reg(r));
    else
      a_.sub(reg(r), number);
    a_.jz(label, near);
  }
  void halve_and_jump_if_even(std::uint8_t r, Label& label) {
    a_.shr(reg(r), 1);
    a_.jnc(label, near);
  }
  void repeat(std::uint8_t r, Label& top) {
    a_.dec(reg(r));
    a_.jnz(top, near);
  }
  void jump_if_zero_at(std::uint8_t base, std::size_t offset, Label& label) {
    a_.cmp(a_.qword[reg(base) + offset], 0);
    a_.je(label, near);
  }
  /// Changes scalar_iterations.
  void jump_unless_both_zero_at(std::uint8_t base, std::size_t one, std::size_t other,
                                Label& label) {
    a_.mov(reg(scalar_iterations), at(base, one));
    a_.or_(reg(scalar_iterations), at(base, other));
    a_.jnz(label, near);
  }

 private:
  static constexpr auto near = Xbyak::CodeGenerator::T_NEAR;

  const Xbyak::Reg64& reg(std::uint8_t r) const { return registers_[r]; }
  Xbyak::Address at(std::uint8_t base, std::size_t offset) const {
    return a_.ptr[reg(base) + offset];
  }

  Xbyak::CodeGenerator& a_;
  const jit::VectorTarget target_;
  const bool has_lists_;
  /// By Base and Scalar. The function's arguments are items, source, uniforms, iterations, spills
  /// and runs.
  const std::array<Xbyak::Reg64, scalar_count> registers_{a_.rdi, a_.rsi, a_.rdx, a_.r8, a_.r9,
                                                          a_.r10, a_.r11, a_.rcx, a_.rax};
  jit::AppendCode appends_{a_, target_, std::span(registers_).first<base_count>()};
};

}  // namespace

CompiledKernel compile_kernel(const CodeContext& context, std::uint32_t copies) {
  try {
    // Writable during generation, then executable and no longer writable.
    const auto generator = std::make_shared<Xbyak::CodeGenerator>(4096, Xbyak::AutoGrow);
    X86Host host(*generator, context);
    KernelEmitter emitter(host, context, copies);
    emitter.emit_function();
    generator->ready(Xbyak::CodeArray::PROTECT_RE);
    return {generator->getCode<KernelFunction>(), emitter.copies(), generator->getSize(),
            emitter.spill_bytes(), generator};
  } catch (const Xbyak::Error& e) {
    if (!can_execute_generated_code()) throw Unsupported("no machine code can be generated");
    throw Unsupported(std::string("the code generator failed: ") + e.what());
  }
}

}  // namespace gdr::native
