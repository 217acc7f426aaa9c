// The disassembly of any program assembles to the same object.
#include <string>

#include "emulator/assembler/assembler.hpp"
#include "emulator/assembler/object.hpp"
#include "support/catch.hpp"
#include "support/random_program.hpp"

namespace {

using namespace gdr;
using namespace gdr::test;

/// Assembles the disassembly and compares the objects; reports the text if they differ.
void check_round_trip(const Program& program) {
  const std::string text = disassemble(program);
  const AssembleResult again = assemble(text, "disassembly");
  if (!again.ok()) FAIL(again.diagnostics.render() << text);
  if (write_object(*again.program) != write_object(program)) {
    FAIL("another object\n" << text << "comes back as\n" << disassemble(*again.program));
  }
}

TEST_CASE("the disassembly of any program assembles to the same object") {
  for (std::uint64_t seed = 0; seed < 1500; ++seed) {
    INFO("seed " << seed);
    Program program = selftest::program_case(seed, seed % 4 != 0).program;
    Rng rng(seed);
    add_interface(program, rng);
    check_round_trip(program);
  }
}

TEST_CASE("the disassembly of every immediate assembles to the same object") {
  Rng rng(1);
  Program program;
  auto& body = program.section(Section::Body);
  for (unsigned n = 0; n < 4000; ++n) {
    const Long word = selftest::difficult_word(rng);
    Instruction i;
    const Width width = rng.pick({Width::Short, Width::Long});
    i.alu.op = rng.pick({Op::Fadd, Op::Iadd, Op::Fmax, Op::Ishl});
    i.alu.width = rng.pick({Width::Short, Width::Long});
    i.alu.dst = {Space::Register, i.alu.width, true, 0};
    i.alu.a = {Space::Immediate, width, false, 0};
    i.alu.b = {Space::Register, Width::Long, true, 16};
    i.alu.immediate = width == Width::Long ? word : Long{upper_half(word).bits};
    body.push_back(i);
  }
  check_round_trip(program);
}

TEST_CASE("long immediates of doubles with few decimal digits keep their bits") {
  Program program;
  auto& body = program.section(Section::Body);
  for (const double value : {0.1, 0.3, 1.0 / 3, 1e-5, 2e22, 1e23, 123.456, 0.5, 1e300, 3.0, 0.0})
    for (const Width width : {Width::Short, Width::Long}) {
      Instruction i;
      i.alu.op = Op::Fadd;
      i.alu.width = Width::Long;
      i.alu.dst = {Space::Register, Width::Long, true, 0};
      i.alu.a = {Space::Immediate, width, false, 0};
      i.alu.b = {Space::Register, Width::Long, true, 16};
      Flags flags = no_flags;
      i.alu.immediate = width == Width::Long
                            ? long_from_double(value)
                            : Long{upper_half(short_from_double(value, flags)).bits};
      body.push_back(i);
    }
  check_round_trip(program);
  CHECK(disassemble(program).find(".unchecked") == std::string::npos);
}

TEST_CASE(
    "the disassembly of an assembled program needs neither .unchecked nor further idle clocks") {
  const std::string source = R"(
.kernel sum
.flops 3
ivar long xi f64to72
jvar long xj f64to72
jvar short mj f64to36
param long eps f64to72
fvar long acc f64to72 fadd at $lr32v
tmp long d
alias m = $r40
.start
  ipass acc 0
.body
  bget $lr8 xj
  bget m mj
  vlen 2
  fsub $lr16v $lr8 xi
  vlen 4
  fsub $lr24v $lr8 xi
  fmul d $lr24v m
  fcvt $lr16v d
  fadd acc acc $lr16v
.end
  fcvt d acc
)";
  const AssembleResult result = assemble(source, "sum.gds");
  INFO(result.diagnostics.render());
  REQUIRE(result.ok());
  const std::string text = disassemble(*result.program);
  INFO(text);
  CHECK(text.find(".unchecked") == std::string::npos);
  CHECK(text.find("fadd acc acc $lr16v") != std::string::npos);
  CHECK(text.find("bget m mj") != std::string::npos);
  CHECK(text.find("# clock 0\n") != std::string::npos);
  CHECK(text.find(".file 0 \"sum.gds\"") != std::string::npos);
  check_round_trip(*result.program);
}

TEST_CASE("instructions are converted to text") {
  Instruction i;
  CHECK(to_text(i) == "nop");
  i.predicate = {true, false, 2};
  CHECK(to_text(i) == "[!m2] nop");
  i.mul.op = Op::Fmul;
  i.mul.dst = {Space::Register, Width::Long, true, 6};
  i.mul.a = {Space::Local, Width::Long, false, 8};
  i.mul.b = {Space::Immediate, Width::Short, false, 0};
  i.mul.immediate = Long{0x3ff800000};
  i.alu.op = Op::Isub;
  i.alu.width = Width::Short;
  i.alu.t = TTarget::Lower;
  i.alu.mask = {MaskFlag::Carry, 7};
  i.alu.a = {Space::LocalByT, Width::Short, false, 0, 3, 9};
  i.alu.b = {Space::PeNumber, Width::Long, false, 0};
  i.move.op = Op::Bput;
  i.move.pe = {Space::T, Width::Short, false, 0};
  i.move.bm = {Space::BmOutput, Width::Short, true, 5};
  i.move.pe_number = 31;
  CHECK(to_text(i) ==
        "[!m2] fmul $lr6v $lm8 1.5s ; isub $null:$tl:m7.carry $m[$t:3..9] $pe ; bput $o5v $th 31");
}

}  // namespace
