// grad(u, x): the slope of every function against MPFR, on the host and on every engine; what the
// derivative is where a function has none; errors.
#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <random>
#include <string>
#include <vector>

#include "compiler/codegen_support.hpp"
#include "kernels/compiler/diagnostics/table.hpp"
#include "support/iterations.hpp"
#include "support/mpfr_functions.hpp"

namespace gdr::test {
namespace {

using kc::Code;

/// The derivative of an expression with respect to a, at a and b.
long double slope_of(const std::string& expression, const Abc& at) {
  return value_of("grad(" + expression + ", a)", at);
}

bool is_near(long double value, double right) {
  return std::fabs(value - right) <= 1e-15L * std::fabs(right);
}

/// A function, the range of its arguments, and the size of slopes below which the error is
/// absolute.
struct Differentiated {
  std::string name;
  double from, to;
  double size = 0;
  bool two = false;  ///< of two arguments: with respect to both
  int order = -1;
};
const std::vector<Differentiated>& differentiated() {
  static const std::vector<Differentiated> all{
      {"sqrt", 1e-6, 1e6},
      {"rsqrt", 1e-6, 1e6},
      {"recip", 1e-6, 1e6},
      {"powm32", 1e-6, 1e6},
      {"exp", -20, 20},
      {"abs", -5, 5},
      {"log", 1e-6, 1e6},
      {"sin", -20, 20, 1},
      {"cos", -20, 20, 1},
      {"tan", -1.5, 1.5, 1},
      {"asin", -0.999, 0.999},
      {"acos", -0.999, 0.999},
      {"atan", -50, 50},
      {"atan2", 0.1, 5, 0, true},
      {"atan2", -5, -0.1, 0, true},
      {"tanh", -8, 8, 1},
      {"pow", 0.05, 5, 0, true},
      {"cbrt", 1e-6, 1e6},
      {"cbrt", -100, -1e-3},
      {"erf", -5, 5},
      {"erfc", -5, 5},
      {"boys", 0.01, 60, 0, false, 0},
      {"boys", 0.01, 60, 0, false, 7},
      {"boys", 0.01, 60, 0, false, 15},
      {"round", -50, 50, 1},
      {"floor", -50, 50, 1},
      {"ceil", -50, 50, 1},
      {"trunc", -50, 50, 1},
  };
  return all;
}

std::string call_of(const Differentiated& f) {
  if (f.two) return f.name + "(x, y)";
  return f.order < 0 ? f.name + "(x)" : fmt::format("{}({}, x)", f.name, f.order);
}

}  // namespace

TEST_CASE("slopes of all functions agree with MPFR on every engine") {
  std::mt19937_64 random(first_seed());
  const std::size_t points = test_iterations(12);
  for (const Differentiated& f : differentiated()) {
    const std::string text =
        "precision long;\nVARI long x, y; VARJ one; VARF u, v;\nu += one*grad(" + call_of(f) +
        ", x);\nv += one*grad(" + (f.two ? call_of(f) : "x*y") + ", y);\n";
    INFO(text);
    Data data{{"one", {1}}};
    std::uniform_real_distribution<double> place(f.from, f.to);
    const bool by_exponents = f.from > 0 && f.to / f.from > 1e3;
    std::uniform_real_distribution<double> exponent(std::log(f.from), std::log(f.to));
    for (std::size_t k = 0; k < points; ++k) {
      data["x"].push_back(by_exponents ? std::exp(exponent(random)) : place(random));
      data["y"].push_back(place(random));
    }
    CompileOptions options;
    options.pipeline = false;
    const CompileResult compiled = compile_kernel(text, "test.gdk", options);
    REQUIRE(compiled.ok());
    const kc::Graph graph = graph_of(text);
    for (const std::string engine : {"reference", "native"}) {
      const Data got = run(Kernel(*compiled.program), data, points, 1, engine);
      for (std::size_t k = 0; k < points; ++k) {
        const double x = data["x"][k], y = data["y"][k];
        for (int argument = 0; argument < (f.two ? 2 : 1); ++argument) {
          const long double right = mpfr_derivative(f.name, argument, x, y, std::max(f.order, 0));
          const double value = got.at(argument == 0 ? "u" : "v")[k];
          INFO(engine << " " << call_of(f) << " at " << x << ", " << y << ": " << value
                      << " instead of " << static_cast<double>(right));
          const long double size = std::max(std::fabs(right), static_cast<long double>(f.size));
          CHECK(std::fabs(value - right) <= 1e-13L * size);
        }
      }
    }
    // The host has more digits: constants of 53 bits remain.
    for (std::size_t k = 0; k < points; ++k) {
      const double x = data["x"][k], y = data["y"][k];
      const auto terms = terms_of(graph, {{"x", {x}}, {"y", {y}}, {"one", {1}}});
      const long double right = mpfr_derivative(f.name, 0, x, y, std::max(f.order, 0));
      CHECK(std::fabs(terms[0].value - right) <=
            4e-16L * std::max(std::fabs(right), static_cast<long double>(f.size)));
    }
  }
}

TEST_CASE("every function of numbers has a row among the slopes") {
  const std::vector<std::string> others{"min", "max", "int", "short", "long"};
  for (const auto& [name, count] : kc::function_names()) {
    const bool known = std::ranges::count(differentiated(), name, &Differentiated::name) > 0 ||
                       std::ranges::count(others, name) > 0;
    INFO(name);
    CHECK(known);
  }
}

TEST_CASE("operators, selections and roundings have their slopes") {
  const Abc at{.a = 1.5L, .b = -2.25L, .c = 0.5L, .n = 3, .m = 0};
  CHECK(slope_of("a + b*a - (c - a)", at) == 1 - 2.25L + 1);
  CHECK(slope_of("-a*a", at) == -3);
  CHECK(slope_of("b/a", at) == 1);
  CHECK(slope_of("a/b", at) == 1 / -2.25L);
  CHECK(is_near(slope_of("2/a", at), -2 / 2.25));
  CHECK(slope_of("a^5", at) == 5 * 1.5L * 1.5L * 1.5L * 1.5L);
  CHECK(is_near(slope_of("a^-3", at), -3 * std::pow(1.5, -4)));
  CHECK(is_near(slope_of("a^3.5", at), 3.5 * std::pow(1.5, 2.5)));
  CHECK(is_near(slope_of("a^-2.5", at), -2.5 * std::pow(1.5, -3.5)));
  CHECK(slope_of("min(a, b)", at) == 0);
  CHECK(slope_of("max(a, b)", at) == 1);
  CHECK(slope_of("(a > b ? a*a : b)", at) == 3);
  CHECK(slope_of("(a < b ? a*a : b)", at) == 0);
  CHECK(slope_of("short(a) + long(a)", at) == 2);
  CHECK(slope_of("a*n", at) == 3);
  CHECK(slope_of("a*int(a)", at) == 1);
  CHECK(slope_of("a*round(a)", at) == 2);
  CHECK(slope_of("b + 1", at) == 0);
  CHECK(slope_of("3", at) == 0);
  CHECK(slope_of("n", at) == 0);
}

TEST_CASE("second derivatives nest") {
  const Abc at{.a = 1.5L, .b = -2.25L};
  CHECK(slope_of("grad(a^3*b, a)", at) == 6 * 1.5L * -2.25L);
  CHECK(value_of("grad(grad(a^3*b, a), b)", at) == 3 * 1.5L * 1.5L);
  CHECK(is_near(slope_of("grad(exp(2*a), a)", at), 4 * std::exp(3.0)));
  CHECK(is_near(slope_of("grad(grad(sin(a), a), a)", at), -std::cos(1.5)));
}

TEST_CASE("vectors and tensors have gradients of their shape") {
  const std::string text =
      "VARI vec3 x; VARJ vec3 y; VARJ sym3 q; VARF vec3 f, h; VARF sym3 g; VARF t;\n"
      "d = x - y; u = dot(d, q*d); f += grad(u, x); g += grad(u, q); h += grad(u, d);\n"
      "t += trace(outer(grad(norm2(d), y)));\n";
  const kc::Graph graph = graph_of(text);
  const auto terms = terms_of(graph, {{"x_0", {1}},
                                      {"x_1", {2}},
                                      {"x_2", {3}},
                                      {"q_0", {1}},
                                      {"q_1", {2}},
                                      {"q_2", {3}},
                                      {"q_3", {4}},
                                      {"q_4", {5}},
                                      {"q_5", {6}}});
  // 2 q d with d = (1, 2, 3); a component off the diagonal stands for two.
  const std::vector<long double> right{28, 50, 62, 1, 4, 6, 4, 12, 9, 28, 50, 62, 56};
  REQUIRE(terms.size() == right.size());
  for (std::size_t k = 0; k < terms.size(); ++k) CHECK(terms[k].value == right[k]);
}

TEST_CASE("a branch that is not taken gives no NaN") {
  const Abc zero{.a = 0, .b = 0};
  CHECK(slope_of("(a > 0 ? sqrt(a) + 1/a : 3*a)", zero) == 3);
  CHECK(slope_of("(a > 0 ? rsqrt(a) : 0)", zero) == 0);
  CHECK(slope_of("min(a^-12, 5)", zero) == 0);
  CHECK(slope_of("min(1e200*1e100/a, 5)", {.a = 1e-300L}) == 0);
  // The same number in two branches, which both are not taken.
  CHECK(slope_of("(a > 0 ? log(a) : 0) + (a > 1 ? log(a)*log(a) : 0)", zero) == 0);
  CHECK(slope_of("(b > 0 ? (a > 0 ? log(a) : a) : (a > 1 ? log(a) : 2*a))", zero) == 2);
  CHECK(slope_of("grad((a > 0 ? a^1.5 : 0), a)", zero) == 0);
  CHECK(slope_of("pow(a, b)", zero) == 0);
}

TEST_CASE("slopes at singular points are zero where the function has a value") {
  CHECK(slope_of("sqrt(a)", {.a = 0}) == 0);
  CHECK(slope_of("norm(vec3(a, b, c))", {}) == 0);
  CHECK(slope_of("abs(a)", {.a = 0}) == 0);
  CHECK(slope_of("cbrt(a)", {.a = 0}) == 0);
  CHECK(slope_of("asin(a)", {.a = 1}) == 0);
  CHECK(slope_of("acos(a)", {.a = -1}) == 0);
  CHECK(slope_of("acos(2*a)", {.a = 1}) == 0);
  CHECK(slope_of("atan2(a, b)", {}) == 0);
  CHECK(slope_of("pow(a, 0.3)", {.a = 0}) == 0);
}

TEST_CASE("of equal operands of a minimum or maximum the first has the derivative") {
  const Abc equal{.a = 2, .b = 2};
  CHECK(slope_of("max(a, b)", equal) == 1);
  CHECK(slope_of("max(b, a)", equal) == 0);
  CHECK(slope_of("min(3*a, 6)", equal) == 3);
  CHECK(slope_of("min(6, 3*a)", equal) == 0);
}

TEST_CASE("minimum images have the slope of the difference") {
  CHECK(slope_of("minimum_image(a - b, 4)^2", {.a = 5, .b = 0.5L}) == 2 * 0.5L);
  CHECK(value_of("grad(minimum_image(a, b), b)", {.a = 5, .b = 2}) == -2);
}

TEST_CASE("tables have the slope of their interpolation") {
  const std::string text =
      "CONST table t[4]; VARI x; VARJ y; VARF f;\n"
      "at = min(x*2, 2.75); k = int(at); v = t[k] + (at - k)*(t[k + 1] - t[k]);\n"
      "f += grad(v, x)*y;\n";
  const kc::Graph graph = graph_of(text);
  const auto slope = [&](long double x) {
    return terms_of(graph, {{"t", {1, 2, 5, 7}}, {"x", {x}}, {"y", {1}}})[0].value;
  };
  CHECK(slope(0.25L) == 2);
  CHECK(slope(0.75L) == 6);
  CHECK(slope(1.2L) == 4);
  CHECK(slope(9) == 0);
}

TEST_CASE("a temporary is a variable that is independent of its parts") {
  const kc::Graph g = graph_of(
      "VARI a; VARJ b; VARF f, g;\nd = a - b; r2 = d*d; u = r2*r2*r2 + d;\nf += grad(u, r2); g += "
      "grad(u, d);\n");
  const auto terms = terms_of(g, {{"a", {3}}, {"b", {1}}});
  CHECK(terms[0].value == 48);
  CHECK(terms[1].value == 6 * 32 + 1);
}

TEST_CASE("derivatives work in functions, branches and loops") {
  const std::string text =
      "VARI x[3]; VARJ y; VARF f[3];\n"
      "function slope(u) { return grad(u, y); }\n"
      "s = 0; for k = 0 .. 2 { s += x[k]^2*y; }\n"
      "for k = 0 .. 2 { if (x[k] > 0) { f[k] += grad(s, x[k]) + slope(s); } }\n";
  const kc::Graph g = graph_of(text);
  const auto terms = terms_of(g, {{"x_0", {1}}, {"x_1", {-2}}, {"x_2", {3}}, {"y", {5}}});
  CHECK(terms[0].value == 10 + 14);
  CHECK_FALSE(terms[1].counts);
  CHECK(terms[2].value == 30 + 14);
}

TEST_CASE("wrong derivatives are reported") {
  const auto codes = [](const std::string& line) {
    std::vector<unsigned> errors;
    for (const unsigned code :
         codes_of("VARI x; VARI int n; VARI vec3 v; VARJ y; VARF f; CONST c = 2;\n" + line))
      if (code < 7100 || code > 7199) errors.push_back(code);
    return errors;
  };
  using Codes = std::vector<unsigned>;
  const auto number = [](Code code) { return static_cast<unsigned>(code); };
  CHECK(codes("f += grad(x*x, 2);") == Codes{number(Code::NotAVariable)});
  CHECK(codes("f += grad(x*x, c);") == Codes{number(Code::NotAVariable)});
  CHECK(codes("f += grad(x*x, n);") == Codes{number(Code::NotAVariable)});
  CHECK(codes("f += grad(x*x, x*x);") == Codes{number(Code::NotAVariable)});
  CHECK(codes("f += grad(x*x, x < y);") == Codes{number(Code::NotAVariable)});
  CHECK(codes("f += grad(x*x);") == Codes{number(Code::ArgumentCount)});
  CHECK(codes("f += grad(v, x);") == Codes{number(Code::ShapesDiffer)});
  CHECK(codes("f += grad(x < y, x);") == Codes{number(Code::WrongType)});
  CHECK(codes("f += grad(norm2(v), v);") == Codes{number(Code::ShapesDiffer)});
  CHECK(codes("f += grad(x*f, x);") == Codes{number(Code::ResultRead)});
  CHECK(codes("f += grad(boys(16, x), x);") == Codes{number(Code::BadOrder)});
  CHECK(codes("f += grad(norm2(v), v.y) + grad(v.x*y, y);").empty());
  CHECK(codes("function grad(a, b) { return a + b; }\nf += grad(1, 2)*x*y;").empty());
}

}  // namespace gdr::test
