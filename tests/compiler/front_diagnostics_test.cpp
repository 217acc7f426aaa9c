// Diagnostics of the kernel language: cases, examples, and the generated page.
#include <set>

#include "compiler/front_support.hpp"
#include "kernels/compiler/compiler.hpp"
#include "kernels/compiler/diagnostic_examples.hpp"
#include "support/expected_diagnostics.hpp"

namespace gdr::test {

TEST_CASE("erroneous kernels raise exactly the expected diagnostics") {
  const auto compile = [](const std::string& text, const std::string& path) {
    return kc::read_kernel(text, path).diagnostics;
  };
  CHECK(check_expected_diagnostics("tests/compiler/cases", ".gdk", compile) > 2);
}

TEST_CASE("the example of each diagnostic raises this diagnostic first") {
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

TEST_CASE("every example of docs/reference/kernel-language.md compiles without diagnostics") {
  const std::string page =
      content_of(std::string(GDR_SOURCE_DIR) + "/docs/reference/kernel-language.md");
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

TEST_CASE("numbers of operations that are too small or too large are errors of the text") {
  for (const auto& [flops, message] :
       {std::pair("1e-308", "below 2^-1022"), {"1e308", "above 1e15"}}) {
    const CompileResult r = compile_kernel(
        "flops " + std::string(flops) + "; VARI x; VARF f; f += x;", "t.gdk", CompileOptions{});
    REQUIRE_FALSE(r.ok());
    const std::string text = r.diagnostics.render();
    INFO(text);
    CHECK(text.find("the number of operations is " + std::string(message)) != std::string::npos);
  }
}

TEST_CASE("a hexadecimal number that is too large is an error whatever its exponent is") {
  const std::string zeros(300, '0');
  const auto diagnostics = [](const std::string& number) {
    return kc::read_kernel("VARI x; VARF f; f += x*" + number + ";\n", "t.gdk")
        .diagnostics.render();
  };
  CHECK(diagnostics("0x1p1024").find("too large") != std::string::npos);
  CHECK(diagnostics("0x1" + zeros + "p-1").find("too large") != std::string::npos);
  CHECK(diagnostics("0x1" + zeros + "p-1200").empty());  // 1
  CHECK(diagnostics("0x0." + zeros + "1p1").empty());    // 0
}

TEST_CASE("errors in loops and functions are reported once, with notes about the calls") {
  const kc::FrontResult r = kc::read_kernel(
      "VARI x; VARF f;\nfunction g(y) { return y*z; }\nfor k = 1 .. 3 {\n  f += g(x);\n}\n",
      "t.gdk");
  CHECK(r.diagnostics.render() ==
        "t.gdk:2:26: error[GDR7002]: `z` is not declared\n"
        "    2 | function g(y) { return y*z; }\n"
        "      |                          ^\n"
        "t.gdk:4:8: note: in `g`, called here\n"
        "t.gdk:3:5: note: in this loop, with k = 1\n"
        "   help: a function sees its parameters, inputs and constants, but not the kernel's "
        "temporaries\n");
}

TEST_CASE("the number of stored errors is limited, the error count is not") {
  std::string text = "VARF f;\n";
  for (int i = 0; i < 500; ++i) text += "f += nothing;\n";
  const kc::FrontResult r = kc::read_kernel(text, "t.gdk", {}, 7);
  CHECK(r.diagnostics.list.size() == 7);
  CHECK(r.diagnostics.error_count == 500);
  CHECK(!r.graph);
}

TEST_CASE("misspelt names raise errors with a suggestion") {
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
