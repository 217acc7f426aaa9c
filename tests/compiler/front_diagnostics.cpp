// Every diagnostic of the kernel language: its example provokes it, its page is true.
#include <filesystem>
#include <fstream>
#include <set>
#include <sstream>

#include "compiler/front_support.hpp"
#include "kernels/compiler/diagnostics/page.hpp"
#include "kernels/compiler/diagnostics/table.hpp"

namespace gdr::test {
namespace {

std::string read_file(const std::string& path) {
  std::ifstream in(path, std::ios::binary);
  std::ostringstream out;
  out << in.rdbuf();
  return out.str();
}

struct Expectation {
  std::uint32_t line = 0, column = 0;
  unsigned code = 0;
  std::string text;
};

/// `// expect-error CODE col N: text`, or expect-warning, behind the line that it is about.
std::vector<Expectation> expectations_of(const std::string& source) {
  std::vector<Expectation> all;
  std::istringstream in(source);
  std::string line;
  for (std::uint32_t number = 1; std::getline(in, line); ++number) {
    const std::size_t at = line.find("// expect-");
    if (at == std::string::npos) continue;
    Expectation e;
    e.line = number;
    std::istringstream rest(line.substr(at + 3));
    std::string word;
    rest >> word >> e.code >> word >> e.column;
    REQUIRE(rest.get() == ':');
    std::getline(rest >> std::ws, e.text);
    all.push_back(e);
  }
  return all;
}

}  // namespace

TEST_CASE("cases of kernels raise exactly what their lines expect") {
  unsigned files = 0;
  for (const auto& entry :
       std::filesystem::directory_iterator(std::string(GDR_SOURCE_DIR) + "/tests/compiler/cases")) {
    if (entry.path().extension() != ".gdk") continue;
    ++files;
    const std::string text = read_file(entry.path().string());
    const kc::FrontResult r = kc::read_kernel(text, entry.path().string());
    const auto expected = expectations_of(text);
    INFO(r.diagnostics.render());
    REQUIRE(r.diagnostics.list.size() == expected.size());
    for (std::size_t i = 0; i < expected.size(); ++i) {
      const Diagnostic& d = r.diagnostics.list[i];
      INFO(expected[i].text);
      CHECK(d.range.line == expected[i].line);
      CHECK(d.code == expected[i].code);
      CHECK(d.range.column == expected[i].column);
      CHECK(d.message.find(expected[i].text) != std::string::npos);
    }
  }
  CHECK(files > 2);
}

TEST_CASE("each example of the kernel language's table provokes its code first") {
  std::set<unsigned> seen;
  for (const DiagnosticInfo& info : kc::kernel_diagnostic_table()) {
    const Diagnostics all = kc::diagnostics_of_example(info);
    INFO("GDR" << info.code << ": " << info.title << "\n" << all.render());
    REQUIRE(!all.list.empty());
    const Diagnostic& first = all.list.front();
    CHECK(first.code == info.code);
    CHECK((first.severity == Severity::Warning) == (info.code / 100 == 71));
    CHECK(first.range.line >= 1);
    CHECK(first.range.column >= 1);
    CHECK(first.range.column_end > first.range.column);
    CHECK(seen.insert(info.code).second);
    CHECK(!info.explanation.empty());
  }
  CHECK(seen.size() > 40);
}

TEST_CASE("every example of docs/reference/kernel-language.md compiles without a message") {
  const std::string page =
      read_file(std::string(GDR_SOURCE_DIR) + "/docs/reference/kernel-language.md");
  const std::string fence = "```gdk\n";
  unsigned examples = 0;
  for (std::size_t at = page.find(fence); at != std::string::npos; at = page.find(fence, at)) {
    at += fence.size();
    const std::string text = page.substr(at, page.find("```", at) - at);
    const kc::FrontResult r = kc::read_kernel(text, "example.gdk");
    INFO(r.diagnostics.render());
    CHECK(r.diagnostics.list.empty());
    ++examples;
  }
  CHECK(examples > 10);
}

TEST_CASE("errors in loops and functions point at the place and at its use, once") {
  const kc::FrontResult r = kc::read_kernel(
      "VARI x; VARF f;\nfunction g(y) { return y*z; }\nfor k = 1 .. 3 {\n  f += g(x);\n}\n",
      "t.gdk");
  CHECK(r.diagnostics.render() ==
        "t.gdk:2:26: error[GDR7002]: there is no `z`\n"
        "    2 | function g(y) { return y*z; }\n"
        "      |                          ^\n"
        "t.gdk:4:8: note: in `g`, called here\n"
        "t.gdk:3:5: note: in this loop, with k = 1\n"
        "   help: a function sees its parameters, inputs and constants, no temporaries\n");
}

TEST_CASE("the number of errors kept is bounded, the count is not") {
  std::string text = "VARF f;\n";
  for (int i = 0; i < 500; ++i) text += "f += nothing;\n";
  kc::FrontOptions options;
  options.max_errors = 7;
  const kc::FrontResult r = kc::read_kernel(text, "t.gdk", options);
  CHECK(r.diagnostics.list.size() == 7);
  CHECK(r.diagnostics.error_count == 500);
  CHECK(!r.graph);
}

TEST_CASE("misspelt words get a suggestion") {
  const auto help_of = [](const std::string& text) {
    const kc::FrontResult r = kc::read_kernel(text, "t.gdk");
    REQUIRE(!r.diagnostics.list.empty());
    return r.diagnostics.list.front().help;
  };
  CHECK(help_of("VARI mass; VARF f; f += maas;") == "did you mean `mass`?");
  CHECK(help_of("VARI x; VARF f; f += rsqr(x);") == "did you mean `rsqrt`?");
  CHECK(help_of("VARL x;") == "did you mean `VARI`?");
  CHECK(help_of("VARI x; VARF f; skp if (x > 0); f += x;") == "did you mean `skip`?");
}

}  // namespace gdr::test
