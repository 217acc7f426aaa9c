// The command `gdr selftest`: counts, JSON, usage errors.
#include <algorithm>
#include <nlohmann/json.hpp>
#include <string>

#include "cli/shell.hpp"
#include "libgdr/cli/selftest_report.hpp"
#include "support/catch.hpp"

namespace gdr::test {
namespace {

/// A constructed outcome with a difference.
selftest::Outcome outcome_with_failure() {
  selftest::Outcome outcome;
  outcome.counts = {{"operations", 2, 12288}};
  selftest::Failure f;
  f.category = "operations";
  f.seed = 44;
  f.engine = "vector";
  f.isa = Isa::Avx2;
  f.what = "fadd sll, vlen 4";
  f.first.text = "vlen 4; fadd $r0v $lr8v $lr16v";
  f.first.alone = true;
  f.first.memory = "register";
  f.first.place = "$r3";
  f.first.pe = 7;
  f.first.address = 3;
  f.first.element = 3;
  f.first.expected = {0x3ff800000};
  f.first.got = {0x3ff800001};
  f.in_shrunk = f.first;
  f.shrunk.state.pes = 1;
  f.shrunk.program.name = "operation";
  outcome.failure = f;
  return outcome;
}

}  // namespace

TEST_CASE(
    "the report of a difference has engine, position, words and the command to reproduce it") {
  const std::vector<std::unique_ptr<Engine>> none;
  const selftest::Outcome outcome = outcome_with_failure();
  const std::string text = cli::selftest_text({42, none, outcome});
  INFO(text);
  for (const char* part :
       {"vector/avx2 leaves another state than reference", "PE 7, element 3, $r3",
        "reference  3ff800000 = 1.5", "vector     3ff800001",
        "gdr selftest --only operations --seed 44 --cases 1 --isa avx2"})
    CHECK(text.find(part) != std::string::npos);

  const auto json = nlohmann::json::parse(cli::selftest_json({42, none, outcome}));
  CHECK(json["same"] == false);
  CHECK(json["failure"]["first"]["pe"] == 7);
  CHECK(json["failure"]["first"]["element"] == 3);
  CHECK(json["failure"]["first"]["reference"] == "3ff800000 = 1.5");
  CHECK(json["failure"]["repeat"] ==
        "gdr selftest --only operations --seed 44 --cases 1 --isa avx2");
}

TEST_CASE("gdr selftest counts equal programs") {
  const Shell shell;
  const Outcome text = shell.run("gdr selftest --cases 3 --isa portable");
  INFO(text.out << text.err);
  CHECK(text.status == 0);
  CHECK(text.err.empty());
  CHECK(text.out.find("vector/portable against reference, seed 1") == 0);
  for (const char* kind : {"operations", "programs", "loops", "kernels"})
    CHECK(text.out.find(std::string("\n  ") + kind) != std::string::npos);
}

TEST_CASE("gdr selftest --json contains engines and counts") {
  const Shell shell;
  const Outcome run = shell.run("gdr selftest --cases 4 --seed 11 --only loops --json");
  REQUIRE(run.status == 0);
  const auto json = nlohmann::json::parse(run.out);
  CHECK(json["seed"] == 11);
  CHECK(json["same"] == true);
  CHECK(json["engines"].back()["isa"] == "portable");
  REQUIRE(json["counts"].size() == 1);
  CHECK(json["counts"][0]["category"] == "loops");
  CHECK(json["counts"][0]["programs"] == 4);
  CHECK(json["counts"][0]["operations"].get<double>() > 0);
}

TEST_CASE("gdr selftest --states gives the same hashes with every instruction set") {
  const Shell shell;
  const std::string command = "gdr selftest --states - --cases 20 --seed 5";
  const Outcome all = shell.run(command);
  REQUIRE(all.status == 0);
  CHECK(all.out.starts_with("operations 5 "));
  CHECK(all.out.find("\nloops 24 ") != std::string::npos);
  CHECK(std::ranges::count(all.out, '\n') == 60);
  CHECK(shell.run(command + " --isa portable").out == all.out);
  const Outcome one = shell.run("gdr selftest --states - --cases 1 --seed 24 --only loops");
  CHECK(all.out.ends_with(one.out));
  CHECK(shell.run("gdr selftest --states - --only kernels").status == 2);
}

TEST_CASE("GDR_ISA selects the instruction set of gdr selftest") {
  const Shell shell;
  const auto json =
      nlohmann::json::parse(shell.run("GDR_ISA=portable gdr selftest --cases 1 --json").out);
  CHECK(json["engines"].size() == 1);
}

TEST_CASE("gdr selftest refuses invalid options") {
  const Shell shell;
  CHECK(shell.run("gdr selftest --minutes 0").status == 2);
  CHECK(shell.run("gdr selftest --minutes nan").status == 2);
  const Outcome kind = shell.run("gdr selftest --only loop");
  CHECK(kind.status == 2);
  CHECK(kind.err.find("there are operations, programs, loops and kernels") != std::string::npos);
  CHECK(shell.run("gdr selftest --isa mmx").status == 2);
}

}  // namespace gdr::test
