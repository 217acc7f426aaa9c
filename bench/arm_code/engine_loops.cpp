#include "bench/arm_code/engine_loops.hpp"

#include <algorithm>

#include "emulator/engine/jit/arm64/instructions.hpp"
#include "emulator/engine/native/codegen/arm64/assemble.hpp"
#include "emulator/engine/native/program/compiled_section.hpp"
#include "emulator/engine/native/program/program.hpp"
#include "emulator/engine/vector/doubles/codegen/arm64/assemble.hpp"
#include "gdr/kernel.hpp"

namespace gdr::bench {
namespace {

using Words = std::span<const std::uint32_t>;

native::Arm64Code native_code(const Kernel& kernel, bool floats) {
  const native::Target target{Isa::Neon,
                              floats ? native::Precision::Float : native::Precision::Double,
                              native::FloatMode::Plain, false};
  const native::CompiledProgram program(kernel.program(), Geometry{}, target);
  const native::CompiledSection* const body = program.section(Section::Body);
  if (body == nullptr || (floats && body->precision() != native::Precision::Float)) return {};
  return body->arm64_code();
}

Words loop_of(const native::Arm64Code& code) {
  return Words(code.words).subspan(code.loop_begin, code.loop_end - code.loop_begin);
}

/// Without the branch at their end.
Words without_branch(Words words) { return words.first(words.size() - 1); }

void append(std::vector<std::string>& to, const std::vector<std::string>& instructions) {
  to.insert(to.end(), instructions.begin(), instructions.end());
}

}  // namespace

ArmLoop native_loop_for_arm(const ArmTools& tools, const std::string& name, bool floats) {
  const Kernel kernel = Kernel::builtin(name);
  const native::Arm64Code code = native_code(kernel, floats);
  if (code.loop_end == code.loop_begin) return {};
  const double lanes = floats ? 4 : 2;
  return {tools.disassembled(without_branch(loop_of(code))),
          lanes * code.copies * code.groups_in_loop * kernel.program().group};
}

ArmLoop exact_loop_for_arm(const ArmTools& tools, const std::string& name) {
  const Kernel kernel = Kernel::builtin(name);
  const Program& program = kernel.program();
  const std::optional<codegen::Arm64Code> code = codegen::arm64_code_of_body(program);
  if (!code) return {};
  const Words words = code->words;
  const auto part = [&](std::size_t begin, std::size_t end) {
    return tools.disassembled(words.subspan(begin, end - begin));
  };
  const std::vector<std::string> element = part(code->loop_begin, code->loop_end - 1);
  ArmLoop loop;
  append(loop.instructions, part(code->vectors_begin, code->loop_begin));
  for (unsigned e = 0; e < program.elements; ++e) append(loop.instructions, element);
  append(loop.instructions, part(code->loop_end, code->vectors_end - 1));
  loop.interactions = 2.0 * code->copies * program.elements * program.group;
  return loop;
}

std::size_t spills_for_arm(const std::string& name, bool floats) {
  namespace a64 = jit::arm64::a64;
  constexpr a64::Word base = 4U << 5;  // of spilled values
  const native::Arm64Code code = native_code(Kernel::builtin(name), floats);
  return static_cast<std::size_t>(std::ranges::count_if(loop_of(code), [](std::uint32_t word) {
    const std::uint32_t access = word & 0xffc003e0;
    return access == (a64::ldr_q.scaled | base) || access == (a64::str_q.scaled | base);
  }));
}

}  // namespace gdr::bench
