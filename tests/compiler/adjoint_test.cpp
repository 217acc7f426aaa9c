// Adjoint kernels: second derivatives, other reductions than sums, what has none; their texts.
#include "kernels/compiler/adjoint.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <string>
#include <vector>

#include "compiler/adjoint_support.hpp"
#include "compiler/codegen_support.hpp"
#include "gdr/error.hpp"

namespace gdr::test {

TEST_CASE("the adjoint of an adjoint is a product with the matrix of second derivatives") {
  constexpr std::size_t i_count = 3, j_count = 4;
  const std::string law =
      "precision long; kernel law;\nVARI a; VARJ p, w; CONST k; VARF f;\n"
      "d = a - p; f += w*exp(-k*d*d) + (d > 0.3 ? k*d^3 : 0);\n";
  const std::string first = adjoint_of(law, {"a", "k"});
  const std::string second = adjoint_of(first, {"a", "f_bar"});
  INFO(first << second);
  const kc::Graph once = graph_of(first), twice = graph_of(second);
  CHECK(twice.name == "law_adjoint_adjoint");
  Data data{{"a", {0.3, -0.7, 1.1}},        {"p", {0.1, 0.9, -0.4, 0.25}},
            {"w", {1, -2, 0.5, 3}},         {"k", {0.75}},
            {"f_bar", {0.5, -1.5, 2}},      {"a_bar_bar", {1.25, -0.5, 0.75}},
            {"k_bar_bar", {0.3, 0.2, -0.1}}};
  for (std::size_t t = 0; t < i_count; ++t) {
    // A target appears in its own sums only.
    const auto weighted = [&](double shift, double weight_shift) {
      Data moved = data;
      moved["a"][t] += shift;
      moved["f_bar"][t] += weight_shift;
      const Expected e = expected(once, moved, t, j_count);
      return e.value[variable_index(once, "a_bar")] * moved["a_bar_bar"][t] +
             e.value[variable_index(once, "k_bar")] * moved["k_bar_bar"][t];
    };
    const double h = 0x1p-20;
    const Expected got = expected(twice, data, t, j_count);
    const auto check_difference = [&](const char* name, long double above, long double below) {
      const long double difference = (above - below) / (2 * h);
      const long double value = got.value[variable_index(twice, name)];
      CHECK(std::fabs(value - difference) <= 1e-8L * std::fabs(value));
    };
    check_difference("a_bar", weighted(h, 0), weighted(-h, 0));
    check_difference("f_bar_bar", weighted(0, h), weighted(0, -h));
  }
}

TEST_CASE("a masked pair adds nothing to a derivative, though its slope is infinite") {
  const std::string law =
      "VARI a; VARJ p; VARF f;\nd = a - p; skip if (d == 0);\nif (d > 0) { f += log(d); }\n";
  const kc::Graph graph = graph_of(adjoint_of(law, {"a"}));
  const Data data{{"a", {1}}, {"p", {1, 0.5, 2, 1}}, {"f_bar", {3}}};
  const Expected e = expected(graph, data, 0, 4);
  CHECK(e.value[variable_index(graph, "a_bar")] == 6);
}

TEST_CASE("minima and maxima with an index have the derivative of their source") {
  const std::string law =
      "VARI a; VARJ p; VARJ int id; VARF near, far; VARF int n, m;\n"
      "d = a - p; near min= d*d : n = id; far max= 3*d : m = id;\n";
  const std::string adjoint = adjoint_of(law, {"a"});
  INFO(adjoint);
  const kc::Graph graph = graph_of(adjoint);
  const Data data{{"a", {1}},        {"p", {4, 0.5, 2, 0}}, {"id", {7, 8, 9, 10}},
                  {"near_bar", {2}}, {"far_bar", {5}},      {"n", {8}},
                  {"m", {10}}};
  CHECK(expected(graph, data, 0, 4).value[variable_index(graph, "a_bar")] == 2 * 2 * 0.5L + 15);
  CHECK_THROWS_AS(adjoints_of("VARI a; VARJ p; VARF r;\nr min= a*p;\n", {"a"}), Error);
}

TEST_CASE("logarithms of sums of exponentials and weighted means have derivatives") {
  const std::string law =
      "precision long; VARI a; VARJ p, v; VARF l, m; CONST k;\n"
      "d = a - p; skip if (d > 2); l logsumexp= -k*d*d : m = v*a;\n";
  const std::vector<double> p{0.1, 0.9, -1.9, 0.25}, v{1, -2, 5, 3};
  const auto weighted = [&](long double a, long double k, long double shift) {
    long double sum = 0, of_values = 0;
    for (std::size_t j = 0; j < p.size(); ++j) {
      const long double d = a - p[j] - (j == 1 ? shift : 0);
      if (d > 2) continue;
      sum += std::exp(-k * d * d);
      of_values += std::exp(-k * d * d) * v[j] * a;
    }
    return std::pair{std::log(sum), of_values / sum};
  };
  const long double a = 0.3L, k = 0.75L, h = 1e-6L;
  const auto [l, m] = weighted(a, k, 0);
  const Data data{{"a", {double(a)}}, {"k", {double(k)}}, {"p", p},           {"v", v},
                  {"l_bar", {0.5}},   {"m_bar", {-1.5}},  {"l", {double(l)}}, {"m", {double(m)}}};
  const auto slope = [&](const auto& shifted) {
    const auto above = shifted(h), below = shifted(-h);
    return (0.5L * (above.first - below.first) - 1.5L * (above.second - below.second)) / (2 * h);
  };
  const auto check = [](long double got, long double want) {
    CHECK(std::fabs(got - want) <= 1e-9L * std::fabs(want));
  };
  const kc::Graph by_target = graph_of(adjoint_of(law, {"a", "k"}));
  const Expected e = expected(by_target, data, 0, p.size());
  check(e.value[variable_index(by_target, "a_bar")],
        slope([&](long double s) { return weighted(a + s, k, 0); }));
  check(e.value[variable_index(by_target, "k_bar")],
        slope([&](long double s) { return weighted(a, k + s, 0); }));
  const kc::Graph by_source = graph_of(adjoint_of(law, {"p"}));
  const Expected of_p = expected(by_source, data, 1, 1);
  check(of_p.value[variable_index(by_source, "p_bar")],
        slope([&](long double s) { return weighted(a, k, s); }));
}

TEST_CASE("terms of a logarithm that are not in a mean, and several values of one, count") {
  const std::string law =
      "precision long; VARI a; VARJ p; VARF l, m; VARF vec3 c;\n"
      "l logsumexp= a*p : m = p, m = a*p*p, c = vec3(p, a, a*p); l logsumexp= a*p*p;\n";
  const std::vector<double> p{0.5, -1.25, 0.75};
  const auto results = [&](long double a) {
    std::array<long double, 5> r{};  // the logarithm, and the means
    for (const long double y : p) {
      const long double first = std::exp(a * y);
      r[0] += first + std::exp(a * y * y);
      r[1] += first * (y + a * y * y);
      r[2] += first * y;
      r[3] += first * a;
      r[4] += first * a * y;
    }
    for (std::size_t k = 1; k < r.size(); ++k) r[k] /= r[0];
    r[0] = std::log(r[0]);
    return r;
  };
  const long double a = 0.6L, h = 1e-6L;
  const std::array<double, 5> weights{0.5, -1.5, 2, 0.25, -0.75};
  const auto [l, m, c0, c1, c2] = results(a);
  const Data data{{"a", {double(a)}},        {"p", p},
                  {"l", {double(l)}},        {"m", {double(m)}},
                  {"c_0", {double(c0)}},     {"c_1", {double(c1)}},
                  {"c_2", {double(c2)}},     {"l_bar", {weights[0]}},
                  {"m_bar", {weights[1]}},   {"c_bar_0", {weights[2]}},
                  {"c_bar_1", {weights[3]}}, {"c_bar_2", {weights[4]}}};
  const kc::Graph graph = graph_of(adjoint_of(law, {"a"}));
  CHECK(std::ranges::count(graph.arrays, "c", &VariableArray::name) == 1);
  const auto above = results(a + h), below = results(a - h);
  long double want = 0;
  for (std::size_t k = 0; k < weights.size(); ++k)
    want += weights[k] * (above[k] - below[k]) / (2 * h);
  const long double got = expected(graph, data, 0, p.size()).value[variable_index(graph, "a_bar")];
  CHECK(std::fabs(got - want) <= 1e-9L * std::fabs(want));
}

TEST_CASE("of several contributions to a minimum with one index, the smallest has the derivative") {
  const std::string law =
      "VARI a; VARJ p; VARJ int id; VARF r, s; VARF int n, m;\n"
      "r min= a*p : n = id; r min= a*p*p : n = id;\n"
      "s max= a*p : m = id; if (p < 1) { s max= 3*a : m = id; }\n";
  const kc::Graph graph = graph_of(adjoint_of(law, {"a"}));
  const Data data{{"a", {0.5}},   {"p", {-0.5, -0.25, 2}}, {"id", {7, 8, 9}},
                  {"r_bar", {1}}, {"s_bar", {0.5}},        {"n", {7}},
                  {"m", {7}}};
  // r = a p of source 7, s = 3 a of sources 7 and 8.
  CHECK(expected(graph, data, 0, 3).value[variable_index(graph, "a_bar")] == -0.5L + 0.5L * 3);
}

TEST_CASE("products have the product of all other factors as derivative") {
  const std::string law =
      "precision long; VARI a; VARJ p; CONST k; VARF f, g;\n"
      "f *= k + a*p; if (p < 1) { g *= a - p; } g *= p*p;\n";
  const std::vector<double> p{0.5, -1.25, 2, 0.75};
  const auto products = [&](long double a, long double k, long double shift) {
    long double f = 1, g = 1;
    for (std::size_t j = 0; j < p.size(); ++j) {
      const long double x = p[j] + (j == 1 ? shift : 0);
      f *= k + a * x;
      g *= (p[j] < 1 ? a - x : 1) * x * x;
    }
    return std::pair{f, g};
  };
  const long double a = 0.3L, k = -0.75L, h = 1e-6L;
  const auto [f, g] = products(a, k, 0);
  const Data data{{"a", {double(a)}}, {"k", {double(k)}}, {"p", p},          {"f_bar", {0.5}},
                  {"g_bar", {-1.5}},  {"f", {double(f)}}, {"g", {double(g)}}};
  const auto check = [&](const kc::Graph& graph, const char* name, const Expected& got,
                         const auto& shifted) {
    const auto above = shifted(h), below = shifted(-h);
    const long double want =
        (0.5L * (above.first - below.first) - 1.5L * (above.second - below.second)) / (2 * h);
    CHECK(std::fabs(got.value[variable_index(graph, name)] - want) <= 1e-9L * std::fabs(want));
  };
  const kc::Graph by_target = graph_of(adjoint_of(law, {"a", "k"}));
  const Expected e = expected(by_target, data, 0, p.size());
  check(by_target, "a_bar", e, [&](long double s) { return products(a + s, k, 0); });
  check(by_target, "k_bar", e, [&](long double s) { return products(a, k + s, 0); });
  const kc::Graph by_source = graph_of(adjoint_of(law, {"p"}));
  check(by_source, "p_bar", expected(by_source, data, 1, 1),
        [&](long double s) { return products(a, k, s); });
}

TEST_CASE("of a product with a factor of zero the derivative by that factor is not a number") {
  const kc::Graph graph = graph_of(adjoint_of("VARI a; VARJ p; VARF f;\nf *= a*p;\n", {"p"}));
  const Data data{{"a", {2}}, {"p", {0, 3}}, {"f", {0}}, {"f_bar", {1}}};
  const std::size_t at = variable_index(graph, "p_bar");
  CHECK(std::isnan(expected(graph, data, 0, 1).value[at]));
  CHECK(expected(graph, data, 1, 1).value[at] == 0);
}

TEST_CASE("the k smallest and largest values have the derivatives of their sources") {
  const std::string law =
      "VARI a; VARJ p; VARJ int id; VARF near[3], far[2]; VARF int n[3], m[2];\n"
      "d = a - p; near smallest= d*d : n = id; if (p < 3) { far largest= a*p : m = id; }\n";
  const kc::Graph by_target = graph_of(adjoint_of(law, {"a"}));
  // Squared distances to 1: 9, 0.25, 1, 4, 16; products with a below p = 3: 2, 0.5, -1.
  const Data data{{"a", {1}},
                  {"p", {4, 0.5, 2, -1, 5}},
                  {"id", {7, 8, 9, 10, 11}},
                  {"near_bar_0", {2}},
                  {"near_bar_1", {3}},
                  {"near_bar_2", {5}},
                  {"far_bar_0", {7}},
                  {"far_bar_1", {11}},
                  {"n_0", {8}},
                  {"n_1", {9}},
                  {"n_2", {10}},
                  {"m_0", {9}},
                  {"m_1", {8}}};
  const long double near = 2 * (2 * 0.5L - 3 * 1 + 5 * 2), far = 7 * 2 + 11 * 0.5L;
  CHECK(expected(by_target, data, 0, 5).value[variable_index(by_target, "a_bar")] == near + far);
  const kc::Graph by_source = graph_of(adjoint_of(law, {"p"}));
  const std::size_t at = variable_index(by_source, "p_bar");
  CHECK(expected(by_source, data, 0, 1).value[at] == 0);
  CHECK(expected(by_source, data, 1, 1).value[at] == -2 * 2 * 0.5L + 11);
  CHECK(expected(by_source, data, 2, 1).value[at] == 2 * 3 + 7);
}

TEST_CASE("names of adjoints: arrays stay arrays, taken names get another _bar") {
  const std::string law =
      "kernel law; VARI vec3 x; VARI f_bar as mass; VARJ vec3 y; VARJ w; VARF vec3 f; CONST k "
      "as eps;\nf += k*f_bar*(x - y)*w*w;\n";
  const kc::Graph graph = graph_of(adjoint_of(law, {"x", "f_bar"}));
  std::string names;
  for (const kc::GraphVariable& v : graph.variables)
    names += v.name + (v.quantity.empty() ? "" : ":" + v.quantity) + " ";
  CHECK(names ==
        "x_0 x_1 x_2 f_bar:mass y_0 y_1 y_2 w k:eps f_bar_bar_0 f_bar_bar_1 f_bar_bar_2 "
        "x_bar_0 x_bar_1 x_bar_2 f_bar_bar_bar ");
  const kc::Graph exchanged = graph_of(adjoint_of(law, {"w"}));
  CHECK(exchanged.variables[variable_index(exchanged, "w")].kind == VarKind::Target);
  CHECK(exchanged.variables[variable_index(exchanged, "x_0")].kind == VarKind::Source);
  CHECK(exchanged.variables[variable_index(exchanged, "f_bar_bar_0")].kind == VarKind::Source);
}

TEST_CASE("parameters go with the sources where no target is named") {
  const std::string law = "CONST k; VARI a; VARJ p; VARF f;\nf += k*a*p*p;\n";
  const auto derivatives = [&](const std::vector<std::string>& names) {
    std::string all;
    for (const std::string& text : adjoints_of(law, names)) {
      for (const kc::GraphVariable& v : graph_of(text).variables)
        if (v.kind == VarKind::Result) all += v.name + " ";
      all += "| ";
    }
    return all;
  };
  CHECK(derivatives({"p", "k"}) == "p_bar k_bar | ");
  CHECK(derivatives({"k", "a"}) == "a_bar k_bar | ");
  CHECK(derivatives({"k"}) == "k_bar | ");
  CHECK(derivatives({"a", "p", "k"}) == "a_bar k_bar | p_bar | ");
}

TEST_CASE("inputs that a derivative does not need are left out, but for one of each side") {
  const kc::Graph graph = graph_of(adjoint_of("VARI a, b; VARJ p; VARF f;\nf += a*b;\n", {"a"}));
  CHECK(graph.variables[variable_index(graph, "p")].kind == VarKind::Source);
  CHECK(std::ranges::count(graph.variables, "a", &kc::GraphVariable::name) == 0);
  const kc::Graph zero = graph_of(adjoint_of("VARI a, b; VARJ p; VARF f;\nf += b*p;\n", {"a"}));
  CHECK(zero.contributions.empty());
  CHECK(variable_index(zero, "a_bar") > 0);
}

TEST_CASE("adjoints that do not exist are refused") {
  const std::string law =
      "VARI a; VARI int n; VARJ p; CONST table t[4]; VARF f; VARF int c;\nf += a*p*t[n]; c += n;\n";
  const auto message = [&](const std::vector<std::string>& names) -> std::string {
    try {
      kc::adjoint_text(graph_of(law), names);
    } catch (const Error& e) {
      return e.what();
    }
    return "";
  };
  CHECK(
      message({"b"}).find("has no variable \"b\"; derivatives can be taken with respect to a, p") !=
      std::string::npos);
  CHECK(message({"n"}).find("is an int") != std::string::npos);
  CHECK(message({"f"}).find("is a result") != std::string::npos);
  CHECK(message({"t"}).find("is a table") != std::string::npos);
  CHECK(message({"a", "p"}).find("take two for a, p") != std::string::npos);
  CHECK(message({}).find("no variable is given") != std::string::npos);
  CHECK(message({"a"}).empty());
  const auto refused = [](const std::string& text) -> std::string {
    try {
      kc::adjoint_text(graph_of(text), std::vector<std::string>{"a"});
    } catch (const Error& e) {
      return e.what();
    }
    return "";
  };
  CHECK(refused("VARI a; VARJ p; VARF f[3];\nf smallest= a*p;\n")
            .find("\"f\" of kernel \"test\" is one of the smallest values without an index") !=
        std::string::npos);
  CHECK(refused("VARI a; VARJ p; VARJ int id; VARF f[3]; VARF int n[3];\n"
                "f largest= a*p : n = id; f largest= a - p : n = id;\n")
            .find("write one `largest=`") != std::string::npos);
  CHECK(refused("VARI a; VARJ p; VARF int all;\nall and= a < p;\n").empty());
}

TEST_CASE("adjoint texts are readable and share what is common") {
  CHECK(adjoint_of("kernel gauss; CONST gamma; VARI vec3 x; VARJ vec3 y; VARJ b; VARF f;\n"
                   "d = x - y; f += b*exp(-gamma*norm2(d));\n",
                   {"x"}) ==
        "// Derivatives of S with respect to x of kernel gauss, where S is the sum over all\n"
        "// targets of f_bar f.\n"
        "kernel gauss_adjoint;\n"
        "CONST gamma;\n"
        "VARI x[3];\n"
        "VARJ y[3], b;\n"
        "VARI f_bar;\n"
        "VARF x_bar[3];\n"
        "\n"
        "d_x = x[0] - y[0];\n"
        "d_y = x[1] - y[1];\n"
        "d_z = x[2] - y[2];\n"
        "t1 = exp(-gamma*(d_x*d_x + d_y*d_y + d_z*d_z))*(b*f_bar);\n"
        "t2 = gamma*t1*(-2);\n"
        "\n"
        "x_bar[0] += d_x*t2;\n"
        "x_bar[1] += d_y*t2;\n"
        "x_bar[2] += d_z*t2;\n");
}

}  // namespace gdr::test
