// Usage errors: exit status 2, a message with the reason, and the nearest valid name.
#include <string>

#include "cli/shell.hpp"
#include "support/catch.hpp"
#include "support/text.hpp"

namespace gdr::test {
TEST_CASE("gdr --version") {
  const Shell shell;
  const Outcome version = shell.run("gdr --version");
  CHECK(version.status == 0);
  CHECK(version.out.starts_with("gdr "));
  CHECK(version.err.empty());
}

TEST_CASE("a missing or unknown command is a usage error") {
  const Shell shell;
  const Outcome nothing = shell.run("gdr");
  CHECK(nothing.status == 2);
  CHECK(nothing.out.empty());
  CHECK(contains(nothing.err, "gdr: error: a command is missing"));

  const Outcome misspelt = shell.run("gdr nboby file");
  CHECK(misspelt.status == 2);
  CHECK(contains(misspelt.err, "gdr: error: unknown command 'nboby'; did you mean 'nbody'?"));

  const Outcome odd = shell.run("gdr frobnicate");
  CHECK(odd.status == 2);
  CHECK(contains(odd.err, "unknown command 'frobnicate'"));
  CHECK_FALSE(contains(odd.err, "did you mean"));
}

TEST_CASE("an unknown command with --help is a usage error with a suggestion") {
  const Shell shell;
  for (const std::string line : {"gdr nboby --help", "gdr nboby -h", "gdr nboby --version"}) {
    const Outcome misspelt = shell.run(line);
    INFO(line);
    CHECK(misspelt.status == 2);
    CHECK(misspelt.out.empty());
    CHECK(contains(misspelt.err, "gdr: error: unknown command 'nboby'; did you mean 'nbody'?"));
  }
  CHECK(shell.run("gdr --help").status == 0);
  CHECK(shell.run("gdr -h run").status == 0);
}

TEST_CASE("errors about unknown options suggest the nearest option") {
  const Shell shell;
  const Outcome top = shell.run("gdr --verison");
  CHECK(top.status == 2);
  CHECK(contains(top.err, "unknown option '--verison' of 'gdr'; did you mean '--version'?"));

  const Outcome option = shell.run("gdr run k.gdo --stat");
  CHECK(option.status == 2);
  CHECK(contains(option.err, "unknown option '--stat' of 'gdr run'; did you mean '--stats'?"));

  // -o is missing, too, but the misspelt option is the more helpful message.
  const Outcome before = shell.run("gdr force file --esp 0.1");
  CHECK(before.status == 2);
  CHECK(contains(before.err, "unknown option '--esp' of 'gdr force'; did you mean '--eps'?"));

  const Outcome with_value = shell.run("gdr info --engin=vector");
  CHECK(with_value.status == 2);
  CHECK(
      contains(with_value.err, "unknown option '--engin' of 'gdr info'; did you mean '--engine'?"));
}

TEST_CASE("missing and superfluous arguments are usage errors") {
  const Shell shell;
  const Outcome missing = shell.run("gdr disasm");
  CHECK(missing.status == 2);
  CHECK(contains(missing.err, "gdr: error: gdr disasm: FILE is required"));

  const Outcome many = shell.run("gdr disasm a b");
  CHECK(many.status == 2);
  CHECK(contains(many.err, "unexpected argument 'b' of 'gdr disasm'"));

  const Outcome value = shell.run("gdr info --threads lots");
  CHECK(value.status == 2);
  CHECK(contains(value.err, "threads"));
  CHECK(shell.run("gdr info --threads -1").status == 2);
}

TEST_CASE("unknown engines, instruction sets and devices are usage errors") {
  const Shell shell;
  const Outcome engine = shell.run("gdr info --engine vectr");
  CHECK(engine.status == 2);
  CHECK(contains(engine.err, "vector"));
  const Outcome isa = shell.run("gdr info --isa avx3");
  CHECK(isa.status == 2);
  CHECK(contains(isa.err, "avx2"));
  const Outcome device = shell.run("gdr info --device emulater");
  CHECK(device.status == 2);
  CHECK(contains(device.err, "emulator"));
  const Outcome by_environment = shell.run("GDR_ENGINE=vectr gdr info");
  CHECK(by_environment.status == 2);
  CHECK(contains(by_environment.err, "vectr"));
  const Outcome benchmark = shell.run("gdr bench gravitty");
  CHECK(benchmark.status == 2);
  CHECK(contains(benchmark.err, "gravity"));
}

TEST_CASE("options override environment variables") {
  const Shell shell;
  const Outcome environment = shell.run("GDR_ENGINE=reference gdr info");
  CHECK(environment.status == 0);
  CHECK(contains(environment.out, "reference engine"));
  const Outcome option =
      shell.run("GDR_ENGINE=reference GDR_ISA=portable gdr info --engine vector");
  CHECK(option.status == 0);
  CHECK(contains(option.out, "vector engine, portable"));
}

TEST_CASE("a failed write to standard output is an error") {
  const Shell shell;
  const Outcome full = shell.run("gdr --help >/dev/full");
  CHECK(full.status == 1);
  CHECK(contains(full.err, "gdr: error: cannot write to standard output: No space left on device"));
  const Outcome closed = shell.run("gdr info >&-");
  CHECK(closed.status == 1);
  CHECK(contains(closed.err, "cannot write to standard output"));
}

TEST_CASE("input from a pipe is read completely") {
  const Shell shell;
  const std::string stars = "printf '12.5 0 0 0 0 0 0\\n12.5 1 0 0 0 0 0\\n'";
  const Outcome piped = shell.run(stars + " | gdr force /dev/stdin --eps 0 -o out.hdf5");
  CHECK(piped.status == 0);
  CHECK(contains(piped.out, "-156.25"));
  const Outcome assembly = shell.run(
      "printf '.kernel k\\n.body\\nnop\\n' | gdr asm /dev/stdin -o k.gdo && gdr disasm k.gdo");
  CHECK(assembly.status == 0);
  CHECK(contains(assembly.out, ".kernel"));
}

TEST_CASE("a closed pipe ends the command without a message") {
  const Shell shell;
  // The reader exits before the first byte is written.
  const Outcome piped = shell.run("{ sleep 0.2; gdr info --json; echo status $? >&2; } | true");
  CHECK(piped.err == "status 141\n");
}

TEST_CASE("a repeatable option leaves the argument behind it to the command") {
  const Shell shell;
  shell.write("sums.gds", sums_kernel);
  shell.write("i.txt", "1\n");
  shell.write("j.txt", "4\n");
  const std::string tables = " --targets i.txt --sources j.txt";
  const Outcome set = shell.run("gdr run --set scale=2 sums.gds" + tables);
  CHECK(set.err.empty());
  CHECK(contains(set.out, "6.0000000000000000e+00"));
  // Each time one value: the last one counts.
  const Outcome twice = shell.run("gdr run --set scale=5 --set scale=3 sums.gds" + tables);
  CHECK(contains(twice.out, "9.0000000000000000e+00"));
  CHECK(shell.run("gdr asm -I . --include . sums.gds").status == 0);
  CHECK(shell.run("gdr asm --geometry blocks=4,pes=8 sums.gds").status == 0);
  CHECK(shell.run("gdr predict --set chip.clock=5e8 gravity --particles 100").status == 0);
  const Outcome dump = shell.run("gdr run --dump lm:0 sums.gds" + tables);
  CHECK(dump.status == 0);
  CHECK(contains(dump.out, "PE"));
}

TEST_CASE("gdr nbody prints times without their rounding errors") {
  const Shell shell;
  shell.write("two.txt", "1 0 0 0 0 0 0\n1 1 0 0 0 1 0\n");
  // 84 * 0.0013 is 0.10919999999999999.
  const std::string first = "gdr nbody two.txt --eps 0.1 --dt 0.0013 --t-end 0.1092 --out run";
  const Outcome begin = shell.run(first);
  REQUIRE(begin.status == 0);
  CHECK(contains(begin.out, "84 steps of 0.0013 to t = 0.1092, eps"));
  const Outcome again = shell.run("gdr nbody run/snapshot_00000084.txt --t-end 0.1105 --out run");
  REQUIRE(again.status == 0);
  CHECK(contains(again.out, "particles, t = 0.1092\n"));
  CHECK(contains(again.out, "1 steps of 0.0013 to t = 0.1105, eps"));
}

TEST_CASE("an error about a size names what was given") {
  const Shell shell;
  const std::pair<const char*, const char*> wrong[] = {
      {"12x", "--size: '12x' lacks a number after an x"},
      {"x12", "--size: 'x12' lacks a number before an x"},
      {"''", "give --size N"},
      {"12k", "--size: '12k' is not a finite number"},
      {"8x12k", "--size 8x12k: '12k' is not a finite number"},
      {"8x0", "--size 8x0: '0' is not a whole number from 1"}};
  for (const auto& [size, message] : wrong) {
    INFO(size);
    const Outcome outcome = shell.run(std::string("gdr predict product --size ") + size);
    CHECK(outcome.status == 2);
    CHECK(contains(outcome.err, message));
  }
}

TEST_CASE("counts are decimal whole numbers without overflow") {
  const Shell shell;
  for (const char* wrong : {"-3", "1.5", "x", "99999999999999999999999", "0x10", "''"}) {
    INFO(wrong);
    const Outcome outcome = shell.run(std::string("gdr run k.gdo --target-count ") + wrong);
    CHECK(outcome.status == 2);
    CHECK(contains(outcome.err, "--target-count: '"));
    CHECK(contains(outcome.err, "is not a whole number"));
  }
  const Outcome range = shell.run("gdr compile k.gdk --elements 5");
  CHECK(range.status == 2);
  CHECK(contains(range.err, "--elements: '5' is not a whole number from 1 to 4"));
  const Outcome minutes = shell.run("gdr selftest --minutes soon");
  CHECK(minutes.status == 2);
  CHECK(contains(minutes.err, "--minutes: 'soon' is not a finite number"));
}

}  // namespace gdr::test
