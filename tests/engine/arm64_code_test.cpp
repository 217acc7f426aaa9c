// Machine code for arm64, which any host can generate: the words of instructions, and the loops of
// kernels.
#include <algorithm>
#include <bit>
#include <cmath>
#include <filesystem>
#include <numbers>
#include <stdexcept>
#include <string>
#include <vector>

#include "emulator/assembler/assembler.hpp"
#include "emulator/engine/jit/arm64/assembler.hpp"
#include "emulator/engine/native/program/compiled_section.hpp"
#include "emulator/engine/native/program/program.hpp"
#include "emulator/engine/vector/doubles/codegen/arm64/assemble.hpp"
#include "emulator/host/float_mode.hpp"
#include "engine/jit_interpreter.hpp"
#include "engine/trace_builder.hpp"
#include "support/catch.hpp"

namespace gdr {
namespace {

using jit::arm64::Assembler;
using jit::arm64::Label;
namespace a64 = jit::arm64::a64;

/// An instruction as the GNU assembler 2.40 writes it, and its word from there.
struct Known {
  const char* text;
  std::uint32_t word;
};

/// The words of `emit`, compared with those of the GNU assembler.
template <typename Emit>
void check_words(const std::vector<Known>& known, Emit emit) {
  Assembler a;
  emit(a);
  REQUIRE(a.words().size() == known.size());
  for (std::size_t k = 0; k < known.size(); ++k) {
    INFO(known[k].text);
    CHECK(a.words()[k] == known[k].word);
  }
}

TEST_CASE("vector instructions of arm64 have the words of the GNU assembler") {
  check_words(
      {
          {"fadd v1.2d, v2.2d, v3.2d", 0x4e63d441},
          {"fmls v1.4s, v2.4s, v3.4s", 0x4ea3cc41},
          {"frsqrts v1.2d, v2.2d, v3.2d", 0x4ee3fc41},
          {"fcmgt v1.2d, v2.2d, v3.2d", 0x6ee3e441},
          {"fcmge v1.2d, v2.2d, v3.2d", 0x6e63e441},
          {"fmul v1.4s, v2.4s, v19.s[0]", 0x4f939041},
          {"fmla v1.2d, v2.2d, v19.d[0]", 0x4fd31041},
          {"fmls v1.4s, v2.4s, v19.s[0]", 0x4f935041},
          {"cmhs v1.4s, v2.4s, v3.4s", 0x6ea33c41},
          {"ushl v1.2d, v2.2d, v3.2d", 0x6ee34441},
          {"fcvtzs v1.4s, v2.4s", 0x4ea1b841},
          {"frintm v1.2d, v2.2d", 0x4e619841},
          {"bif v1.16b, v2.16b, v3.16b", 0x6ee31c41},
          {"shl v1.2d, v2.2d, #5", 0x4f455441},
          {"ushr v1.4s, v2.4s, #1", 0x6f3f0441},
          {"sshr v1.2d, v2.2d, #63", 0x4f410441},
          {"smov x1, v2.s[3]", 0x4e1c2c41},
          {"mov v1.d[1], x2", 0x4e181c41},
          {"ld1r {v1.4s}, [x2]", 0x4d40c841},
          {"ld1r {v1.2d}, [x2]", 0x4d40cc41},
      },
      [](Assembler& a) {
        a.three(a64::fadd | a64::of_doubles, 1, 2, 3);
        a.three(a64::fmls, 1, 2, 3);
        a.three(a64::frsqrts | a64::of_doubles, 1, 2, 3);
        a.three(a64::fcmgt | a64::of_doubles, 1, 2, 3);
        a.three(a64::fcmge | a64::of_doubles, 1, 2, 3);
        a.three(a64::fmul_lane, 1, 2, 19);
        a.three(a64::fmla_lane | a64::of_doubles, 1, 2, 19);
        a.three(a64::fmls_lane, 1, 2, 19);
        a.three(a64::cmhs, 1, 2, 3);
        a.three(a64::ushl | a64::of_doubles, 1, 2, 3);
        a.two(a64::fcvtzs, 1, 2);
        a.two(a64::frintm | a64::of_doubles, 1, 2);
        a.three(a64::bif, 1, 2, 3);
        a.shift(a64::shl, 1, 2, 5, 64);
        a.shift(a64::ushr, 1, 2, 1, 32);
        a.shift(a64::sshr, 1, 2, 63, 64);
        a.lane(a64::smov_s, 1, 2, 3, false);
        a.lane(a64::ins_d, 1, 2, 1, true);
        a.two(a64::ld1r_s, 1, 2);
        a.two(a64::ld1r_d, 1, 2);
      });
}

TEST_CASE("addresses and numbers of arm64 that do not fit an instruction take several") {
  check_words(
      {
          {"str q1, [x2, #65520]", 0x3dbffc41},
          {"ldur q1, [x2, #-16]", 0x3cdf0041},
          {"ldr s1, [x2, #8]", 0xbd400841},
          {"stur q1, [x2, #8]", 0x3c808041},
          {"sub x16, x2, #0x1, lsl #12", 0xd1400450},
          {"ldr q1, [x16]", 0x3dc00201},
          {"add x1, x2, #0x3, lsl #12", 0x91400c41},
          {"add x1, x1, #0x7", 0x91001c21},
          {"mov x17, #-3", 0x92800051},
          {"movk x17, #0xfdff, lsl #16", 0xf2bfbff1},
          {"add x1, x2, x17", 0x8b110041},
          {"mov x1, #0x9abc", 0xd2935781},
          {"movk x1, #0x5678, lsl #16", 0xf2aacf01},
          {"movk x1, #0x1234, lsl #32", 0xf2c24681},
      },
      [](Assembler& a) {
        a.access(a64::str_q, 1, 2, 65520);
        a.access(a64::ldr_q, 1, 2, -16);
        a.access(a64::ldr_s, 1, 2, 8);
        a.access(a64::str_q, 1, 2, 8);
        a.access(a64::ldr_q, 1, 2, -4096);
        a.add(1, 2, 3 * 4096 + 7);
        a.add(1, 2, -(1 << 25) - 3);
        a.constant(1, 0x123456789abc);
      });
}

/// What the steps of a trace leave in rows of four lanes, by the IR for an instruction set.
std::vector<double> rows_of(const codegen::Trace& trace, Isa isa, std::vector<double> rows,
                            std::size_t* differences) {
  const jit::VectorTarget target = jit::vector_target(isa, false);
  jit::ConstantPool pool(target, codegen::base_constants);
  const jit::Block block = codegen::to_ir(trace, target, {4 / target.lanes(), 1}, pool).element;
  std::vector<std::uint8_t> constants = pool.bytes();
  std::vector<std::byte*> bases(codegen::base_count);
  bases[codegen::base_element] = reinterpret_cast<std::byte*>(rows.data());
  bases[codegen::base_constants] = reinterpret_cast<std::byte*>(constants.data());
  test::JitInterpreter(target, bases).run(block);
  *differences =
      static_cast<std::size_t>(std::ranges::count_if(block.code, [](const jit::Operation& o) {
        return o.op == jit::Op::Fma && o.detail == jit::negate_addend;
      }));
  return rows;
}

TEST_CASE("numbers rounded to shorts have the same bits in the steps for arm64") {
  test::TraceBuilder b;
  b.trace.row_bytes = 4 * sizeof(double);
  codegen::Step far;
  far.bits = std::bit_cast<std::uint64_t>(0x1p28);
  const codegen::StepId c = b.add(far), x = b.row(0);
  const auto rounded = [&](codegen::StepId v) {
    const codegen::StepId inner = b.step(jit::Op::Fma, v, c, v, jit::negate_addend);
    return b.step(jit::Op::Fma, v, c, inner, jit::negate_addend);
  };
  b.store(1, rounded(x));
  b.store(2, rounded(b.step(jit::Op::Mul, x, x)));

  constexpr double tie = 1 + 0x1p-25;
  for (const std::vector<double>& numbers :
       {std::vector{0.0, -0.0, tie, -tie},
        std::vector{tie + 0x1p-24, tie + 0x1p-52, 1e100, -1e-100},
        std::vector{std::numbers::pi, -1 / 3.0, 0x1.ffffffffffffp0, 0x1p-1000}}) {
    std::vector<double> rows(12);
    std::ranges::copy(numbers, rows.begin());
    std::size_t with_avx2 = 0, with_neon = 0;
    const std::vector<double> expected = rows_of(b.trace, Isa::Avx2, rows, &with_avx2);
    const std::vector<double> made = rows_of(b.trace, Isa::Neon, rows, &with_neon);
    CHECK(with_avx2 == 4);
    CHECK(with_neon == 0);
    for (std::size_t k = 0; k < rows.size(); ++k) {
      CAPTURE(k, expected[k], made[k]);
      CHECK(std::bit_cast<std::uint64_t>(expected[k]) == std::bit_cast<std::uint64_t>(made[k]));
    }
    if (numbers[2] == tie) CHECK(made[6] == 1);  // ties to even
  }
}

TEST_CASE("-0 of a sum that is flushed keeps its sign in the steps for arm64") {
  test::TraceBuilder b;
  b.trace.row_bytes = 4 * sizeof(double);
  codegen::Step far;
  far.bits = std::bit_cast<std::uint64_t>(0x1p28);
  const codegen::StepId c = b.add(far), x = b.row(0), y = b.row(1);
  // A square is never -0, the sum with it is, where it is flushed to a zero of its sign.
  const codegen::StepId sum = b.step(jit::Op::Add, b.step(jit::Op::Mul, x, x), y);
  const codegen::StepId inner = b.step(jit::Op::Fma, sum, c, sum, jit::negate_addend);
  b.store(2, b.step(jit::Op::Fma, sum, c, inner, jit::negate_addend));

  std::vector<double> rows(12);
  rows[0] = 0x1p-511;
  rows[1] = rows[2] = rows[3] = 1;
  rows[4] = -0x1.8p-1022;
  rows[5] = -1;
  rows[6] = -1 - 0x1p-52;
  rows[7] = 0.5;
  const MachineFloatMode mode;
  std::size_t unused = 0;
  const std::vector<double> expected = rows_of(b.trace, Isa::Avx2, rows, &unused);
  const std::vector<double> made = rows_of(b.trace, Isa::Neon, rows, &unused);
  CHECK(std::signbit(expected[8]));
  CHECK(expected[8] == 0);
  for (std::size_t k = 8; k < rows.size(); ++k) {
    CAPTURE(k, expected[k], made[k]);
    CHECK(std::bit_cast<std::uint64_t>(expected[k]) == std::bit_cast<std::uint64_t>(made[k]));
  }
}

TEST_CASE("a tiny negative constant that is flushed keeps its sign in the steps for arm64") {
  for (const double tiny : {-0x1p-1060, -0.0, 0x1p-1060, -1 - 0x1p-52}) {
    test::TraceBuilder b;
    b.trace.row_bytes = 4 * sizeof(double);
    const auto constant = [&](double x) {
      codegen::Step s;
      s.bits = std::bit_cast<std::uint64_t>(x);
      return b.add(s);
    };
    const codegen::StepId c = constant(0x1p28), x = constant(tiny);
    const codegen::StepId inner = b.step(jit::Op::Fma, x, c, x, jit::negate_addend);
    b.store(0, b.step(jit::Op::Fma, x, c, inner, jit::negate_addend));
    const MachineFloatMode mode;
    std::size_t unused = 0;
    const std::vector<double> rows(4, 7.0);
    const std::vector<double> expected = rows_of(b.trace, Isa::Avx2, rows, &unused);
    const std::vector<double> made = rows_of(b.trace, Isa::Neon, rows, &unused);
    CAPTURE(tiny, expected[0], made[0]);
    CHECK(std::bit_cast<std::uint64_t>(expected[0]) == std::bit_cast<std::uint64_t>(made[0]));
    CHECK(std::signbit(expected[0]) == std::signbit(tiny));
  }
}

TEST_CASE("branches of arm64 reach labels before and behind them") {
  check_words(
      {
          {"b 0x24", 0x14000009},
          {"b.ne 0x0", 0x54ffffe1},
          {"b.lt 0x24", 0x540000eb},
          {"cbz x3, 0x24", 0xb40000c3},
          {"cbnz x3, 0x0", 0xb5ffff83},
          {"tbz w3, #1, 0x24", 0x36080083},
          {"tbz x3, #33, 0x0", 0xb60fff43},
          {"adr x4, 0x24", 0x10000044},
          {"ret", 0xd65f03c0},
      },
      [](Assembler& a) {
        Label begin, end;
        a.bind(begin);
        a.branch(end);
        a.branch(a64::ne, begin);
        a.branch(a64::lt, end);
        a.branch_if_zero(3, end);
        a.branch_unless_zero(3, begin);
        a.branch_if_bit_clear(3, 1, end);
        a.branch_if_bit_clear(3, 33, begin);
        a.address(4, end);
        a.put(a64::ret | 30U << 5);
        a.bind(end);
      });
}

TEST_CASE("a branch of arm64 that is too long is an error") {
  Assembler a;
  Label far;
  a.branch_if_bit_clear(1, 0, far);  // up to 32 KB
  for (int k = 0; k < 8200; ++k) a.put(a64::ret);
  CHECK_THROWS_AS(a.bind(far), std::length_error);
}

const std::string kernels = std::string(GDR_SOURCE_DIR) + "/kernels/";

/// The code of a kernel in a file, whose body is a loop.
native::Arm64Code code_of(const std::string& path, native::Precision precision) {
  const AssembleResult assembled = assemble_file(path);
  REQUIRE(assembled.program);
  const native::Target target{Isa::Neon, precision, native::FloatMode::Plain, false};
  const native::CompiledProgram program(*assembled.program, Geometry{}, target);
  return program.section(Section::Body)->arm64_code();
}

/// Loads and stores of vectors at the base pointer of spilled values, x4.
std::size_t spills_in_loop(const native::Arm64Code& code) {
  const auto begin = code.words.begin();
  return static_cast<std::size_t>(std::count_if(
      begin + static_cast<std::ptrdiff_t>(code.loop_begin),
      begin + static_cast<std::ptrdiff_t>(code.loop_end), [](std::uint32_t word) {
        const std::uint32_t access = word & 0xffc003e0;
        return access == (a64::ldr_q.scaled | 4U << 5) || access == (a64::str_q.scaled | 4U << 5);
      }));
}

TEST_CASE("loops of gravity, its jerk and Lennard-Jones spill no register of arm64") {
  for (const char* kernel :
       {"particle/gravity.gds", "compiled/gravity_jerk.gds", "compiled/lennard_jones.gds"}) {
    for (const native::Precision precision :
         {native::Precision::Double, native::Precision::Float}) {
      INFO(kernel << (precision == native::Precision::Double ? ", doubles" : ", floats"));
      const native::Arm64Code code = code_of(kernels + kernel, precision);
      CHECK(code.loop_end > code.loop_begin + 20);
      CHECK(spills_in_loop(code) == 0);
    }
  }
}

TEST_CASE("every kernel of the library has a loop for arm64 that spills no register") {
  std::size_t count = 0;
  for (const auto& file : std::filesystem::directory_iterator(kernels + "compiled")) {
    if (file.path().extension() != ".gds") continue;
    INFO(file.path().filename());
    ++count;
    const native::Arm64Code code = code_of(file.path().string(), native::Precision::Double);
    CHECK(code.loop_end > code.loop_begin + 20);
    CHECK(code.loop_end < code.words.size());
    CHECK(spills_in_loop(code) == 0);
    CHECK(spills_in_loop(code_of(file.path().string(), native::Precision::Float)) == 0);
  }
  CHECK(count >= 20);
}

TEST_CASE("the exact engine has code for arm64 of kernels on whole blocks") {
  for (const char* kernel :
       {"particle/gravity.gds", "compiled/gravity_jerk.gds", "compiled/lennard_jones.gds"}) {
    INFO(kernel);
    const AssembleResult assembled = assemble_file(kernels + kernel);
    REQUIRE(assembled.program);
    const std::optional<codegen::Arm64Code> code = codegen::arm64_code_of_body(*assembled.program);
    REQUIRE(code);
    CHECK(code->vectors_begin < code->loop_begin);
    CHECK(code->loop_end > code->loop_begin + 100);
    CHECK(code->vectors_end > code->loop_end);
    CHECK(code->words.size() > code->vectors_end);
  }
}

}  // namespace
}  // namespace gdr
