// Declarations, layout, includes, repeats, templates, lines and the line table.
#include <cstdio>
#include <filesystem>
#include <fstream>

#include "assembler/support.hpp"
#include "support/temporary_folder.hpp"

namespace gdr::test {

TEST_CASE("automatic addresses follow declaration order and avoid explicit ones") {
  const Program p = assembled(
      "ivar short a f64to36\nivar long b f64to72 at $lm8v\nfvar long c f64to72 fadd\ntmp short d\n"
      "param short e f64to36\nparam long f f64to72\nbm short g\njvar short h f64to36\njvar long i "
      "f64to72\n"
      "ovar long o f64to72 fmax\n");
  const auto at = [&](std::size_t n) { return p.variables[n].location.address; };
  CHECK(at(0) == 0);
  CHECK(at(1) == 8);
  CHECK(at(2) == 16);                          // not over b
  CHECK(p.symbols[0].location.address == 24);  // d
  CHECK(at(3) == 0);                           // e
  CHECK(at(4) == 2);                           // f, even
  CHECK(p.symbols[1].location.address == 4);   // g
  CHECK(at(5) == 0);
  CHECK(at(6) == 2);
  CHECK(p.fixed_shorts == 6);
  CHECK(p.item_shorts == 4);
  CHECK(p.output_shorts == 2);
  CHECK(p.variables[7].reduce == Reduce::Fmax);
}

TEST_CASE("memory overflow errors state required and available sizes") {
  std::string text;
  for (int i = 0; i < 65; ++i) text += "tmp long x" + std::to_string(i) + "\n";
  const AssembleResult r = assemble(text, "t.gds");
  REQUIRE(r.diagnostics.list.size() == 1);
  CHECK(r.diagnostics.list[0].code == 5003);
  CHECK(r.diagnostics.list[0].label == "needs 520 shorts, available: 512");
  AssembleOptions small;
  small.geometry.broadcast_words = 4;
  CHECK(codes_of("param long a b f64to72\njvar long c d e f64to72\n", small) ==
        std::vector<unsigned>{5004});
  small.geometry = {};
  small.geometry.instruction_words = 2;
  CHECK(codes_of(".body\nvlen 1\nfadd $lr0 $lr2 $lr4\nfadd $lr2 $lr0 $lr4\n", small) ==
        std::vector<unsigned>{5001});  // with its idle clocks it does not fit
}

TEST_CASE("symbols of an item cannot exceed the address range") {
  const std::string head = ".group 2\n.item 2\njvar long a f64to72 pad 0\n";
  const Program p = assembled(head + "alias far = $ls65532@1\n");
  CHECK(p.symbols[0].location.address == 65534);
  CHECK(codes_of(head + "alias far = $ls65534@1\n") == std::vector<unsigned>{5005});
}

TEST_CASE(
    "a value that completes a group is zero, the given one, or with `pad copy` the last item's") {
  const std::string head = ".group 2\njvar long m f64to72 pad 0\n";
  const Program p = assembled(head + "jvar long x f64to72 pad copy\njvar short id i64int\n");
  REQUIRE(p.variables.size() == 3);
  CHECK(p.variables[1].pad_is_copy);
  CHECK_FALSE(p.variables[0].pad_is_copy);
  CHECK_FALSE(p.variables[2].pad_is_copy);
  CHECK(assembled(disassemble(p)) == p);
  CHECK_FALSE(assembled("jvar long x f64to72 pad copy\n").variables[0].pad_is_copy);  // no groups
  CHECK(codes_of("ivar long x f64to72 pad copy\n").size() == 1);
  // A copy is no statement that an item contributes nothing.
  CHECK(codes_of(".group 2\njvar long x f64to72 pad copy\n").size() == 1);
}

TEST_CASE("repeats and templates expand to the expected lines") {
  const Program p = assembled(
      "const n = 2\n.template add(D, A)\n  fadd $lr{D}v {A} $lr{D+8}v\n.endtemplate\n.body\n"
      ".repeat i = n, 0, -1\n  .repeat j = 0, i\n    add({8*j}, $lm{8*(i+j)}v)\n  "
      ".endrepeat\n.endrepeat\n");
  std::vector<std::pair<unsigned, unsigned>> seen;
  for (const Instruction& i : p.section(Section::Body))
    seen.emplace_back(i.alu.dst.address, i.alu.a.address);
  using V = std::vector<std::pair<unsigned, unsigned>>;
  CHECK(seen == V{{0, 16}, {8, 24}, {16, 32}, {0, 8}, {8, 16}, {0, 0}});
  CHECK(p.lines[2][0] == SourceLine{0, 3});
  CHECK(codes_of(".repeat k = 3, 1\nnonsense\n.endrepeat\n").empty());  // no iteration
  CHECK(codes_of("const k = 1\n.repeat k = 3, 1\n.endrepeat\n") == std::vector<unsigned>{2001});
}

TEST_CASE("line continuations, comments, CRLF and a missing final line feed are accepted") {
  const Program p = assembled(
      ".body # a comment \\\r\nfadd $lr0v, \\\r\n  $lr8v, \\\n  $lr16v // text\r\n\tfadd $lr0v "
      "$lr8v 2");
  REQUIRE(p.section(Section::Body).size() == 2);
  CHECK(p.lines[2][0].line == 2);
  CHECK(p.lines[2][1].line == 5);
  const AssembleResult r = assemble(".body\nfadd $lr0v \\\n  nothing $lr8v\n", "t.gds");
  REQUIRE(r.diagnostics.list.size() == 1);
  CHECK(r.diagnostics.list[0].range.line == 3);
  CHECK(r.diagnostics.list[0].range.column == 3);
}

TEST_CASE(
    "includes are searched in the file's directory, then the include directories, and cycles are "
    "errors") {
  namespace fs = std::filesystem;
  const TemporaryFolder folder;
  const fs::path dir = folder.path();
  fs::create_directories(dir / "more");
  std::ofstream(dir / "a.gds") << ".include \"b.gds\"\n.include \"c.gds\"\n.body\nfadd x x x\n";
  std::ofstream(dir / "b.gds") << "alias x = $lr0v\n";
  std::ofstream(dir / "more" / "c.gds") << "alias y = $lr8v\n";
  std::ofstream(dir / "loop.gds") << ".include \"round.gds\"\n";
  std::ofstream(dir / "round.gds") << ".include \"loop.gds\"\n";
  AssembleOptions options;
  options.include_dirs = {(dir / "more").string()};
  const AssembleResult good = assemble_file((dir / "a.gds").string(), options);
  INFO(good.diagnostics.render());
  CHECK(good.ok());
  CHECK(good.diagnostics.sources.size() == 3);
  const AssembleResult loop = assemble_file((dir / "loop.gds").string());
  REQUIRE(loop.diagnostics.list.size() == 1);
  CHECK(loop.diagnostics.list[0].code == 1103);
  CHECK(loop.diagnostics.list[0].range.file == 1);
  CHECK_THROWS(assemble_file((dir / "none.gds").string()));
}

TEST_CASE("exponentially repeated includes are an error after 10000 files") {
  const TemporaryFolder folder;
  for (int k = 0; k < 40; ++k) {
    const std::string next = ".include \"f" + std::to_string(k + 1) + ".gds\"\n";
    folder.make("f" + std::to_string(k) + ".gds", next + next);
  }
  folder.make("f40.gds", "# nothing\n");
  const AssembleResult result = assemble_file(folder.file("f0.gds"));  // all would take ages
  REQUIRE(result.diagnostics.list.size() == 1);
  CHECK(result.diagnostics.list[0].code == 1108);
  CHECK(result.diagnostics.list[0].message == "more than 10000 files are included");
}

TEST_CASE("a listing has address, clock, line, source and encoding") {
  const std::string text =
      ".kernel k\n.body\nvlen 1\n  fadd $lr0 $lr2 $lr4\n  fmul $lr6 $lr0 $lr4 # last\n";
  const AssembleResult r = assemble(text, "t.gds");
  REQUIRE(r.ok());
  const std::string list = listing(*r.program, r.diagnostics);
  CHECK(list.find("  0000       0     4  fadd $lr0 $lr2 $lr4") != std::string::npos);
  CHECK(list.find("  0001       1     5  nop, 3 idle") != std::string::npos);
  CHECK(list.find("  0002       4     5  fmul $lr6 $lr0 $lr4 # last") != std::string::npos);
}

TEST_CASE("tool directives set line table and layout") {
  const Program p = assembled(
      ".kernel \"\"\n.file 1 \"a\\x20b\"\n.item 6\n.output 4\n.fixed 10\n.symbol s $lr4v\n.body\n"
      "nop\n.line 1 77\nnop\nnop\njvar long x f64to72 at $ls2 pad 0x3ff0000000000000\n");
  CHECK(p.name.empty());
  CHECK(p.files == std::vector<std::string>{"", "a b"});
  CHECK(p.lines[2] == std::vector<SourceLine>{{0, 0}, {1, 77}, {1, 77}});
  CHECK((p.item_shorts == 6 && p.output_shorts == 4 && p.fixed_shorts == 10));
  CHECK(p.symbols[0] == Symbol{"s", {Space::Register, Width::Long, true, 4}});
  CHECK(p.variables[0].pad == 0x3ff0000000000000);
}

TEST_CASE("quantities and default values describe what the host passes") {
  const Program p = assembled(
      "ivar long as default f64to72 as pos\nivar short id i64int default -1 as id\n"
      "jvar short m f64to36 pad 0 as mass at $s4\nparam long eps2 f64to72 as eps^2\n.body\n"
      "fadd $t $t $t\n");
  REQUIRE(p.variables.size() == 5);
  CHECK((p.variables[0].name == "as" && p.variables[1].name == "default"));
  CHECK((p.variables[1].quantity == "pos" && !p.variables[1].squared));
  CHECK((p.variables[2].quantity == "id" && p.variables[2].default_value == -1));
  CHECK((p.variables[3].quantity == "mass" && !p.variables[3].default_value));
  CHECK((p.variables[4].quantity == "eps" && p.variables[4].squared));
  const auto message = [](const std::string& line) {
    return assemble(line + "\n", "t.gds").diagnostics.render();
  };
  CHECK(message("fvar long f f64to72 fadd as acc").find("`fvar` has no quantity") !=
        std::string::npos);
  CHECK(message("ivar long x f64to72 as").find("expected after `as`") != std::string::npos);
  CHECK(message("ivar long x f64to72 as pos^3").find("`as NAME^2`") != std::string::npos);
  CHECK(message("ivar long x f64to72 default 1").find("cannot have a default value") !=
        std::string::npos);
  CHECK(message("ivar short n i64int default 34359738368").find("is out of range") !=
        std::string::npos);
  CHECK(message("ivar short n i64int default 1.5").find("must be an integer") != std::string::npos);
}

TEST_CASE(".array and .host describe the interface") {
  const Program p = assembled(
      "ivar long x_0 x_1 f64to72\njvar long m f64to72\n.array x 2\n.host x \"position\"\n"
      ".host m \"mass of j\"\n.body\nfadd $t $t $t\n");
  REQUIRE(p.arrays.size() == 1);
  CHECK(p.arrays[0] == VariableArray{"x", 0, {2}});
  CHECK(p.host_names == std::vector<HostName>{{"x", "position"}, {"m", "mass of j"}});
  const std::string head = "ivar long x_0 x_1 f64to72\n";
  const auto message = [&](const std::string& line) {
    return assemble(head + line + "\n", "t.gds").diagnostics.render();
  };
  CHECK(message(".array x 3").find("`x_2` is missing") != std::string::npos);
  CHECK(message(".array x 0").find("the size of an array") != std::string::npos);
  CHECK(message(".array 7 2").find("needs a name") != std::string::npos);
  CHECK(message(".array x 2\n.array x 2").find("already declared") != std::string::npos);
  CHECK(message(".host y \"z\"").find("not a declared variable") != std::string::npos);
  CHECK(message(".host x_0 \"\"").find("is empty") != std::string::npos);
}

TEST_CASE(".cutoff names the variables beyond whose radius pairs contribute nothing") {
  const std::string head =
      "ivar long r2 x y z f64to72\nivar short i i64int\njvar long u v w f64to72\n";
  const Program p = assembled(head + ".cutoff r2 x y z u v w\n.body\nfadd $t $t $t\n");
  CHECK(p.cutoff == Cutoff{0, {1, 2, 3}, {5, 6, 7}});
  const auto message = [&](const std::string& line) {
    return assemble(head + line + "\n", "t.gds").diagnostics.render();
  };
  CHECK(message(".cutoff r2 x y z u v").find("declared variable of sources") != std::string::npos);
  CHECK(message(".cutoff i x y z u v w").find("`i` is not") != std::string::npos);
  CHECK(message(".cutoff r2 x y u u v w").find("`u` is not") != std::string::npos);
  CHECK(message(".cutoff r2 x y z u v w\n.cutoff r2 x y z u v w").find("already has") !=
        std::string::npos);
}

}  // namespace gdr::test
