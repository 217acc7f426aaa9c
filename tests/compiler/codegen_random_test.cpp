// Random expressions, compiled and run, against the exact value of what they say.
#include <algorithm>
#include <random>

#include "compiler/codegen_support.hpp"
#include "emulator/assembler/assembler.hpp"
#include "emulator/assembler/object.hpp"
#include "kernels/builtin.hpp"
#include "support/iterations.hpp"

namespace gdr::test {
namespace {

/// Writes kernels whose values stay between about 1e-3 and 1e3, so that nothing but rounding is in
/// the difference: every function of the language occurs.
class Author {
 public:
  explicit Author(std::uint64_t seed) : random_(seed) {}

  std::string write() {
    std::string text =
        "VARI a, b, c; VARJ p, q, w; CONST k; VARF f, g, h;\n"
        "function sq(x) { return x*x; }\n";
    const int lines = 2 + below(3);
    for (int i = 0; i < lines; ++i) {
      const std::string name = "t" + std::to_string(i);
      text += (below(8) == 0 ? "long " : "") + name + " = " + expression(3) + ";\n";
      names_.push_back(name);
    }
    if (below(3) == 0) text += "skip if (" + names_.front() + " < " + atom() + ");\n";
    for (const char* result : {"f", "g", "h"}) text += contributions(result, 2);
    return text;
  }

 private:
  int below(int n) { return static_cast<int>(random_() % static_cast<unsigned>(n)); }

  /// One or more, some of them under conditions.
  std::string contributions(const std::string& result, int depth) {
    if (depth > 0 && below(3) == 0) {
      std::string text = "if (" + condition(1) + ") { " + contributions(result, depth - 1) + "}";
      if (below(2) == 0) text += " else { " + contributions(result, depth - 1) + "}";
      return text + "\n" + (below(2) == 0 ? contributions(result, depth - 1) : "");
    }
    return result + (below(3) == 0 ? " -= " : " += ") + names_.back() + "*" + atom() + ";\n";
  }

  /// Of inputs: they are what they are, so that no rounding decides.
  std::string condition(int depth) {
    static const char* const all[] = {"a < p", "q < b", "c > w", "p < k", "a*0.5 < k"};
    if (depth > 0 && below(3) == 0)
      return condition(depth - 1) + (below(2) == 0 ? " && " : " || ") + condition(depth - 1);
    return (below(3) == 0 ? "!(" : "(") + std::string(all[below(5)]) + ")";
  }

  std::string atom() {
    static const char* const inputs[] = {"a", "b", "c", "p", "q", "w", "k"};
    if (!names_.empty() && below(10) < 6)
      return names_[static_cast<std::size_t>(below(static_cast<int>(names_.size())))];
    return inputs[below(7)];
  }

  std::string expression(int depth) {
    static const char* const numbers[] = {"0.5", "2", "1.25", "3", "0.1", "-1.5"};
    static const char* const comparisons[] = {"<", ">", "<=", ">="};
    if (depth == 0 || below(7) == 0) return below(7) == 0 ? numbers[below(6)] : atom();
    const auto part = [&] { return expression(depth - 1); };
    switch (below(18)) {
      case 0:
        return "rsqrt(sq(" + part() + ") + 0.5)";
      case 1:
        return "(" + part() + ")/(sq(" + part() + ") + 1)";
      case 2:
        return "max(" + part() + ", " + part() + ")";
      case 3:
        return "min(" + part() + ", " + part() + ")";
      case 4:
        return "abs(" + part() + ")";
      case 5:
        return "sqrt(sq(" + part() + ") + 0.25)";
      case 6:
        return "exp(-0.1*sq(" + part() + "))";
      case 7:
        return "(" + part() + " " + comparisons[below(4)] + " " + part() + " ? " + part() + " : " +
               part() + ")";
      case 8:
        return function(part());
      default: {
        static const char* const operators[] = {" + ", " - ", "*"};
        return "(" + part() + operators[below(3)] + part() + ")";
      }
    }
  }

  /// A function of x that does not amplify its relative error; rounded are inputs only.
  std::string function(const std::string& x) {
    switch (below(12)) {
      case 0:
        return "log(sq(" + x + ") + 0.5)";
      case 1:
        return "sin(3*tanh(" + x + "))";
      case 2:
        return "cos(2*tanh(" + x + "))";
      case 3:
        return "atan2(" + x + ", sq(" + atom() + ") + 0.5)";
      case 4:
        return "acos(0.9*tanh(" + x + "))";
      case 5:
        return "cbrt(sq(" + x + ") + 0.1)";
      case 6:
        return "erf(" + x + ")";
      case 7:
        return "erfc(abs(tanh(" + x + ")))";
      case 8:
        return "(boys(0, sq(" + x + ")) + boys(3, sq(" + x + ")))";
      case 9:
        return "pow(sq(" + x + ") + 0.5, 0.3)";
      case 10:
        return "(floor(4*a)*0.25 + round(8*p)*0.125)";
      default:
        return "tan(asin(0.5*tanh(" + x + ")))";
    }
  }

  std::mt19937_64 random_;
  std::vector<std::string> names_;
};

}  // namespace

namespace {

constexpr std::size_t targets = 5, sources = 7;

/// Numbers for the inputs of what an Author writes.
Data random_data(std::uint64_t seed) {
  std::mt19937_64 random(seed);
  std::normal_distribution<double> normal;
  Data data{{"k", {0.75}}};
  for (const char* name : {"a", "b", "c"})
    for (std::size_t i = 0; i < targets; ++i) data[name].push_back(normal(random));
  for (const char* name : {"p", "q", "w"})
    for (std::size_t i = 0; i < sources; ++i) data[name].push_back(normal(random));
  return data;
}

}  // namespace

TEST_CASE("random kernels agree with the evaluation of their graph") {
  const std::uint64_t cases = test::test_iterations(14);
  const std::uint64_t first = test::first_seed();
  for (std::uint64_t seed = first; seed < first + cases; ++seed) {
    const Data data = random_data(seed);
    // Shorts have 25 bits; a few digits are lost in differences.
    const std::string text = Author(seed).write();
    CompileOptions options;
    options.effort = 0;
    const CompileResult r = compile_kernel(text, "test.gdk", options);
    if (lacks_masks(r)) continue;
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
      Program program = *text.compile().program;
      text.add_longs(program, {});
      check_disassembly(program);
    }
  const std::uint64_t first = first_seed();
  for (std::uint64_t seed = first; seed < first + test_iterations(8); ++seed) {
    CompileOptions options;
    options.effort = 0;
    const CompileResult made = compile_kernel(
        (seed % 2 == 0 ? "precision long;\n" : "") + Author(seed).write(), "test.gdk", options);
    if (lacks_masks(made)) continue;
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
    check(text, *r.program, random_data(seed), targets, sources, 3e-5);
  }
  CAPTURE(seed - first);
  CHECK(rematerialized == wanted);
}

}  // namespace gdr::test
