// The host's evaluation of graphs: special numbers, gates, minima, and other number types.
#include <limits>

#include "compiler/front_quad.hpp"
#include "compiler/front_support.hpp"

namespace gdr::test {
namespace {

constexpr long double long_infinity = std::numeric_limits<long double>::infinity();
constexpr long double nan = std::numeric_limits<long double>::quiet_NaN();

}  // namespace

TEST_CASE("minima and maxima of special values follow the machine") {
  CHECK(std::isnan(value_of("min(a, b)", {.a = nan, .b = 1})));
  CHECK(std::isnan(value_of("max(a, b)", {.a = 1, .b = nan})));
  CHECK(std::signbit(value_of("min(a, b)", {.a = 0.0L, .b = -0.0L})));
  CHECK(!std::signbit(value_of("max(a, b)", {.a = -0.0L, .b = 0.0L})));
  CHECK(!std::signbit(value_of("abs(a)", {.a = -0.0L})));
  CHECK(value_of("rsqrt(a)", {.a = 0}) == long_infinity);
}

TEST_CASE("a false condition excludes infinite and NaN contributions") {
  const kc::Graph g = graph_of("VARI a; VARF f; skip if (a == 0); f += recip(a) - recip(a);");
  auto results = kc::empty_results<long double>(g);
  kc::reduce_terms(g, terms_of(g, {{"a", {0}}}), results);
  CHECK(results[1] == 0);
  kc::reduce_terms(g, terms_of(g, {{"a", {long_infinity}}}), results);
  CHECK(results[1] == 0);
}

TEST_CASE("table lookups return the element, and NaN outside the table") {
  const kc::Graph g = graph_of("CONST table t[3]; VARI int n; VARF f; f += t[n] + t[2];");
  CHECK(terms_of(g, {{"t", {1, 2, 4}}, {"n", {1}}})[0].value == 6);
  CHECK(std::isnan(terms_of(g, {{"t", {1, 2, 4}}, {"n", {3}}})[0].value));
  CHECK(std::isnan(terms_of(g, {{"t", {1, 2, 4}}, {"n", {-1}}})[0].value));
}

TEST_CASE("graphs can be evaluated with 113-bit numbers") {
  const kc::Graph g = graph_of("VARI x; VARF f; f += sqrt(x); f += exp(x); f += exp(-40*x);");
  const auto terms = kc::evaluate<Quad>(g, {{Quad(2)}, {}});
  const auto near = [](Quad x, Quad y) {
    const Quad relative = x / y - 1;
    return relative < Quad(0x1p-105L) && relative > -Quad(0x1p-105L);
  };
  CHECK(near(terms[0].value * terms[0].value, 2));
  // e^2 = 7.389056098930650227230427460575007813180315570551847324...
  const Quad e2 = Quad(7389056098930650227LL) / 1000000000000000000LL +
                  Quad(230427460575007813LL) / 1000000000000000000LL / 1000000000000000000LL +
                  Quad(180315570551847324LL) / 1000000000000000000LL / 1000000000000000000LL /
                      1000000000000000000LL;
  CHECK(near(terms[1].value, e2));
  Quad product = terms[2].value;
  for (int i = 0; i < 40; ++i) product *= e2;
  CHECK(near(product, 1));
}

}  // namespace gdr::test
