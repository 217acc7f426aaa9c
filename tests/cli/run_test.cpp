// The command `gdr run`: input and output tables, statistics, and errors in them.
#include <cmath>
#include <nlohmann/json.hpp>
#include <sstream>
#include <string>
#include <vector>

#include "cli/shell.hpp"
#include "support/catch.hpp"
#include "support/text.hpp"

namespace gdr::test {
namespace {

/// The numbers of a table without its comments.
std::vector<double> numbers(const std::string& text) {
  std::vector<double> values;
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);) {
    std::istringstream words(line.substr(0, line.find('#')));
    for (std::string word; words >> word;) values.push_back(std::stod(word));
  }
  return values;
}

/// The kernel `sums` with three targets and four sources: sum of (mj - xi) * scale.
struct Sums : Shell {
  Sums() {
    write("sums.gds", sums_kernel);
    write("i.txt", "# targets\n0\n1.5   # the second\n\n-2\n");
    write("j.txt", "1 # a source\n2\n4\n8\n");
    REQUIRE(run("gdr asm -q sums.gds").status == 0);
  }
};

const std::vector<double> sums_at_scale_2{30, 18, 46};

}  // namespace

TEST_CASE("gdr run computes the results of a kernel") {
  const Sums shell;
  const Outcome printed =
      shell.run("gdr run sums.gdo --targets i.txt --sources j.txt --set scale=2");
  CHECK(printed.status == 0);
  CHECK(printed.err.empty());
  CHECK(printed.out.starts_with("# total\n"));
  CHECK(numbers(printed.out) == sums_at_scale_2);
  const Outcome filed =
      shell.run("gdr run sums.gds --targets i.txt --sources j.txt --set scale=2 -o out.txt");
  CHECK(filed.status == 0);
  CHECK(filed.out.empty());
  CHECK(shell.read("out.txt") == printed.out);
}

TEST_CASE("gdr run on native does not round the numbers of a kernel to shorts") {
  Shell shell;
  shell.write("law.gdk", "VARI x; VARJ y; VARF f;\nf += x*y;\n");
  shell.write("i.txt", "1\n");
  shell.write("j.txt", "0.1\n2.3\n5.7\n");
  REQUIRE(shell.run("gdr compile law.gdk").status == 0);
  REQUIRE(shell.run("gdr disasm law.gdo -o law.gds").status == 0);
  for (const std::string file : {"law.gdk", "law.gdo", "law.gds"}) {
    const std::string run = "gdr run " + file + " --targets i.txt --sources j.txt --engine ";
    INFO(file);
    CHECK(std::abs(std::stod(shell.run(run + "native").out.substr(4)) - 8.1) < 1e-14);
    CHECK(std::abs(std::stod(shell.run(run + "exact").out.substr(4)) - 8.1) > 1e-9);
  }
}

TEST_CASE("gdr run on native does not round to shorts, but to dump the chips' state") {
  const Shell shell;
  shell.write("charge.gdk", "VARI q; VARJ p; VARF e; e += q*p;\n");
  shell.write("i.txt", "1234567.89\n");
  shell.write("j.txt", "1234567.89\n");
  const std::string command =
      "gdr run charge.gdk --engine native --targets i.txt --sources j.txt --stats";
  const double right = 1234567.89 * 1234567.89;
  const Outcome plain = shell.run(command);
  REQUIRE(numbers(plain.out).size() == 1);
  CHECK(std::abs(numbers(plain.out)[0] / right - 1) < 4e-16);
  CHECK(plain.err.find("rounded to 25 bits") == std::string::npos);
  const Outcome dumped = shell.run(command + " --dump lm:0:0 --dump-file state.txt");
  REQUIRE(numbers(dumped.out).size() == 1);
  CHECK(std::abs(numbers(dumped.out)[0] / right - 1) > 1e-9);
  CHECK(dumped.err.find("rounded to 25 bits") != std::string::npos);
}

TEST_CASE("gdr run reads and writes three columns for a vector") {
  const Shell shell;
  shell.write("spin.gdk",
              "CONST vec3 axis; VARI vec3 x; VARJ vec3 xs; VARJ m; VARF vec3 f; VARF mass;\n"
              "f += m*cross(axis, xs - x); mass += m;\n");
  shell.write("i.txt", "1 1 1\n0 0 0\n");
  shell.write("j.txt", "1 2 3 2\n-1 0 5 4\n");
  const Outcome done =
      shell.run("gdr run spin.gdk --targets i.txt --sources j.txt --set axis=0,0,2");
  CHECK(done.err.empty());
  CHECK(done.out.starts_with("# f_0 f_1 f_2 mass\n"));
  CHECK(numbers(done.out) == std::vector<double>{4, -16, 0, 6, -8, -4, 0, 6});
  const std::string start = "gdr run spin.gdk --targets i.txt --sources j.txt --set ";
  CHECK(numbers(shell.run(start + "axis_2=2").out) == numbers(done.out));
  CHECK(shell.run(start + "axis=1,2").status == 1);
  CHECK(shell.run(start + "axes=1,2,3").err.find("did you mean \"axis\"") != std::string::npos);
}

TEST_CASE("gdr run writes outputs, one row per source") {
  const Sums shell;
  shell.write("twice.gds",
              ".kernel twice\nvlen 1\njvar long mj f64to72\novar long double_mj f64to72 pass\n"
              ".body\n bget $lr8 mj\n fadd $lr10 $lr8 $lr8\n bput double_mj $lr10 0\n");
  const Outcome done = shell.run("gdr run twice.gds --sources j.txt --outputs items.txt");
  CHECK(done.err.empty());
  REQUIRE(done.status == 0);
  CHECK(numbers(shell.read("items.txt")) == std::vector<double>{2, 4, 8, 16});
  const auto json =
      nlohmann::json::parse(shell.run("gdr run twice.gds --sources j.txt --json").out);
  CHECK(json["items"]["double_mj"] == std::vector<double>{2, 4, 8, 16});
}

TEST_CASE("gdr run is bit-identical on all engines, instruction sets and partitions") {
  const Sums shell;
  const std::string line = "gdr run sums.gdo --targets i.txt --sources j.txt --set scale=0.1 ";
  const std::string right = shell.run(line + "--engine reference").out;
  CHECK(numbers(right).size() == 3);
  CHECK(shell.run(line + "--engine vector").out == right);
  CHECK(shell.run(line + "--engine vector --isa portable").out == right);
  CHECK(shell.run(line + "--threads 1").out == right);
  CHECK(shell.run(line + "--device emulator:boards=2").out == right);
  CHECK(shell.run(line + "--device emulator:blocks=2,pes=2,chips=1,partition=targets").status == 0);
}

TEST_CASE("results have 17 significant digits") {
  const Sums shell;
  shell.write("one.txt", "0.1\n");
  shell.write("zero.txt", "0\n");
  const Outcome result =
      shell.run("gdr run sums.gdo --targets zero.txt --sources one.txt --set scale=1");
  const std::string number = result.out.substr(std::string("# total\n").size());
  CHECK(number.find('.') == 1);
  CHECK(number.find('e') == 1 + 1 + 16);
}

TEST_CASE("params default to zero; unknown and invalid ones are refused") {
  const Sums shell;
  const std::string line = "gdr run sums.gdo --targets i.txt --sources j.txt ";
  CHECK(numbers(shell.run(line).out) == std::vector<double>{0, 0, 0});
  const Outcome unknown = shell.run(line + "--set scal=2");
  CHECK(unknown.status == 2);
  CHECK(contains(unknown.err, "scale"));
  CHECK(shell.run(line + "--set scale").status == 2);
  CHECK(shell.run(line + "--set scale=").status == 2);
  CHECK(shell.run(line + "--set scale=two").status == 1);
  CHECK(shell.run(line + "--set scale=nan").status == 1);
  CHECK(shell.run(line + "--set 'scale=1 2'").status != 0);
}

TEST_CASE("errors in tables name file, line and column") {
  const Sums shell;
  const auto refused = [&](const std::string& text) {
    shell.write("bad.txt", text);
    const Outcome result =
        shell.run("gdr run sums.gdo --targets bad.txt --sources j.txt -o never.txt");
    CHECK(result.status == 1);
    CHECK_FALSE(shell.exists("never.txt"));
    return result.err;
  };
  CHECK(contains(refused("1\n2 3\n"), "bad.txt:2:3: more than 1 value"));
  CHECK(contains(refused("1\nx\n"), "bad.txt:2:1: 'x' is not a number"));
  CHECK(contains(refused("1\n\n nan\n"), "bad.txt:3:2: 'xi' is not a number"));
  CHECK(contains(refused("inf\n"), "bad.txt:1:1: 'xi' is infinite"));
  CHECK(contains(refused("1e999\n"), "bad.txt:1:1:"));
  CHECK(contains(refused("1.5.2\n"), "bad.txt:1:1:"));
}

TEST_CASE("empty tables of targets and sources are accepted") {
  const Sums shell;
  shell.write("none.txt", "# nothing\n");
  const Outcome targets = shell.run("gdr run sums.gdo --targets none.txt --sources j.txt");
  CHECK(targets.status == 0);
  CHECK(numbers(targets.out).empty());
  const Outcome sources =
      shell.run("gdr run sums.gdo --targets i.txt --sources none.txt --set scale=2");
  CHECK(sources.status == 0);
  CHECK(numbers(sources.out) == std::vector<double>{0, 0, 0});
}

TEST_CASE("missing and unreadable files are errors") {
  const Sums shell;
  const Outcome no_j = shell.run("gdr run sums.gdo --targets i.txt");
  CHECK(no_j.status == 2);
  CHECK(contains(no_j.err, "--sources is missing: give a file with the columns mj"));
  CHECK(shell.run("gdr run sums.gdo --targets i.txt --sources nowhere.txt").status == 1);
  CHECK(shell.run("gdr run nowhere.gdo --targets i.txt --sources j.txt").status == 1);
  const Outcome unwritable =
      shell.run("gdr run sums.gdo --targets i.txt --sources j.txt -o no/such/out.txt");
  CHECK(unwritable.status == 1);
  CHECK(contains(unwritable.err, "no/such/out.txt"));
  CHECK(shell.run("gdr run sums.gdo --targets i.txt --sources j.txt -o /dev/full").status == 1);
  CHECK(shell.run("gdr run sums.gdo --targets i.txt --sources j.txt >/dev/full").status == 1);
}

TEST_CASE("a file beyond the size limit of the process is removed") {
  const Sums shell;
  std::string targets;
  for (int i = 0; i < 4000; ++i) targets += "0.1\n";
  shell.write("many.txt", targets);
  const Outcome limited = shell.run(
      "mkdir out && ulimit -f 16 && gdr run sums.gdo --targets many.txt --sources j.txt -o "
      "out/sums.txt");
  CHECK(limited.status == 1);
  CHECK(contains(limited.err, "cannot write 'out/sums.txt': File too large"));
  CHECK(std::filesystem::is_empty(shell.folder() / "out"));
}

TEST_CASE("--stats names the line of an integer constant that has no version in doubles") {
  const Shell shell;
  shell.write("k.gds",
              ".kernel k\nfvar long acc f64to72 fadd at $lr8v\ntmp long w\n.body\n"
              "fadd acc acc 1.0s\nipass w 0x7ff0000000000fffff\n");
  const Outcome done =
      shell.run("gdr run k.gds --iterations 3 --engine vector --stats --device emulator:blocks=1");
  INFO(done.err);
  CHECK(done.status == 0);
  CHECK(contains(done.err, "k.gds:6: a long integer constant whose bits are no finite number"));
}

TEST_CASE("--stats and --json report clocks, traffic and time") {
  const Sums shell;
  const Outcome text = shell.run("gdr run sums.gdo --targets i.txt --sources j.txt --stats");
  CHECK(text.status == 0);
  CHECK(contains(text.err, "interactions"));
  CHECK(numbers(text.out).size() == 3);

  const Outcome printed =
      shell.run("gdr run sums.gdo --targets i.txt --sources j.txt --set scale=2 --json");
  const auto json = nlohmann::json::parse(printed.out);
  CHECK(json["kernel"] == "sums");
  CHECK(json["results"]["total"].get<std::vector<double>>() == sums_at_scale_2);
  CHECK(json["statistics"]["interactions"] == 12);
  CHECK(shell.run("gdr run sums.gdo --targets i.txt --sources j.txt --json -o -").status == 2);
  const Outcome filed =
      shell.run("gdr run sums.gdo --targets i.txt --sources j.txt --json -o out.txt");
  CHECK_FALSE(nlohmann::json::parse(filed.out).contains("results"));
}

TEST_CASE("infinities and NaN are strings in JSON") {
  const Sums shell;
  shell.write("large.txt", "1e308\n1e308\n");
  const Outcome infinite =
      shell.run("gdr run sums.gdo --targets i.txt --sources large.txt --set scale=-1e10 --json");
  CHECK(infinite.status == 0);
  CHECK(nlohmann::json::parse(infinite.out)["results"]["total"] ==
        std::vector<std::string>(3, "-inf"));
}

TEST_CASE("integers and raw words are passed unchanged") {
  const Shell shell;
  shell.write("copy.gds", R"(.kernel copy
ivar long ki i64int
ivar short wi raw
ivar long li raw
fvar long ko i64int iadd at $lr0v
fvar short wo raw ior at $r16v
fvar long lo raw ior at $lr24v
.start
    ipass ko ki
    ipass wo wi
    ipass lo li
)");
  const std::string rows =
      "9223372036854775807 123456789 fedcba987654321012\n"
      "-9223372036854775808 fffffffff 000000000000000001\n";
  shell.write("i.txt", rows);
  const Outcome result =
      shell.run("gdr run copy.gds --targets i.txt --device emulator:partition=targets");
  INFO(result.err);
  CHECK(result.status == 0);
  CHECK(result.out == "# ko wo lo\n" + rows);
  shell.write("i.txt", "9223372036854775808 123456789 fedcba987654321012\n");
  CHECK(shell.run("gdr run copy.gds --targets i.txt").status == 1);
  shell.write("i.txt", "1 12345678 fedcba987654321012\n");
  CHECK(contains(shell.run("gdr run copy.gds --targets i.txt").err, "9 hex digits"));
}

}  // namespace gdr::test
