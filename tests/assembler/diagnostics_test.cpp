// Diagnostics of the assembler: examples and rendering.
#include <set>

#include "assembler/support.hpp"
#include "emulator/assembler/printable.hpp"
#include "support/expected_diagnostics.hpp"

namespace gdr::test {

TEST_CASE("the example of each diagnostic raises this diagnostic first") {
  std::set<unsigned> seen;
  for (const DiagnosticInfo& info : diagnostic_table()) {
    AssembleOptions options;
    options.stall_is_error = true;
    const AssembleResult result = assemble(info.example, "example.gds", options);
    INFO("GDR" << info.code << ": " << info.title << "\n" << result.diagnostics.render());
    REQUIRE(!result.diagnostics.list.empty());
    const Diagnostic& first = result.diagnostics.list.front();
    CHECK(first.code == info.code);
    CHECK(first.range.line >= 1);
    CHECK(first.range.column >= 1);
    CHECK(first.range.column_end > first.range.column);
    CHECK(seen.insert(info.code).second);
    CHECK(!info.explanation.empty());
  }
  CHECK(seen.size() > 60);
}

TEST_CASE("a rendered diagnostic has position, source line, caret range, note and help") {
  AssembleOptions options;
  options.stall_is_error = true;
  const AssembleResult r =
      assemble(".body\nvlen 1\nfsub $r0 $r20 $r30\nfmul $r2 $r40 $r0\n", "g.gds", options);
  CHECK(r.diagnostics.render() ==
        "g.gds:4:15: error[GDR4003]: `$r0` is read 3 clocks before it is ready\n"
        "    4 | fmul $r2 $r40 $r0\n"
        "      |               ^~~ line 3 writes it; it can be read 4 clocks later\n"
        "g.gds:3:1: note: written here\n"
        "   help: let the assembler insert idle clocks, or insert independent instructions\n");
}

TEST_CASE("all errors of a file are reported in line order") {
  const std::string text =
      "ivar long x f64to73\njvar lnog m f64to36\n.body\n fmull $r0 $r1 $r2\n fadd $r0 y $r2\n fadd "
      "$r99 $r0 $r1\n"
      " bget $lr0 m\n.bodyy\n";
  CHECK(codes_of(text) == std::vector<unsigned>{2005, 2004, 3001, 3002, 5002, 1101});
}

TEST_CASE("misspelt names raise errors with a suggestion") {
  const auto help_of = [](std::string_view text) {
    const AssembleResult r = assemble(text, "t.gds");
    REQUIRE(!r.diagnostics.list.empty());
    return r.diagnostics.list.front().help;
  };
  CHECK(help_of(".body\nfmull $r0 $r1 $r2\n") == "did you mean `fmul`?");
  CHECK(help_of("tmp long velocity\n.body\nfadd $lr0 velocty $lr2\n") ==
        "did you mean `velocity`?");
  CHECK(help_of(".strat\n") == "did you mean `.start`?");
  CHECK(help_of("ivar long x f64to37\n") == "did you mean `f64to36`?");
  CHECK(help_of("fvar long x f64to72 fad\n") == "did you mean `fadd`?");
}

TEST_CASE("numbers of operations that no object holds are refused, and -0 is 0") {
  const auto message = [](const std::string& flops) {
    const AssembleResult r = assemble(".flops " + flops + "\n.body\nnop\n", "t.gds");
    return r.ok() ? std::string() : r.diagnostics.list.front().message;
  };
  CHECK(message("1e-308") == "the number of operations is below 2^-1022");
  CHECK(message("1e400") == "the number of operations is above 1e15");
  CHECK(message("1.1e15") == "the number of operations is above 1e15");
  CHECK(message("1e15").empty());
  CHECK(message("-1") == "the number of operations must be nonnegative");
  CHECK(message("2.3e-308").empty());
  const AssembleResult zero = assemble(".flops -0.0\n.body\nnop\n", "t.gds");
  REQUIRE(zero.ok());
  CHECK_FALSE(std::signbit(zero.program->flops));
}

TEST_CASE("the number of stored errors is limited, the error count is not") {
  std::string text = ".body\n";
  for (int i = 0; i < 500; ++i) text += "fadd $r0 nothing $r1\n";
  AssembleOptions options;
  options.max_errors = 7;
  const AssembleResult r = assemble(text, "t.gds", options);
  CHECK(r.diagnostics.list.size() == 7);
  CHECK(r.diagnostics.error_count == 500);
  CHECK(r.diagnostics.render().find("... and 493 more errors") != std::string::npos);
}

TEST_CASE("errors in templates and repeats have notes about their expansion") {
  const AssembleResult r = assemble(
      ".template double(X)\n  fadd X X nothing\n.endtemplate\n.body\n.repeat k = 2, 2\n  "
      "double($lr{2*k})\n.endrepeat\n",
      "t.gds");
  REQUIRE(r.diagnostics.list.size() == 1);
  const Diagnostic& d = r.diagnostics.list.front();
  CHECK(d.range.line == 2);
  CHECK(d.range.column == 12);
  REQUIRE(d.notes.size() == 2);
  CHECK(d.notes[0].range.line == 6);
  CHECK(d.notes[1].message == "in this repeat, with k = 2");
}

TEST_CASE("all invalid operands of a line are reported") {
  const AssembleResult r = assemble(
      ".body\nfadd $lr7v xq yq ; fmul $t foo (1 + 2) ; bget bar $lr2 # no more\n", "t.gds");
  std::vector<std::uint32_t> columns;
  for (const Diagnostic& d : r.diagnostics.list) columns.push_back(d.range.column);
  // $lr7v, xq, yq, foo, bar; and $lr2, which is no broadcast memory
  CHECK(columns == std::vector<std::uint32_t>{6, 12, 15, 28, 47, 51});
}

TEST_CASE("invalid bytes are reported and never printed") {
  const std::string text =
      std::string(".body\nfadd $r0 ") + '\0' + "\x1b[31m\xff\xc3 $r1\r\nfadd $r0 $r1 $r2";
  const AssembleResult r = assemble(text, "t.gds");
  CHECK(r.diagnostics.error_count == 1);
  for (const char c : r.diagnostics.render())
    CHECK((c == '\n' || static_cast<unsigned char>(c) >= ' '));
}

TEST_CASE("control characters of names and messages are escaped in diagnostics") {
  const AssembleResult r = assemble(".body\nfadd $r0 $r1 \x1b[31mx\n", "a\x1b]0;title\x07.gds");
  REQUIRE(!r.diagnostics.list.empty());
  const std::string text = r.diagnostics.render();
  CHECK(text.find("a\\x1b]0;title\\x07.gds:2:") != std::string::npos);
  CHECK(text.find('\x1b') == std::string::npos);
  CHECK(text.find('\x07') == std::string::npos);
}

TEST_CASE("printable() escapes control characters and invalid UTF-8") {
  CHECK(printable("plain, with \n and \t") == "plain, with \n and \t");
  CHECK(printable("\x1b[2J\r\x7f\b") == "\\x1b[2J\\x0d\\x7f\\x08");
  CHECK(printable(std::string_view("\0", 1)) == "\\x00");
  CHECK(printable("\xc3\xa9 \xe2\x82\xac \xf0\x9f\x9a\x80") ==
        "\xc3\xa9 \xe2\x82\xac \xf0\x9f\x9a\x80");
  CHECK(printable("\xc2\x9b"
                  "2J \xc2\xa0") ==
        "\\xc2\\x9b"
        "2J \xc2\xa0");
  CHECK(printable("\x9b"
                  "2J \xc3") ==
        "\\x9b"
        "2J \\xc3");
  CHECK(printable("\xed\xa0\x80 \xc0\xaf") == "\\xed\\xa0\\x80 \\xc0\\xaf");
}

TEST_CASE("a very long source line is truncated in diagnostics") {
  const AssembleResult r = assemble(
      ".body\nfadd $r0 $r1 " + std::string(5000, ' ') + "nothing # " + std::string(9000, 'x'),
      "t.gds");
  const std::string text = r.diagnostics.render();
  CHECK(text.size() < 1000);
  CHECK(text.find("nothing") != std::string::npos);
}

}  // namespace gdr::test
