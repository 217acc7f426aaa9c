// The program `gdr fp`: random lines against MPFR, interactive use, invalid input, full disks.
#include <algorithm>
#include <array>
#include <cstdio>
#include <iostream>
#include <string>
#include <vector>

#include "emulator/host/stopwatch.hpp"
#include "fp/program.hpp"
#include "support/catch.hpp"
#include "support/float_oracle.hpp"
#include "support/iterations.hpp"
#include "support/oracle_cases.hpp"

namespace {

const std::vector<std::string> command{GDR_COMMAND, "fp"};

}  // namespace

TEST_CASE("gdr fp agrees with MPFR on random and edge lines", "[fp][oracle]") {
  using oracle::Op;
  constexpr std::array ops{Op::Fadd, Op::Fsub, Op::Fmul, Op::Dmul, Op::Fmax, Op::Fmin, Op::Cvt};
  oracle::Cases cases(gdr::test::first_seed());
  oracle::Oracle reference;
  std::uint64_t left = gdr::test::test_iterations(1'000'000);
  const std::uint64_t total = left;
  double seconds = 0;
  while (left > 0) {  // in batches, so that any number of cases fits in memory
    const std::uint64_t batch = std::min<std::uint64_t>(left, 1'000'000);
    left -= batch;
    std::string input;
    std::string expected;
    for (std::uint64_t i = 0; i < batch; ++i) {
      const oracle::Case c = cases.next(ops[i % ops.size()]);
      input += describe(c.op, c.a, c.b, c.out) + "\n";
      const auto result = reference.evaluate(c.op, c.a, c.b, c.out);
      expected += oracle::hex(result.bits, c.out) + " " + result.flags + "\n";
    }
    test::Program program(command);
    const gdr::Stopwatch stopwatch;
    const auto outcome = program.finish(input);
    seconds += stopwatch.seconds();
    CHECK(outcome.status == 0);
    CHECK(outcome.errors.empty());
    if (outcome.output == expected) continue;
    std::size_t at = 0;
    while (at < expected.size() && at < outcome.output.size() &&
           expected[at] == outcome.output[at]) {
      ++at;
    }
    const auto line = std::count(expected.begin(), expected.begin() + static_cast<long>(at), '\n');
    std::size_t begin_line = 0;
    for (long i = 0; i < line; ++i) begin_line = input.find('\n', begin_line) + 1;
    FAIL("first difference at line " << line + 1 << ": " << input.substr(begin_line, 60));
  }
  std::cout << "gdr fp: " << total << " lines, " << static_cast<double>(total) / seconds / 1e6
            << " million lines a second\n";
}

TEST_CASE("gdr fp answers interactively, line by line", "[fp]") {
  test::Program program(command);
  for (int i = 0; i < 3; ++i) {
    program.write("fmul.s 3ff800000 3ff800000\n");
    CHECK(program.read_line() == "400200000 -");
    program.write("cvt.s 3ff8");  // half a line is no line
    program.write("00000\n\n");
    CHECK(program.read_line() == "3ff800000 -");
  }
  const auto outcome = program.finish("");
  CHECK(outcome.status == 0);
  CHECK(outcome.output.empty());
}

TEST_CASE("gdr fp reports invalid lines, continues, and exits with 1", "[fp]") {
  const auto outcome =
      test::Program(command).finish("cvt.s 3ff800000\nwhat\n\nfadd.s 1 2\ncvt.s 400000000");
  CHECK(outcome.output == "3ff800000 -\n400000000 -\n");
  CHECK(outcome.errors.find("line 2: ") != std::string::npos);
  CHECK(outcome.errors.find("line 4: ") != std::string::npos);
  CHECK(outcome.errors.find("line 1: ") == std::string::npos);
  CHECK(outcome.status == 1);
  CHECK(test::Program(command).finish("").status == 0);
}

TEST_CASE("gdr fp handles binary input", "[fp]") {
  oracle::Cases cases(42);
  std::string input;
  for (int i = 0; i < 500'000; ++i) input += static_cast<char>(cases.bits());
  input += "\nfmul.s 3ff800000 3ff800000";
  const auto outcome = test::Program(command).finish(input);
  CHECK(outcome.output == "400200000 -\n");
  CHECK(outcome.status == 1);
}

TEST_CASE("gdr fp reports read and write errors", "[fp]") {
  const auto shell = [](const std::string& redirections) {
    return test::Program({"/bin/sh", "-c", "exec \"" GDR_COMMAND "\" fp " + redirections})
        .finish("cvt.s 3ff800000\n");
  };
  const auto unreadable = shell("< /");
  CHECK(unreadable.status == 1);
  CHECK(unreadable.errors.find("cannot read") != std::string::npos);
  if (std::FILE* full = std::fopen("/dev/full", "w")) {
    std::fclose(full);
    const auto unwritable = shell("> /dev/full");
    CHECK(unwritable.status == 1);
    CHECK(unwritable.errors.find("cannot write") != std::string::npos);
  }
}
