// The line language of `gdr fp`: valid lines and errors.
#include "libgdr/cli/fp_lines.hpp"

#include <string>
#include <vector>

#include "support/catch.hpp"

namespace {

using gdr::cli::FpLines;

struct Outcome {
  std::string results;
  std::string messages;
};

/// Evaluates a text in chunks of a given size.
Outcome evaluate(std::string_view text, std::size_t piece = std::string::npos) {
  FpLines lines;
  while (!text.empty()) {
    const auto part = text.substr(0, piece);
    lines.feed(part);
    text.remove_prefix(part.size());
  }
  lines.finish();
  CHECK((lines.bad_lines() == 0) == lines.messages.empty());
  return {lines.results, lines.messages};
}

void check_good(std::string_view line, const std::string& result) {
  INFO(line);
  const Outcome got = evaluate(line);
  CHECK(got.results == result + "\n");
  CHECK(got.messages.empty());
}

void check_bad(std::string_view line, const std::string& part) {
  INFO(line);
  const Outcome got = evaluate("\n" + std::string(line) + "\ncvt.s 3ff800000\n");
  CHECK(got.results == "3ff800000 -\n");  // the next line is evaluated
  CHECK(got.messages.substr(0, 8) == "line 2: ");
  CHECK(got.messages.find(part) != std::string::npos);
  CHECK(got.messages.find('\n') == got.messages.size() - 1);
  for (const char c : got.messages) CHECK((c == '\n' || (c >= ' ' && c <= '~')));
}

}  // namespace

TEST_CASE("valid lines give results", "[fp]") {
  check_good("fmul.s 3ff800000 3ff800000", "400200000 -");
  check_good("fmul.s 3ff800000 3ff800000\n", "400200000 -");
  check_good("fmul.s 3ff800000 3ff800000\r\n", "400200000 -");
  check_good(" \tfmul.l\t 3FF800000   3ff800000000000000 \t\r\n", "400200000000000000 -");
  check_good("cvt.d 3ff800000", "3ff8000000000000 -");
  check_good("cvt.l 3ff8000000000000", "3ff800000000000000 -");
  check_good("cvt.d 3ff8000000000000", "3ff8000000000000 -");
  check_good("cvt.l 000fffffffffffff", "000000000000000000 -");
  check_good("cvt.d fff8000000000001", "7ff8000000000000 -");
  check_good("cvt.s 7fefffffffffffff", "7ff000000 o");
  check_good("fsub.l 7ff000000 7ff000000", "7ff800000000000000 i");
  check_good("fmul.s 801000000 3fe000000", "800000000 u");
  check_good("fmax.s 800000000 000000000", "000000000 -");
  check_good("fmin.s 800000000 000000000", "800000000 -");
  check_good("dmul.l 800000000 3ff000000", "800000000000000000 -");
}

TEST_CASE("blank lines give no result but count", "[fp]") {
  const Outcome got = evaluate("\n \t \r\n\r\n\nnonsense\n\n");
  CHECK(got.results.empty());
  CHECK(got.messages.substr(0, 7) == "line 5:");
  CHECK(evaluate("").messages.empty());
  CHECK(evaluate("\r").messages.empty());
}

TEST_CASE("invalid lines are reported, and reading continues", "[fp]") {
  check_bad("nonsense", "'nonsense' is no operation");
  check_bad("FMUL.s 3ff800000 3ff800000", "is no operation");
  check_bad("fmul 3ff800000 3ff800000", "the format of 'fmul'");
  check_bad("fmul. 3ff800000 3ff800000", "the format of");
  check_bad("fmul.x 3ff800000 3ff800000", "the format of");
  check_bad("fmul.ss 3ff800000 3ff800000", "the format of");
  check_bad("fmul.s.l 3ff800000 3ff800000", "the format of");
  check_bad("fmul.d 3ff800000 3ff800000", "the format of");
  check_bad(".s 3ff800000 3ff800000", "is no operation");
  check_bad("fmul.s", "takes 2 operands, here are 0");
  check_bad("fmul.s 3ff800000", "takes 2 operands, here is 1");
  check_bad("cvt.s", "takes 1 operand, here are 0");
  check_bad("cvt.s 3ff800000 3ff800000", "follows the last operand");
  check_bad("fadd.s 3ff800000 3ff800000 -", "follows the last operand");
  check_bad("fadd.s 3ff800000 3ff80000", "8 characters");
  check_bad("fadd.s 3ff800000 3ff8000000000000", "only cvt takes a double");
  check_bad("fadd.s 3ff800000 0x3ff8000", "no hex digit");
  check_bad("fadd.s 3ff800000 3ff80000g", "no hex digit");
  check_bad("fadd.s 3ff800000 -3ff80000", "no hex digit");
  check_bad("fadd.s 3ff800000,3ff800000", "characters");
  check_bad(std::string_view("fadd.s 3ff800000 3ff80000\0", 26), "no hex digit");
  check_bad(std::string_view("\0", 1), "'\\x00' is no operation");
  check_bad("fadd.s\v3ff800000\v3ff800000", "the format of");
  check_bad("\xff\xfe\x1b[31m", "'\\xff\\xfe\\x1b[31m'");
  check_bad("fadd.s 3ff800000\r3ff800000", "characters");
  check_bad(std::string(1000, 'a'), "aaa...' is no operation");
}

TEST_CASE("long and overlong lines are handled at any buffer boundary", "[fp]") {
  const std::string line = "cvt.s 3ff800000";
  const std::string longest = std::string(FpLines::max_line - line.size(), ' ') + line;
  for (const std::size_t piece : {std::size_t{1}, std::size_t{1000}, std::string::npos}) {
    CHECK(evaluate(longest + "\n" + line, piece).results == "3ff800000 -\n3ff800000 -\n");
    const Outcome got = evaluate(" " + longest + "\n" + line + "\n", piece);
    CHECK(got.results == "3ff800000 -\n");
    CHECK(got.messages == "line 1: longer than 4096 characters\n");
  }
  const std::string endless(5'000'000, '3');
  CHECK(evaluate(endless, 4096).messages == "line 1: longer than 4096 characters\n");
}

TEST_CASE("results do not depend on the chunks of the input", "[fp]") {
  std::string text;
  for (const char* line : {"fadd.l 3ff000000 3ff000001\n", "\r\n", "oops\n", "cvt.d 400000000\r\n",
                           "fmul.s 3ff 3ff\n", "   \n", "fmin.s c00000000 400000000"}) {
    text += line;
  }
  const Outcome whole = evaluate(text);
  CHECK(whole.results == "400000000800000000 -\n4000000000000000 -\nc00000000 -\n");
  for (std::size_t piece = 1; piece < text.size(); ++piece) {
    const Outcome got = evaluate(text, piece);
    REQUIRE(got.results == whole.results);
    REQUIRE(got.messages == whole.messages);
  }
}
