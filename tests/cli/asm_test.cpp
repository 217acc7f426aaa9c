// The commands `gdr asm`, `gdr disasm` and `gdr header`.
#include <string>

#include "cli/shell.hpp"
#include "support/catch.hpp"
#include "support/text.hpp"

namespace gdr::test {
namespace {

/// A program with three errors.
const char* const wrong_source = R"(.kernel wrong
.body
    fadd $lr0v $lr0v nothing
    fmull $r0v $r4v $r8v
    fadd $lr1v $lr4v $lr8v
)";

}  // namespace

TEST_CASE("gdr asm writes an object and prints the clocks of the kernel") {
  const Shell shell;
  shell.write("sums.gds", sums_kernel);
  const Outcome result = shell.run("gdr asm sums.gds -o out.gdo");
  CHECK(result.status == 0);
  CHECK(result.err.empty());
  CHECK(contains(result.out, "out.gdo: sums, "));
  CHECK(contains(result.out, "clocks an interaction"));
  CHECK(shell.exists("out.gdo"));
  CHECK(shell.run("gdr asm sums.gds -q").out.empty());
  CHECK(shell.read("sums.gdo") == shell.read("out.gdo"));
}

TEST_CASE("gdr asm reports all errors and writes nothing") {
  const Shell shell;
  shell.write("wrong.gds", wrong_source);
  shell.write("wrong.gdo", "precious");
  const Outcome result = shell.run("gdr asm wrong.gds");
  CHECK(result.status == 1);
  CHECK(result.out.empty());
  CHECK(contains(result.err, "wrong.gds:3:"));
  CHECK(contains(result.err, "wrong.gds:4:"));
  CHECK(contains(result.err, "wrong.gds:5:"));
  CHECK(contains(result.err, "error[GDR"));
  CHECK(contains(result.err, "^"));
  CHECK(contains(result.err, "gdr: error: wrong.gds: 3 errors, no object written"));
  CHECK_FALSE(contains(result.err, "\x1b["));  // no colours in a file
  CHECK(shell.read("wrong.gdo") == "precious");
}

TEST_CASE("gdr asm -l lists addresses, encodings and source lines") {
  const Shell shell;
  shell.write("sums.gds", sums_kernel);
  const Outcome printed = shell.run("gdr asm sums.gds -l -");
  CHECK(printed.status == 0);
  CHECK(contains(printed.out, "bget  $lr0 mj"));
  CHECK(contains(printed.out, "fadd  total total $lr16v"));
  CHECK(shell.run("gdr asm sums.gds -l list.txt").status == 0);
  CHECK(shell.read("list.txt") == printed.out);
}

TEST_CASE("gdr asm --stalls error refuses missing idle clocks") {
  const Shell shell;
  shell.write("stall.gds",
              ".kernel stall\n.body\n    vlen 1\n    fadd $lr0 $lr2 $lr4\n"
              "    fadd $lr6 $lr0 $lr4\n");
  CHECK(shell.run("gdr asm stall.gds").status == 0);
  const Outcome refused = shell.run("gdr asm stall.gds --stalls error");
  CHECK(refused.status == 1);
  CHECK(contains(refused.err, "stall.gds:5:"));
  CHECK(shell.run("gdr asm stall.gds --stalls maybe").status == 2);
}

TEST_CASE("gdr asm -I finds included files; --geometry changes limits") {
  const Shell shell;
  REQUIRE(shell.run("mkdir parts").status == 0);
  shell.write("parts/part.gds", "    fadd $lr48v $lr48v 1.0\n");
  shell.write("main.gds", ".kernel main\n.body\n.include \"part.gds\"\n");
  CHECK(shell.run("gdr asm main.gds").status == 1);
  CHECK(shell.run("gdr asm main.gds -I parts").status == 0);
  CHECK(shell.run("gdr asm main.gds -I parts --geometry registers=16").status == 1);
  const Outcome unknown = shell.run("gdr asm main.gds -I parts --geometry wheels=4");
  CHECK(unknown.status == 2);
  CHECK(contains(unknown.err, "wheels"));
  CHECK(shell.run("gdr asm main.gds -I parts --geometry registers").status == 2);
}

TEST_CASE("gdr asm refuses unreadable and unwritable files and its own source as output") {
  const Shell shell;
  shell.write("sums.gds", sums_kernel);
  const Outcome missing = shell.run("gdr asm nowhere.gds");
  CHECK(missing.status == 1);
  CHECK(contains(missing.err, "nowhere.gds"));
  const Outcome unwritable = shell.run("gdr asm sums.gds -o no/such/folder/k.gdo");
  CHECK(unwritable.status == 1);
  CHECK(contains(unwritable.err, "no/such/folder"));
  const Outcome onto_itself = shell.run("gdr asm sums.gds -o ./sums.gds");
  CHECK(onto_itself.status == 2);
  CHECK(shell.read("sums.gds") == sums_kernel);
  CHECK(shell.run("gdr asm . -o k.gdo").status == 1);
  CHECK(shell.run("gdr asm sums.gds -q -o k.gdo -l /dev/full").status == 1);
}

TEST_CASE("gdr disasm gives assembly that assembles to the same object") {
  const Shell shell;
  shell.write("sums.gds", sums_kernel);
  REQUIRE(shell.run("gdr asm sums.gds -o first.gdo").status == 0);
  REQUIRE(shell.run("gdr disasm first.gdo -o again.gds").status == 0);
  REQUIRE(shell.run("gdr asm again.gds -o second.gdo").status == 0);
  CHECK(shell.read("first.gdo") == shell.read("second.gdo"));
  CHECK(shell.run("gdr disasm first.gdo").out == shell.read("again.gds"));
}

TEST_CASE("gdr disasm refuses damaged objects") {
  const Shell shell;
  shell.write("sums.gds", sums_kernel);
  REQUIRE(shell.run("gdr asm sums.gds -o k.gdo").status == 0);
  const std::string object = shell.read("k.gdo");
  shell.write("short.gdo", object.substr(0, object.size() / 2));
  shell.write("empty.gdo", "");
  std::string bent = object;
  bent[bent.size() / 2] = static_cast<char>(bent[bent.size() / 2] ^ 1);
  shell.write("bent.gdo", bent);
  for (const std::string name : {"short.gdo", "empty.gdo", "bent.gdo", "sums.gds", "missing.gdo"}) {
    const Outcome result = shell.run("gdr disasm " + name);
    INFO(name << ": " << result.err);
    CHECK(result.status == 1);
    CHECK(result.out.empty());
    CHECK(contains(result.err, "gdr: error: "));
    CHECK(contains(result.err, name));
  }
}

TEST_CASE("gdr header writes valid C") {
  const Shell shell;
  shell.write("sums.gds", sums_kernel);
  REQUIRE(shell.run("gdr asm sums.gds -o k.gdo").status == 0);
  REQUIRE(shell.run("gdr header k.gdo -o k.h").status == 0);
  CHECK(shell.run("gdr header k.gdo").out == shell.read("k.h"));
  shell.write("use.c", "#include \"k.h\"\nint main(void) { return 0; }\n");
  const std::string include = std::string(" -I ") + GDR_SOURCE_DIR + "/libgdr/include";
  const Outcome compiled =
      shell.run("cc -std=c99 -Wall -Wextra -Werror -fsyntax-only use.c" + include);
  INFO(compiled.err);
  CHECK(compiled.status == 0);
  CHECK(shell.run("gdr header k.gdo --prefix 9lives").status == 2);
}

}  // namespace gdr::test
