// Every case of every tests/machine/*.gdt, on every engine and instruction set of this host.
#include <algorithm>
#include <filesystem>
#include <fstream>
#include <sstream>

#include "machine/case.hpp"
#include "support/catch.hpp"

namespace {

using namespace gdr::test;

std::vector<std::filesystem::path> case_files() {
  std::vector<std::filesystem::path> files;
  for (const auto& entry : std::filesystem::directory_iterator(GDR_SOURCE_DIR "/tests/machine")) {
    if (entry.path().extension() == ".gdt") files.push_back(entry.path());
  }
  std::sort(files.begin(), files.end());
  return files;
}

std::string text_of(const std::filesystem::path& path) {
  std::ifstream in(path);
  std::ostringstream text;
  text << in.rdbuf();
  return text.str();
}

TEST_CASE("machine cases in text leave the expected state on every engine") {
  std::size_t count = 0;
  for (const auto& file : case_files()) {
    for (const MachineCase& test : parse_cases(text_of(file), file.filename().string())) {
      const std::string wrong = run_machine_case(test);
      if (!wrong.empty()) FAIL_CHECK(wrong);
      ++count;
    }
  }
  CHECK(count >= 200);
}

TEST_CASE("a machine case fails on a wrong word, an unexpected write, and wrong flags") {
  const auto outcome = [](const std::string& text) {
    return run_machine_case(parse_cases(".case x\n" + text, "x.gdt").at(0));
  };
  const std::string program = ".body\n  vlen 1\n  iadd $lr0 $lr2 1\n";
  CHECK(outcome(program + ".expect $lr0 == 1\n").empty());
  CHECK(outcome(program + ".expect $lr0 == 2\n").find("register address 1 of PE 0") !=
        std::string::npos);
  CHECK(outcome(program + ".expect $lr0 == 1\n.expect $lr4 == 1\n").find("register address 5") !=
        std::string::npos);
  CHECK(outcome(program + ".expect flags == -\n").find("register address 1") != std::string::npos);
  CHECK(outcome(program + ".expect $lr0 == 1\n.expect flags == i\n").find("flags") !=
        std::string::npos);
  CHECK(outcome(program).find("expects nothing") != std::string::npos);
  CHECK(outcome("  nonsense\n.expect $lr0 == 1\n").find("does not assemble") != std::string::npos);
}

TEST_CASE("an unreadable machine case is reported with file and line") {
  const auto message = [](const std::string& text) -> std::string {
    try {
      parse_cases(text, "x.gdt");
    } catch (const std::exception& error) {
      return error.what();
    }
    return "read";
  };
  CHECK(message("nop\n") == "x.gdt:1: a case begins with .case");
  CHECK(message(".case x\n.set $lq0 = 1\n") == "x.gdt:2: '$lq0' is no location");
  CHECK(message(".case x\n.set $lr0 = 0x12\n") == "x.gdt:2: 0x12 has a wrong number of digits");
  CHECK(message(".case x\n.set $r0 = 0.1\n") == "x.gdt:2: 0.1 is not exact as a short");
  CHECK(message(".case x\n.set $lr0 = 1 2\n") == "x.gdt:2: a wrong number of values");
  CHECK(message(".case x\n.run backwards\n") == "x.gdt:2: 'backwards' means nothing here");
}

}  // namespace
