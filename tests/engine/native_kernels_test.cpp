// Kernels of the kernel language on the native engine: conversion of ints to numbers, and several
// functions in long precision. The oracle evaluates the kernel's graph in long double.
#include <algorithm>
#include <cmath>
#include <random>
#include <string>
#include <vector>

#include "engine/all_engines.hpp"
#include "engine/random_text.hpp"
#include "support/iterations.hpp"

namespace gdr::test {
namespace {

/// Generates kernels with all combinations of ints and numbers that the language has.
class IntAuthor : RandomText {
 public:
  using RandomText::RandomText;

  std::string write() {
    std::string text = below(3) == 0 ? "precision long;\n" : "";
    text += "VARI a, b; VARI int m, n; VARJ p, q; VARJ int u, v; VARF f, g;\n";
    if (below(3) == 0) text += "skip if (" + condition() + ");\n";
    text += "s = " + number(2) + ";\n";
    if (below(3) == 0) text += "if (" + condition() + ") { f += " + number(2) + "; }\n";
    return text + "f += s*" + number(1) + ";\ng += " + number(2) + " + s;\n";
  }

 private:
  std::string integer(int depth) {
    if (depth == 0 || below(4) == 0) return one_of("m", "n", "u", "v", "3");
    const auto part = [&] { return integer(depth - 1); };
    return one_of("(" + part() + one_of(" + ", " - ") + part() + ")", "2*" + part(),
                  "abs(" + part() + ")", one_of("min(", "max(") + part() + ", " + part() + ")",
                  "(" + condition(depth - 1) + " ? " + part() + " : " + part() + ")");
  }
  /// Compared numbers are never integers, so that rounding does not change the outcome.
  std::string condition(int depth = 1) {
    const int less = std::max(0, depth - 1);
    return one_of("m < u", "n > " + integer(less), "a < v",
                  one_of("a", "b") + " > " + integer(less), "q < " + one_of("m", "n"), "u != n");
  }
  std::string number(int depth) {
    if (depth == 0 || below(6) == 0) return one_of("a", "b", "p", "q", "0.5");
    const auto part = [&] { return number(depth - 1); };
    return one_of("(" + part() + one_of(" + ", " - ", "*") + integer(1) + ")",
                  "(" + integer(2) + one_of(" + ", " - ", "*") + part() + ")",
                  one_of("short(", "long(") + integer(2) + ")*" + part(),
                  "(" + condition() + " ? " + part() + " : " + one_of(integer(1), part()) + ")",
                  "recip(1.5 + (" + part() + ")^2)",
                  "rsqrt(abs(" + one_of(integer(1), part()) + ") + 0.5)",
                  "(" + part() + one_of(" + ", " - ", "*") + part() + ")");
  }
};

}  // namespace

TEST_CASE("native converts ints to numbers") {
  const Data data{
      {"x", {0.25, 1.75}}, {"y", {0.5, -1.25, 0.75}}, {"id", {3, 5}}, {"jd", {2, -7, 4}}};
  const std::string with_y = "VARI x; VARI int id; VARJ y; VARJ int jd; VARF f;\n";
  for (const std::string precision : {"", "precision long;\n"}) {
    for (const std::string law :
         {"f += y + id;", "f += x*short(jd);", "f += id;", "f += y*(id - jd);",
          "f += x < jd ? 1 : 0;", "skip if (id < (2*jd > 4 ? 3 : 1)); f += y;"}) {
      check_everywhere(precision + with_y + law, data, precision.empty() ? of_shorts : of_longs);
    }
  }
}

TEST_CASE("native converts the largest ints to numbers") {
  const double most = 0x1p35 - 1;
  const Data data{{"id", {most, -most - 1, 0, -1}}, {"jd", {1, -1, most}}};
  const std::string text = "precision long; VARI int id; VARJ int jd; VARF f;\n";
  check_everywhere(text + "f += long(id);", data, of_longs);
  check_everywhere(text + "f += long(id)*long(jd);", data, of_longs);
}

TEST_CASE("native keeps long precision in kernels with several functions") {
  const Data data{{"x", {0.3, 1.7}}, {"y", {0.9, -0.4, 2.5}}};
  const std::string head = "precision long; VARI x; VARJ y; VARF r;\n";
  const std::vector<std::string> functions{"rsqrt(1 + y^2)",  "recip(1 + abs(y))", "x/(1 + abs(y))",
                                           "sqrt(x^2 + y^2)", "exp(x*y)",          "exp(y)"};
  for (std::size_t a = 0; a < functions.size(); ++a) {
    for (std::size_t b = a + 1; b < functions.size(); ++b)
      check_everywhere(head + "r += " + functions[a] + " + " + functions[b] + ";", data, of_longs);
  }
  check_everywhere(head + "r += recip(y)+x*exp(y);", data, of_longs);
  check_everywhere(head + "r += rsqrt(1+y^2)*recip(1+abs(y))*exp(y);", data, of_longs);
  // A short does not reduce the precision of a long in the same kernel.
  const std::string mixed = "VARI long x; VARJ long y; VARF r, s; long a = 1 + y^2; short b = a;\n";
  check_everywhere(mixed + "long c = rsqrt(a); r += c; s += 0*recip(b);", data, of_longs);
}

TEST_CASE("native computes sums in loops whose elements are in descending order") {
  const Data data{{"x", {0.5, -1, 2, 0.1, 3, -2}}, {"p", {3, -4, 1, 0.5, -3}}};
  check_everywhere(
      "precision long; VARI x; VARJ p; VARF f;\n"
      "d = x - p; f += d*(abs(p) > 2.5 ? p : exp(-abs(x)));",
      data, of_longs);
}

TEST_CASE("native runs kernels that copy a word of a target to where a section reads it") {
  const Data data{{"x", {0.5, -1, 2}}, {"y", {1, 3, -2}}, {"p", {3, -4, 1}}, {"q", {1, 2, 5}}};
  check_everywhere(
      "VARI x, y; VARJ p, q; VARF f; skip if (pow(x,-2) > 2.5); t1 = (y/(x));\n"
      "f += y*(abs(((exp(min(rsqrt(abs(p)), -1)) < y ? q : x) + (q - p))));",
      data, of_shorts);
}

TEST_CASE("native gives NaNs without a sign, like the chip") {
  const Data data{{"x", {1e300, 1}}, {"y", {1e300, -1e300}}};
  // An infinite factor: inside a fused multiply-add the product may be finite.
  const Kernel kernel(*compiled("VARI x; VARJ y; VARF f; f += (x*y)*abs(x);").program);
  for (const Place& place : places(of_shorts)) {
    INFO(place.engine);
    const double sum = run(kernel, data, 2, 2, place.engine).at("f")[0];
    CHECK(std::isnan(sum));
    CHECK_FALSE(std::signbit(sum));
  }
}

namespace {

/// Random numbers for a random kernel of so many targets and sources, on all engines.
void check_random_kernel(std::uint64_t seed, std::size_t targets, std::size_t sources) {
  // A few digits are lost in differences.
  constexpr Tolerances shorts{3e-5, 3e-5, 3e-4}, longs{1e-11, 1e-11, 3e-4};
  std::mt19937_64 random(seed);
  std::normal_distribution<double> normal;
  Data data;
  for (const std::string name : {"a", "b", "p", "q"})
    for (std::size_t i = 0; i < (name < "p" ? targets : sources); ++i)
      data[name].push_back(normal(random));
  for (const std::string name : {"m", "n", "u", "v"})
    for (std::size_t i = 0; i < (name < "u" ? targets : sources); ++i)
      data[name].push_back(static_cast<double>(random() % 19) - 9);
  const std::string text = IntAuthor(seed).write();
  check_everywhere(text, data, text.starts_with("precision long") ? longs : shorts, seed);
}

}  // namespace

TEST_CASE("native computes random kernels of ints and numbers") {
  const std::uint64_t cases = test::test_iterations(12);
  const std::uint64_t first = test::first_seed();
  for (std::uint64_t seed = first; seed < first + cases; ++seed) check_random_kernel(seed, 5, 5);
}

TEST_CASE("native computes random kernels for few targets with many sources") {
  const std::uint64_t cases = test::test_iterations(6);
  // Enough for lanes that divide the sources of one target, on some engines of several.
  const std::uint64_t first = test::first_seed();
  for (std::uint64_t seed = first; seed < first + cases; ++seed)
    check_random_kernel(1000 + seed, 1 + seed % 4, 2100 + seed * 331 % 2100);
}

TEST_CASE("two results that are computed alike are both computed if a PE has one target") {
  const Kernel kernel = Kernel::assemble(R"(
.kernel "alike"
.elements 1
ivar short x f64to36 at $r20v
jvar short s f64to36 at $s0
fvar long a f64to72 fadd at $lr0v
fvar long b f64to72 fadd at $lr2v
.start
vlen 1
    ipass $lr0v 0x000000000000000000
    ipass $lr2v 0x000000000000000000
.body
vlen 1
    bget $r30v s
    fadd $lr0v $lr0v $r30v
    fadd $lr2v $lr2v $r20v
.end
vlen 1
    fmul $lr0v $lr0v 0x3fe000000
    fmul $lr2v $lr2v 0x3fe000000
)");
  const Data data{{"x", {3, 5, 7}}, {"s", {11, 13}}};
  for (const std::string engine : {"reference", "native"}) {
    INFO(engine);
    const Data got = run(kernel, data, 3, 2, engine);
    CHECK(got.at("a") == std::vector<double>{12, 12, 12});
    CHECK(got.at("b") == std::vector<double>{3, 5, 7});
  }
}

}  // namespace gdr::test
