// --quiet and --verbose.
#include <string>

#include "cli/shell.hpp"
#include "support/catch.hpp"
#include "support/text.hpp"

namespace gdr::test {
namespace {

/// Two stars and a kernel with tables.
struct Files : Shell {
  Files() {
    write("two.txt", "1 0 0 0 0 0 0\n1 1 0 0 0 1 0\n");
    write("sums.gds", sums_kernel);
    write("i.txt", "1\n");
    write("j.txt", "4\n");
  }
};

const std::string sums = "gdr run sums.gds --targets i.txt --sources j.txt --set scale=2";
const std::string nbody = "gdr nbody two.txt --eps 0.1 --dt 0.125 --t-end 0.5 --out run";
const std::string force = "gdr force two.txt --eps 0.1 -o f.hdf5";

}  // namespace

TEST_CASE("--quiet prints results only") {
  const Files shell;
  const std::string lines[] = {
      "gdr asm sums.gds",         "gdr asm -o k.gdo sums.gds && gdr disasm -o k.gds k.gdo",
      "gdr header k.gdo -o k.h",  "gdr predict machine -o m.json",
      "gdr completion bash -o c", "gdr man --all ."};
  for (const std::string& line : lines) {
    INFO(line);
    const Outcome outcome = shell.run(line + " --quiet");
    CHECK(outcome.status == 0);
    CHECK(outcome.err.empty());
  }
  CHECK(shell.run("gdr asm sums.gds -q").out.empty());
  CHECK(shell.run("gdr asm sums.gds").out != "");
  CHECK(shell.run(force + " -q").out.starts_with("potential energy"));

  const Outcome run = shell.run(nbody + " --quiet");
  CHECK(run.err.empty());
  CHECK(contains(run.out, "energy drift"));
  CHECK(contains(run.out, " half-mass radius "));
  for (const char* word : {"engine", "clocks", "interactions", "predicted", "particles"})
    CHECK_FALSE(contains(run.out, word));
  // The same lines as without the option.
  const std::string all = shell.run(nbody).out;
  CHECK(contains(all, "engine"));
  const std::string table = run.out.substr(0, run.out.find("\n\n"));
  CHECK(contains(all, table));
}

TEST_CASE("--quiet removes notes, and no errors") {
  const Files shell;
  const std::string odd = "gdr nbody two.txt --eps 0.1 --dt 0.3 --t-end 0.5 --out run";
  CHECK(contains(shell.run(odd).err, "does not divide"));
  CHECK(shell.run(odd + " -q").err.empty());
  const Outcome missing = shell.run("gdr asm -q none.gds");
  CHECK(missing.status == 1);
  CHECK(contains(missing.err, "none.gds"));
}

TEST_CASE("--quiet keeps statistics that were asked for, and JSON") {
  const Files shell;
  CHECK(contains(shell.run(sums + " --stats -q").err, "predicted"));
  CHECK(shell.run(sums + " -q").err.empty());
  CHECK(shell.run("gdr info --json -q").out == shell.run("gdr info --json").out);
}

TEST_CASE("--verbose reports device, engine, kernel, threads and times on standard error") {
  const Files shell;
  const Outcome run = shell.run(sums + " --verbose --engine reference --threads 2");
  CHECK(run.status == 0);
  CHECK(run.out == shell.run(sums).out);
  for (const char* word : {"gdr: version: gdr ", "gdr: kernel: file sums.gds", "reference",
                           "2 threads", "gdr: time: ", "predicted"}) {
    INFO(word);
    CHECK(contains(run.err, word));
  }
  const Outcome forces = shell.run("GDR_JIT=0 " + force + " -v --exact");
  CHECK(contains(forces.err, "gdr: environment: GDR_JIT=0"));
  CHECK(contains(forces.err, "gdr: device: emulator: 1 board"));
  CHECK(contains(forces.err, "gdr: engine: vector, "));
  CHECK(contains(forces.err, "gdr: kernel: gravity of the library"));
  CHECK(contains(shell.run(nbody + " -v").err, "gdr: kernel: gravity"));
  CHECK(
      contains(shell.run("gdr predict hpl --machine cluster64 -v").err, "gdr: machine: cluster64"));
  CHECK(contains(shell.run("gdr selftest --minutes 0.001 -v").err, "gdr: engine: vector"));
}

TEST_CASE("every command has --quiet and --verbose, not both at a time") {
  const Files shell;
  for (const char* line :
       {"asm sums.gds", "bench --list", "boards", "completion bash", "force two.txt --eps 1 -o f",
        "header gravity", "info", "man", "predict machines", "fp </dev/null"}) {
    INFO(line);
    const std::string start = std::string("gdr ") + line;
    CHECK(shell.run(start + " -q").err.empty());
    CHECK(contains(shell.run(start + " -v").err, "gdr: time: "));
    const Outcome both = shell.run(start + " -q -v");
    CHECK(both.status == 2);
    CHECK(contains(both.err, "--quiet and --verbose exclude each other"));
  }
}

}  // namespace gdr::test
