// `gdr selftest` from outside: counts, JSON, wrong usage.
#include <nlohmann/json.hpp>
#include <string>

#include "cli/shell.hpp"
#include "support/catch.hpp"

namespace gdr::test {

TEST_CASE("gdr selftest counts what was the same") {
  const Shell shell;
  const Outcome text = shell.run("gdr selftest --cases 3 --isa portable");
  INFO(text.out << text.err);
  CHECK(text.status == 0);
  CHECK(text.err.empty());
  CHECK(text.out.find("vector/portable against reference, seed 1") == 0);
  for (const char* kind : {"operations", "programs", "loops", "kernels"})
    CHECK(text.out.find(std::string("\n  ") + kind) != std::string::npos);
}

TEST_CASE("gdr selftest --json tells engines and counts") {
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

TEST_CASE("GDR_ISA chooses the instruction set that gdr selftest tests") {
  const Shell shell;
  const auto json =
      nlohmann::json::parse(shell.run("GDR_ISA=portable gdr selftest --cases 1 --json").out);
  CHECK(json["engines"].size() == 1);
}

TEST_CASE("gdr selftest refuses what makes no sense") {
  const Shell shell;
  CHECK(shell.run("gdr selftest --minutes 0").status == 2);
  CHECK(shell.run("gdr selftest --minutes nan").status == 2);
  const Outcome kind = shell.run("gdr selftest --only loop");
  CHECK(kind.status == 2);
  CHECK(kind.err.find("there are operations, programs, loops and kernels") != std::string::npos);
  CHECK(shell.run("gdr selftest --isa mmx").status == 2);
}

}  // namespace gdr::test
