#include "emulator/engine/native/codegen/arm64/assemble.hpp"

#include <array>
#include <span>

#include "emulator/engine/jit/arm64/emit.hpp"
#include "emulator/engine/native/codegen/kernel_emitter.hpp"

namespace gdr::native {
namespace {

namespace a64 = jit::arm64::a64;

/// The scalar instructions of AArch64.
class Arm64Host {
 public:
  using Label = jit::arm64::Label;

  Arm64Host(jit::arm64::Assembler& assembler, const CodeContext& context)
      : a_(assembler), target_(vector_target(context.target)) {}

  void begin() { a_.enter(); }
  void end(Label& constants, const std::vector<std::uint8_t>& bytes) {
    a_.leave();
    a_.put(a64::ret | 30U << 5);
    appends_.emit_paths();
    a_.align(64);
    a_.bind(constants);
    a_.data(bytes);
  }
  void emit(const std::vector<jit::Instruction>& code, Label* leave) {
    jit::arm64::emit({a_, target_, std::span(registers).first<base_count>(), {}, &appends_, leave},
                     code);
  }

  void take_runs() {}  // they stay in the register of their argument
  void address(std::uint8_t to, Label& label) { a_.address(reg(to), label); }
  void address(std::uint8_t to, std::uint8_t base, std::uint32_t offset) {
    a_.add(reg(to), reg(base), offset);
  }
  void load(std::uint8_t to, std::uint8_t base, std::size_t offset) {
    a_.access(a64::ldr_x, reg(to), reg(base), static_cast<std::int64_t>(offset));
  }
  void add(std::uint8_t r, std::uint32_t number) { a_.add(reg(r), reg(r), number); }
  void next_run(std::size_t bytes) { add(scalar_runs, static_cast<std::uint32_t>(bytes)); }
  void exchange(std::uint8_t a, std::uint8_t b) {
    a_.move(scratch, reg(a));
    a_.move(reg(a), reg(b));
    a_.move(reg(b), scratch);
  }
  void skip_to_last(std::uint32_t group_bytes) {
    a_.add(reg(scalar_iterations), reg(scalar_iterations), -1);
    a_.constant(scratch, group_bytes);
    a_.three(a64::madd | reg(base_source) << 10, reg(base_source), reg(scalar_iterations), scratch);
  }
  void prefetch(std::uint8_t base, int offset) { a_.access(a64::prfm, 0, reg(base), offset); }

  /// The beginning of a loop.
  void align() {
    a_.align(32);
    loop_begin = a_.words().size();
  }
  void bind(Label& label) { a_.bind(label); }
  void jump(Label& label) { a_.branch(label); }
  void jump_unless_above_one(std::uint8_t r, Label& label) {
    a_.subtract(a64::zero, reg(r), 1);
    a_.branch(a64::ls, label);
  }
  void jump_if_zero(std::uint8_t r, Label& label) { a_.branch_if_zero(reg(r), label); }
  /// Also where the difference is zero.
  void subtract_or_jump(std::uint8_t r, std::uint32_t number, Label& label) {
    a_.subtract(reg(r), reg(r), number);
    a_.branch(a64::eq, label);
  }
  void halve_and_jump_if_even(std::uint8_t r, Label& label) {
    a_.move(scratch, reg(r));
    a_.shift_right(reg(r), reg(r), 1);
    a_.branch_if_bit_clear(scratch, 0, label);
  }
  void repeat(std::uint8_t r, Label& top) {
    a_.subtract(reg(r), reg(r), 1);
    a_.branch(a64::ne, top);
    loop_end = a_.words().size();
  }
  void jump_if_zero_at(std::uint8_t base, std::size_t offset, Label& label) {
    a_.access(a64::ldr_x, scratch, reg(base), static_cast<std::int64_t>(offset));
    a_.branch_if_zero(scratch, label);
  }
  /// Changes scalar_iterations.
  void jump_unless_both_zero_at(std::uint8_t base, std::size_t one, std::size_t other,
                                Label& label) {
    a_.access(a64::ldr_x, scratch, reg(base), static_cast<std::int64_t>(one));
    load(scalar_iterations, base, other);
    a_.three(a64::orr_x, reg(scalar_iterations), reg(scalar_iterations), scratch);
    a_.branch_unless_zero(reg(scalar_iterations), label);
  }

  std::size_t loop_begin = 0, loop_end = 0;  ///< words of the last loop

 private:
  static constexpr unsigned scratch = jit::arm64::Assembler::scratch_register;
  /// By Base and Scalar. The function's arguments are items, source, uniforms, iterations, spills
  /// and runs, x0 to x5.
  static constexpr std::array<std::uint8_t, scalar_count> registers{0, 1, 2, 4, 6, 7, 8, 3, 5};

  static unsigned reg(std::uint8_t r) { return registers[r]; }

  jit::arm64::Assembler& a_;
  const jit::VectorTarget target_;
  jit::arm64::AppendCode appends_{a_, target_, std::span(registers).first<base_count>()};
};

}  // namespace

Arm64Code assemble_arm64(const CodeContext& context, std::uint32_t copies) {
  jit::arm64::Assembler assembler;
  Arm64Host host(assembler, context);
  KernelEmitter emitter(host, context, copies);
  emitter.emit_function();
  Arm64Code made;
  made.words.assign(assembler.words().begin(), assembler.words().end());
  made.copies = emitter.copies();
  made.spill_bytes = emitter.spill_bytes();
  made.loop_begin = host.loop_begin;
  made.loop_end = host.loop_end;
  made.groups_in_loop = emitter.groups_in_loop();
  return made;
}

}  // namespace gdr::native
