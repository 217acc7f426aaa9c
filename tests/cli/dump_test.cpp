// `gdr run --dump`: every memory, every format.
#include <string>

#include "cli/shell.hpp"
#include "support/catch.hpp"
#include "support/text.hpp"

namespace gdr::test {
namespace {

/// A program that writes known words to every memory.
const char* const marks_kernel = R"(.kernel marks
ivar  long xi f64to72
param long p  f64to72
fvar  long o  f64to72 fadd at $lr48v
bm    long scratch
.start
    ipass o xi
    ipass $lr0v:$t 1.5
    ipass $lr8v -3
    ipass $lr16v $pe
    ipass $lr24v $bb
    ipass $r40v 0x123456789
    isub  m3.zero $lr16v 2
    vlen 1
    bput  scratch $lr8 0
)";

struct Marks : Shell {
  Marks() {
    write("marks.gds", marks_kernel);
    // A target for every PE and element of one chip, so that all of its blocks work.
    std::string targets = "1\n-0.5\n3\n4\n5\n";
    for (int i = 5; i < 2048; ++i) targets += "0\n";
    write("i.txt", targets);
    REQUIRE(run("gdr asm -q marks.gds").status == 0);
  }
  /// The dump without its comment line.
  std::string dump(const std::string& what) const {
    const Outcome result =
        run("gdr run marks.gdo --targets i.txt --set p=0.1 -o out.txt --device "
            "emulator:chips=1,partition=targets "
            "--dump '" +
            what + "'");
    INFO(result.err);
    CHECK(result.status == 0);
    CHECK(result.out.starts_with("# dump " + what));
    return result.out.substr(std::min(result.out.find('\n') + 1, result.out.size()));
  }
};

}  // namespace

TEST_CASE("registers are dumped in all number formats") {
  const Marks shell;
  CHECK(shell.dump("lr:0") == "lr0 0 0 3ff800000000000000\n");
  CHECK(shell.dump("lr:0:float") == "lr0 0 0 1.5\n");
  CHECK(shell.dump("$lr:8:int") == "lr8 0 0 -3\n");
  CHECK(shell.dump("lr:8:fixed.1") == "lr8 0 0 -1.5\n");
  CHECK(shell.dump("r:40..41") == "r40 0 0 123456789\nr41 0 0 123456789\n");
  CHECK(shell.dump("r:0:float") == "r0 0 0 1.5\n");
  CHECK(shell.dump("lr:16:5,2:int") == "lr16 2 5 5\n");
  CHECK(shell.dump("lr:24:int:5,2") == "lr24 2 5 2\n");
}

TEST_CASE("T, masks, local and broadcast memory are dumped") {
  const Marks shell;
  CHECK(shell.dump("t:0..1:float") == "t0 0 0 1.5\nt1 0 0 1.5\n");
  CHECK(shell.dump("th:3") == "th3 0 0 3ff800000\n");
  CHECK(shell.dump("tl:0") == "tl0 0 0 000000000\n");
  CHECK(shell.dump("mask:3:2,0") == "mask3 0 2 1111\n");
  CHECK(shell.dump("mask:3:1,0") == "mask3 0 1 0000\n");
  CHECK(shell.dump("xi:float") == "lm0 0 0 1\nlm2 0 0 -0.5\nlm4 0 0 3\nlm6 0 0 4\n");
  CHECK(contains(shell.dump("xi:1,0:float"), "lm0 0 1 5\n"));
  CHECK(shell.dump("p:float") == "lb0 0 - 0.100000000000000005551\n");
  CHECK(shell.dump("scratch:int") == "lb2 0 - -3\n");
}

TEST_CASE("dumps cover all PEs and blocks and can be written to a file") {
  const Marks shell;
  const std::string every = shell.dump("lr:16:*,*:int");
  CHECK(std::count(every.begin(), every.end(), '\n') == 512);
  CHECK(contains(every, "lr16 15 31 31\n"));
  const std::string block = shell.dump("lr:16:*,7:int");
  CHECK(std::count(block.begin(), block.end(), '\n') == 32);
  const std::string all = shell.dump("lm");
  CHECK(std::count(all.begin(), all.end(), '\n') == 256);
  const Outcome two = shell.run(
      "gdr run marks.gdo --targets i.txt -o out.txt --dump lr:8 --dump lr:0 --dump-file d.txt");
  CHECK(two.status == 0);
  CHECK(two.out.empty());
  const std::string text = shell.read("d.txt");
  CHECK(text.find("lr8 0 0") < text.find("lr0 0 0"));
}

TEST_CASE("invalid dumps are refused before the run") {
  const Marks shell;
  const auto refused = [&](const std::string& what) {
    const Outcome result = shell.run("gdr run marks.gdo --targets i.txt --dump '" + what + "'");
    INFO(what);
    CHECK(result.status == 2);
    return result.err;
  };
  CHECK(contains(refused("registers"), "unknown memory or variable"));
  CHECK(contains(refused("lr:9"), "even address"));
  CHECK(contains(refused("lr:62..64"), "behind the end"));
  CHECK(contains(refused("mask:8"), "behind the end"));
  CHECK(contains(refused("lr:5..3"), "empty"));
  CHECK(contains(refused("t:4"), "elements 0 to 3"));
  CHECK(contains(refused("lr:0:32,0"), "PE 32"));
  CHECK(contains(refused("lr:0:0,16"), "block 16"));
  CHECK(contains(refused("lr:0:0,0,4"), "chip 4"));
  CHECK(contains(refused("lr:0:0,0,0,1"), "board 1"));
  CHECK(contains(refused("lr:0:octal"), "octal"));
  CHECK(contains(refused("lr:0:fixed"), "binary point"));
  CHECK(contains(refused("lr:0:fixed.72"), "binary point"));
  CHECK(contains(refused("lr:0:x,y"), "no number"));
}

}  // namespace gdr::test
