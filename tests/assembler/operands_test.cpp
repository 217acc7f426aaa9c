// Operands, destinations and immediates: the instruction has the fields that the text specifies.
#include <mpfr.h>

#include <random>

#include "assembler/support.hpp"

namespace gdr::test {
namespace {

Arithmetic alu_of(const std::string& line, const std::string& before = {}) {
  return instruction_of(line, before).alu;
}
Operand a_of(const std::string& operand, const std::string& before = {}) {
  return alu_of("fadd $lr0 " + operand + " $lr2", before).a;
}

/// A decimal literal as a long or short, by MPFR: rounded once to 61 or 25 bits.
u128 bits_by_mpfr(const std::string& text, bool is_long) {
  mpfr_t x;
  mpfr_init2(x, is_long ? 61 : 25);
  mpfr_set_str(x, text.c_str(), 10, MPFR_RNDN);
  const unsigned fraction = is_long ? 60 : 24;
  if (mpfr_zero_p(x)) return 0;
  mpz_t digits;
  mpz_init(digits);
  const mpfr_exp_t exponent = mpfr_get_z_2exp(digits, x) + fraction + 1023;
  const u128 kept = mpz_get_ui(digits) & ((u128{1} << fraction) - 1);
  mpz_clear(digits);
  mpfr_clear(x);
  return (static_cast<u128>(exponent) << fraction) | kept;
}

}  // namespace

TEST_CASE("locations are parsed") {
  CHECK(a_of("$r5") == Operand{Space::Register, Width::Short, false, 5});
  CHECK(a_of("$lr6v") == Operand{Space::Register, Width::Long, true, 6});
  CHECK(a_of("$m7v") == Operand{Space::Local, Width::Short, true, 7});
  CHECK(a_of("$lm8") == Operand{Space::Local, Width::Long, false, 8});
  CHECK(a_of("$lm[$t]") == Operand{Space::LocalByT, Width::Long});
  CHECK(a_of("$m[$t:16..31]") == Operand{Space::LocalByT, Width::Short, false, 0, 16, 31});
  CHECK(a_of("$t") == Operand{Space::T, Width::Long});
  CHECK(a_of("$tl") == Operand{Space::T, Width::Short, false, 1});
  CHECK(a_of("$pe") == Operand{Space::PeNumber, Width::Long});
  CHECK(a_of("$bb") == Operand{Space::BlockNumber, Width::Long});
}

TEST_CASE("names and suffixes are parsed") {
  const std::string d =
      "ivar long x y f64to72\njvar long p q f64to72\n.group 1\ntmp short s at $r40v\n";
  CHECK(a_of("x", d) == Operand{Space::Local, Width::Long, true, 0});
  CHECK(a_of("y", d) == Operand{Space::Local, Width::Long, true, 8});
  CHECK(a_of("y.s", d) == Operand{Space::Local, Width::Long, false, 8});
  CHECK(a_of("y[2]", d) == Operand{Space::Local, Width::Long, false, 12});
  CHECK(a_of("y[2].lo", d) == Operand{Space::Local, Width::Short, false, 13});
  CHECK(a_of("s", d) == Operand{Space::Register, Width::Short, true, 40});
  CHECK(instruction_of("bget $lr0 q", d).move.bm ==
        Operand{Space::BmSource, Width::Long, false, 4 - 2});
}

TEST_CASE("quoted keywords are names") {
  const std::string d =
      "ivar long \"long\" \"at\" x f64to72\njvar long \"f64to72\" f64to72\nalias \"fadd\" = "
      "$lr8v\n";
  CHECK(a_of("\"at\"", d) == Operand{Space::Local, Width::Long, true, 8});
  CHECK(a_of("\"at\"[2].lo", d) == Operand{Space::Local, Width::Short, false, 13});
  CHECK(a_of("\"x\"", d) == Operand{Space::Local, Width::Long, true, 16});
  CHECK(alu_of("fadd \"fadd\" x $lr16v", d).dst == Operand{Space::Register, Width::Long, true, 8});
  CHECK(instruction_of("bget $lr0 \"f64to72\"", d).move.bm ==
        Operand{Space::BmSource, Width::Long, false, 0});
  CHECK(codes_of("ivar long at f64to72\n") != std::vector<unsigned>{});
  CHECK(codes_of("alias fadd = $lr8v\n") == std::vector<unsigned>{2002});
  CHECK(codes_of("ivar long \"3x\" f64to72\n") == std::vector<unsigned>{2003});
  CHECK(codes_of("ivar long \"\" f64to72\n") == std::vector<unsigned>{2003});
  CHECK(codes_of(".body\n  fadd $lr0 \"at $lr2\n").size() == 1);
}

TEST_CASE("NAME@K is offset by whole items, including later declarations") {
  const Program p = assembled(
      ".group 2\njvar long a f64to72 pad 0\nalias a1 = a@1\n.body\nbget $lr0 a@1\njvar short b c d "
      "f64to36\n");
  CHECK(p.item_shorts == 6);
  CHECK(p.section(Section::Body)[0].move.bm.address == 6);
  CHECK(p.symbols[0].location.address == 6);
}

TEST_CASE("destinations are parsed") {
  const Arithmetic all = alu_of("fadd $r4v:$th:m3.zero $r8v $r12v");
  CHECK(all.dst == Operand{Space::Register, Width::Short, true, 4});
  CHECK(all.t == TTarget::Upper);
  CHECK(all.mask == MaskTarget{MaskFlag::Zero, 3});
  CHECK(all.width == Width::Short);
  const Arithmetic mask = alu_of("fsub m0.neg $r8v $r12v");
  CHECK((!mask.dst.used() && mask.width == Width::Long));
  CHECK(alu_of("fsub $null:m0.neg $r8v $r12v").width == Width::Short);
  const Arithmetic t = alu_of("fadd $t $r8v $r12v");
  CHECK((t.dst.space == Space::T && t.t == TTarget::None));
  const Arithmetic second = alu_of("fadd $lnull:$t $r8v $r12v");
  CHECK((!second.dst.used() && second.t == TTarget::Whole));
  const Instruction predicated = instruction_of("[!m2] nop");
  CHECK(
      (predicated.predicate.used && !predicated.predicate.value && predicated.predicate.mask == 2));
}

TEST_CASE("immediates have the documented format") {
  const auto imm = [](const std::string& op, const std::string& dst, const std::string& number) {
    const Arithmetic x = alu_of(op + " " + dst + " " + number + " $lr2");
    return std::pair(x.a.width, x.immediate.bits);
  };
  using P = std::pair<Width, u128>;
  CHECK((imm("fadd", "$lr0", "1.5") == P{Width::Short, 0x3ff800000}));
  CHECK((imm("fadd", "$lr0", "-1.5") == P{Width::Short, 0xbff800000}));
  CHECK((imm("fadd", "$r0", "0.1").first == Width::Long));
  CHECK((imm("fadd", "$lr0", "1.5l") == P{Width::Long, u128{0x3ff8000000000000} << 8}));
  CHECK((imm("fadd", "$lr0", "0x3ff800000") == P{Width::Short, 0x3ff800000}));
  CHECK((imm("iadd", "$lr0", "-1") == P{Width::Long, Long::mask}));
  CHECK((imm("iadd", "$r0", "-1") == P{Width::Short, Short::mask}));
  CHECK((imm("iadd", "$r0", "0x10") == P{Width::Short, 16}));
  CHECK((imm("iadd", "$r0", "1.5") == P{Width::Short, 0x3ff800000}));
  CHECK((imm("iadd", "$lr0", "(3*5-1)") == P{Width::Long, 14}));
  CHECK(codes_of(".body\niadd $r0 68719476736 $r2\n") == std::vector<unsigned>{3013});
  CHECK(codes_of(".body\nfadd $r0 1e-400 $r2\n") == std::vector<unsigned>{3013});
}

TEST_CASE("decimal literals are rounded correctly (oracle: MPFR)") {
  std::mt19937_64 random(7);
  std::vector<std::string> texts = {"0.1",
                                    "1e-300",
                                    "1.797e308",
                                    "2.2250738585072014e-308",
                                    "9007199254740993",
                                    "1152921504606846975.5",
                                    "16777217",
                                    "1.0000000298023223876953125",
                                    "1.00000002980232238769531250000000001"};
  for (int i = 0; i < 400; ++i) {
    std::string text = std::to_string(random() % 10) + ".";
    for (auto digits = 1 + random() % 45; digits > 0; --digits)
      text += static_cast<char>('0' + random() % 10);
    text += "1e" + std::to_string(static_cast<int>(random() % 600) - 300);
    texts.push_back(text);
  }
  std::string source = ".body\n";
  for (const std::string& text : texts)
    source += "fadd $lr0v " + text + "l $lr8v\nfadd $r16v " + text + "s $r20v\n";
  const Program program = assembled(source);
  const auto& body = program.section(Section::Body);
  REQUIRE(body.size() == 2 * texts.size());
  for (std::size_t i = 0; i < texts.size(); ++i) {
    INFO(texts[i]);
    CHECK((body[2 * i].alu.immediate.bits == bits_by_mpfr(texts[i], true)));
    CHECK((body[2 * i + 1].alu.immediate.bits == bits_by_mpfr(texts[i], false)));
  }
}

}  // namespace gdr::test
