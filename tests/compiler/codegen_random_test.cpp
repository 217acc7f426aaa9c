// Random expressions, compiled and run, against the exact value of what they say.
#include <algorithm>
#include <random>

#include "compiler/codegen_support.hpp"
#include "compiler/random_kernel.hpp"
#include "emulator/assembler/assembler.hpp"
#include "emulator/assembler/object.hpp"
#include "kernels/builtin.hpp"
#include "support/iterations.hpp"

namespace gdr::test {
namespace {

constexpr std::size_t targets = 5, sources = 7;

}  // namespace

TEST_CASE("random kernels agree with the evaluation of their graph") {
  const std::uint64_t cases = test::test_iterations(14);
  const std::uint64_t first = test::first_seed();
  for (std::uint64_t seed = first; seed < first + cases; ++seed) {
    const Data data = random_data(seed, targets, sources);
    // Shorts have 25 bits; a few digits are lost in differences.
    const std::string text = RandomKernel(seed).write();
    CompileOptions options;
    options.effort = seed % 7 == 0 ? 1 : 0;
    const CompileResult r = compile_kernel(text, "test.gdk", options);
    CAPTURE(seed);
    INFO(text << r.diagnostics.render());
    REQUIRE(r.ok());
    check(text, *r.program, data, targets, sources, 3e-5);
  }
}

namespace {

/// A kernel with more live values than the memory holds for four targets: temporaries of a few
/// operations, all of them used at the end.
std::string high_pressure_kernel(std::uint64_t seed) {
  std::mt19937_64 random(seed);
  const auto below = [&](unsigned n) { return static_cast<unsigned>(random() % n); };
  const unsigned n = 130 + below(90);
  std::string text =
      "VARI a, b, c; VARJ p, q, w; CONST k; VARF f, g, h;\n"
      "d = p - a; e = q - b; s = w*k; u = d*d + 1;\n";
  static const char* const parts[] = {"d", "e", "s", "u", "a", "c", "p", "w", "k"};
  const auto part = [&] { return std::string(parts[below(9)]); };
  const auto name = [](unsigned t) { return "t" + std::to_string(t); };
  for (unsigned t = 0; t < n; ++t) {
    const std::string number = std::to_string(t % 17 + 1) + ".5";
    std::string law = part() + "*" + number + " + " + part();
    const unsigned kind = below(12);
    if (kind == 0) law = "max(" + part() + ", " + part() + "*" + number + ")";
    if (kind == 1) law = "abs(" + part() + " - " + number + ")";
    if (kind == 2) law = "(a < p ? " + part() + " : " + part() + "*" + number + ")";
    if (kind == 3 && t > 0) law = name(below(t)) + "*0.25 + " + part();
    if (kind == 4) law = "rsqrt(u + " + number + ")";
    if (kind > 8) law += "*" + part();
    text += (below(15) == 0 ? "long " : "") + name(t) + " = " + law + ";\n";
  }
  for (const char* result : {"f", "g", "h"}) {
    text += std::string(result) + " += 0";
    for (unsigned t = 0; t < n; ++t) text += " + " + name(t) + "*" + name(below(n));
    text += ";\n";
  }
  return text;
}

}  // namespace

TEST_CASE("the disassembly of compiled kernels assembles to the same object") {
  const auto check_disassembly = [](const Program& program) {
    const std::string text = disassemble(program);
    INFO(text);
    CHECK(text.find(".unchecked") == std::string::npos);
    const AssembleResult again = assemble(text, "again.gds");
    REQUIRE(again.ok());
    REQUIRE(write_object(*again.program) == write_object(program));
  };
  for (const BuiltinKernel& kernel : builtin_kernels()) {
    INFO(kernel.name);
    const AssembleResult made = assemble(std::string(kernel.source), "library.gds");
    REQUIRE(made.ok());
    check_disassembly(*made.program);
  }
  for (const std::string law : {"0.1*q - p", "(p + q)^-0.85", "erfc(q)*exp(-q)", "0.3*sin(q)/p"})
    for (const std::string precision : {"", "precision long; "}) {
      // Objects also have the program in longs.
      const KernelText text(precision + "VARI p; VARJ q; VARF f; f += " + law + ";", "law.gdk");
      CompileOptions options;
      options.effort = 0;
      Program program = *text.compile(options).program;
      text.add_longs(program, {});
      check_disassembly(program);
    }
  const std::uint64_t first = first_seed();
  for (std::uint64_t seed = first; seed < first + test_iterations(8); ++seed) {
    CompileOptions options;
    options.effort = 0;
    const CompileResult made =
        compile_kernel((seed % 2 == 0 ? "precision long;\n" : "") + RandomKernel(seed).write(),
                       "test.gdk", options);
    INFO("seed " << seed);
    if (made.ok()) check_disassembly(*made.program);
  }
}

TEST_CASE("random kernels that exceed the memory agree with the evaluation of their graph") {
  // Most of these kernels, but not all, exceed it: some more are tried.
  const std::uint64_t wanted = test::test_iterations(3), first = test::first_seed();
  std::uint64_t rematerialized = 0, seed = first;
  for (; rematerialized < wanted && seed < first + 4 * wanted + 8; ++seed) {
    const std::string text = high_pressure_kernel(seed);
    const CompileResult r = compiled(text);
    rematerialized += std::ranges::any_of(r.remarks, [](const std::string& remark) {
      return remark.find("are rematerialized") != std::string::npos;
    });
    CAPTURE(seed);
    check(text, *r.program, random_data(seed, targets, sources), targets, sources, 3e-5);
  }
  CAPTURE(seed - first);
  CHECK(rematerialized == wanted);
}

}  // namespace gdr::test
