// Conditions with two limits of one value: comparisons are merged, and decide as before.
#include <cmath>
#include <limits>
#include <random>

#include "compiler/codegen_support.hpp"
#include "kernels/compiler/lower/lower.hpp"

namespace gdr::test {
namespace {

const std::string limits_head = "VARI a, b; CONST c; VARI int n, m; VARJ x; VARJ int k; VARF f;\n";

struct ComparisonCount {
  std::size_t less = 0, equal = 0;
  bool operator==(const ComparisonCount&) const = default;
};

ComparisonCount comparisons_of(const kc::Graph& graph) {
  const std::vector<bool> needed = kc::needed_nodes(graph);
  ComparisonCount count;
  for (std::size_t i = 0; i < graph.nodes.size(); ++i) {
    if (!needed[i]) continue;
    count.less += graph.nodes[i].fn == kc::Fn::Less ? 1 : 0;
    count.equal += graph.nodes[i].fn == kc::Fn::Equal ? 1 : 0;
  }
  return count;
}

ComparisonCount merged_comparisons(const std::string& statement) {
  kc::Graph graph = graph_of(limits_head + statement);
  kc::merge_limits(graph);
  return comparisons_of(graph);
}

const std::vector<std::string> conditions_with_two_limits = {
    "x < a && x < b",
    "x <= a && b >= x",
    "a < x && x > b",
    "x >= a && x >= b && x >= c",
    "!(x >= a || x >= b)",
    "!(x > a || x > b || x == 0)",
    "!(x <= a) && !(x <= b)",
    "x < a && !(x >= b)",
    "x > a && !(x <= b)",
    "x <= a && !(x > b)",
    "x < a && !(x >= b*b)",
    "x*x < a*a && !(x*x >= c*c || x == 0)",
    "x > a && !(x <= -(b*b))",
    "x < a && x <= b",
    "x < a && x > b",
    "x < a || x < b",
    "x < 2 && x < a && x < 1.5",
    "k < n && k < m",
    "!(k >= n || k >= m)",
    "k > n && !(k <= m) && x < a",
    "x < a && (x < b || x == c)",
};

}  // namespace

TEST_CASE("conditions with two limits of a value compare it once") {
  CHECK(merged_comparisons("skip if (x >= a || x >= b); f += 1;") == ComparisonCount{1, 1});
  CHECK(merged_comparisons("skip if (x >= a); skip if (x >= b); f += 1;") == ComparisonCount{1, 1});
  CHECK(merged_comparisons("skip if (x == 0 || x >= c); if (x < a) { f += 1; }") ==
        ComparisonCount{1, 1});
  CHECK(merged_comparisons("skip if (x > a || x > b || x > c); f += 1;") == ComparisonCount{1, 0});
  CHECK(merged_comparisons("if (x < a && x < b) { f += 1; }") == ComparisonCount{1, 0});
  CHECK(merged_comparisons("if (a < x && b < x) { f += 1; }") == ComparisonCount{1, 0});
  CHECK(merged_comparisons("if (k < n && k < m) { f += 1; }") == ComparisonCount{1, 0});
  CHECK(merged_comparisons("if (x < a && !(x >= b*b)) { f += 1; }") == ComparisonCount{1, 0});
  CHECK(merged_comparisons("if (x < 2 && x < a && x < 1.5) { f += 1; }") == ComparisonCount{1, 0});
  // Of a limit that may be a NaN, the opposite of a comparison is another condition.
  CHECK(merged_comparisons("if (x < a && !(x >= b*b - a*a)) { f += 1; }") == ComparisonCount{2, 1});
  CHECK(merged_comparisons("if (x < a && x <= b) { f += 1; }") == ComparisonCount{2, 1});
  CHECK(merged_comparisons("if (x < a && x > b) { f += 1; }") == ComparisonCount{2, 0});
  CHECK(merged_comparisons("if (x < a && x < k) { f += 1; }") == ComparisonCount{2, 0});
}

TEST_CASE("merged limits decide as the comparisons, also of infinite values and NaN") {
  constexpr double inf = std::numeric_limits<double>::infinity(), nan = NAN;
  const std::vector<double> limits = {0, -0.0, 1, -1, 1.5, 2, 1e200, -1e200};
  const std::vector<double> values = {0, -0.0, 1, -1, 1.5, 2, 1e200, inf, -inf, nan};
  for (const std::string& condition : conditions_with_two_limits)
    for (const bool in_longs : {false, true}) {
      kc::Graph before = graph_of(limits_head + "if (" + condition + ") { f += 1; }");
      if (in_longs) kc::use_longs(before);
      kc::Graph after = before;
      kc::merge_limits(after);
      kc::InputValues<double> inputs(before.variables.size(), {0});
      const auto set = [&](const char* name, double value) {
        for (std::size_t v = 0; v < inputs.size(); ++v)
          if (before.variables[v].name == name) inputs[v] = {value};
      };
      bool same = true;
      for (const double a : limits)
        for (const double b : limits)
          for (const double x : values)
            for (const double k : {-1.0, 0.0, 1.0}) {
              set("a", a);
              set("b", b);
              set("c", 1);
              set("x", x);
              set("k", k);
              set("n", a > 1 ? 1 : 0);
              set("m", b > 1 ? 0 : -1);
              const bool expected = kc::evaluate<double>(before, inputs).at(0).counts;
              same = same && kc::evaluate<double>(after, inputs).at(0).counts == expected;
            }
      CAPTURE(condition, in_longs);
      CHECK(same);
    }
}

TEST_CASE("limits that are not numbers are kept where both comparisons must hold") {
  const kc::Graph before = graph_of(limits_head + "if (x < a && x < b) { f += 1; }");
  kc::Graph after = before;
  kc::merge_limits(after);
  for (const double a : {1.0, double{NAN}})
    for (const double b : {2.0, double{NAN}}) {
      const std::vector<Given> given = {{"a", {a}}, {"b", {b}}, {"x", {0.5}}};
      CAPTURE(a, b);
      CHECK(terms_of(after, given).at(0).counts == terms_of(before, given).at(0).counts);
    }
}

TEST_CASE("kernels with two limits of a value are right on every engine") {
  std::mt19937_64 random(5);
  const auto numbers = [&](std::size_t n) {
    std::vector<double> all(n);
    for (double& x : all) x = static_cast<double>(random() % 17) / 4 - 2;
    return all;
  };
  Data data = {{"a", numbers(7)}, {"b", numbers(7)}, {"c", {0.5}}, {"x", numbers(6)}};
  for (const char* name : {"n", "m"}) data[name] = {-2, -1, 0, 1, 2, 3, 1};
  data["k"] = {0, 1, -2, 2, -1, 3};
  for (const std::string& condition : conditions_with_two_limits) {
    const std::string text = limits_head + "skip if (" + condition + ");\nf += 1 + 0.5*x;";
    CAPTURE(condition);
    check(text, data, 7, 6, 1e-6);
  }
}

}  // namespace gdr::test
