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
