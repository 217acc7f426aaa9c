#include "emulator/engine/vector/doubles/codegen/arm64/assemble.hpp"

#include <algorithm>
#include <array>

#include "emulator/engine/jit/arm64/emit.hpp"
#include "emulator/engine/vector/doubles/codegen/loop_nest.hpp"

namespace gdr::codegen {
namespace {

namespace a64 = jit::arm64::a64;

/// The scalar instructions of AArch64. A function gets the operation in x0 and the run in x1.
class Arm64Host {
 public:
  explicit Arm64Host(jit::VectorTarget target) : target_(target) {}

  void begin(std::uint32_t scratch_offset) {
    a_.enter();
    load_from_run(base_lanes, offsetof(DoublesRun, frame));
    a_.add(base(base_scratch), base(base_lanes), scratch_offset);
    a_.address(base(base_constants), constants_);
    for (unsigned m = 0; m < 3; ++m)
      load_from_run(base_memory + m, offsetof(DoublesRun, memory) + 8 * m);
    for (const int n : found) a_.put(a64::movi_zero | static_cast<a64::Word>(n));
  }
  void emit(const std::vector<jit::Instruction>& code) {
    jit::arm64::emit({a_, target_, bases, found}, code);
  }
  void begin_loop(Counter c, std::uint32_t count) {
    a_.constant(counter(c), count);
    a_.align(32);
    a_.bind(tops_[static_cast<unsigned>(c)]);
    begins[static_cast<unsigned>(c)] = a_.words().size();
  }
  void end_loop(Counter c) {
    a_.subtract(counter(c), counter(c), 1);
    a_.branch(a64::ne, tops_[static_cast<unsigned>(c)]);
    ends[static_cast<unsigned>(c)] = a_.words().size();
  }
  void first_element() { a_.move(base(base_element), base(base_lanes)); }
  void advance(Base b, std::uint32_t bytes) { a_.add(base(b), base(b), bytes); }

  /// Stores failures and jumps to the next operation.
  void end(const std::vector<std::uint8_t>& constants) {
    for (unsigned bit = 0; bit < failure_sets; ++bit) store_failure(bit);
    a_.leave();
    a_.add(op, op, sizeof(DoublesOp));
    a_.access(a64::ldr_x, scratch, op, offsetof(DoublesOp, kernel));
    a_.put(a64::br | scratch << 5);
    a_.align(64);
    a_.bind(constants_);
    a_.data(constants);
  }
  std::vector<std::uint32_t> words() const { return {a_.words().begin(), a_.words().end()}; }

  std::array<std::size_t, 2> begins{}, ends{};  ///< words of the loops, by Counter

 private:
  static constexpr unsigned op = 0, run = 1, scratch = jit::arm64::Assembler::scratch_register;
  static constexpr unsigned failures = 11, other_lane = 12;  // not preserved by functions either
  static constexpr std::array<std::uint8_t, base_count> bases{2, 3, 4, 5, 6, 7, 8};
  static constexpr std::array<int, failure_sets> found{29, 30};

  static constexpr unsigned base(unsigned b) { return bases[b]; }
  static constexpr unsigned counter(Counter c) { return 9 + static_cast<unsigned>(c); }
  void load_from_run(unsigned b, std::size_t offset) {
    a_.access(a64::ldr_x, base(b), run, static_cast<std::int64_t>(offset));
  }
  /// Signs of lanes do not count.
  void store_failure(unsigned bit) {
    const auto set = static_cast<unsigned>(found[bit]);
    jit::arm64::Label clear;
    a_.shift(a64::shl, set, set, 1, 64);
    a_.lane(a64::umov_d, scratch, set, 0, true);
    a_.lane(a64::umov_d, other_lane, set, 1, true);
    a_.three(a64::orr_x, scratch, scratch, other_lane);
    a_.branch_if_zero(scratch, clear);
    a_.access(a64::ldr_x, failures, run, offsetof(DoublesRun, failure));
    a_.constant(scratch, std::int64_t{1} << bit);
    a_.three(a64::orr_x, failures, failures, scratch);
    a_.access(a64::str_x, failures, run, offsetof(DoublesRun, failure));
    a_.bind(clear);
  }

  jit::arm64::Assembler a_;
  const jit::VectorTarget target_;
  jit::arm64::Label constants_;
  std::array<jit::arm64::Label, 2> tops_;
};

}  // namespace

Arm64Code assemble_arm64(const Trace& trace, std::uint32_t lanes, std::uint32_t scratch) {
  const jit::VectorTarget target = jit::vector_target(Isa::Neon, false);
  Arm64Host host(target);
  LoopNestEmitter emitter(host, trace, target, lanes);
  emitter.emit(scratch);
  return {host.words(), emitter.scratch_bytes(), emitter.copies(), host.begins[0],
          host.ends[0], host.begins[1],          host.ends[1]};
}

std::optional<Arm64Code> arm64_code_of_body(const Program& program) {
  DoublesKernels kernels = tracing_kernels(Isa::Neon);
  const DoublesSection section = translate_program(program, Geometry{}, kernels, true);
  const OpList& list = section.iteration.empty() ? section.last : section.iteration;
  if (!section.usable || list.ops.empty()) return std::nullopt;
  std::vector<DoublesOp> steps(list.ops.begin(), list.ops.end() - 1);
  std::erase_if(steps, [](const DoublesOp& op) { return op.kernel == pause; });
  if (std::ranges::any_of(steps, [](const DoublesOp& op) { return touches_memory(op.kernel); }))
    return std::nullopt;
  const std::optional<Trace> traced = trace(steps, section, &list.live);
  if (!traced) return std::nullopt;
  return assemble_arm64(*traced, section.row_lanes, (section.frame_bytes + 63) / 64 * 64);
}

}  // namespace gdr::codegen
