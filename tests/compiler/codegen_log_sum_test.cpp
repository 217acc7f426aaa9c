// Logarithms of sums of exponentials, weighted means, products and conditions of all sources,
// beside plain sums in long double.
#include <random>

#include "compiler/codegen_support.hpp"

namespace gdr::test {
namespace {

constexpr double no_sum = -std::numeric_limits<double>::infinity();
const std::vector<std::string> sum_engines{"reference", "vector", "native", "native-float"};

/// log of the sum of e^x, and means of v with these weights, by the definition.
struct LogSumOf {
  long double value = no_sum, mean = 0;
};
LogSumOf log_sum_of(const std::vector<long double>& x, const std::vector<long double>& v) {
  long double most = no_sum, sum = 0, weighted = 0;
  for (const long double k : x) most = std::max(most, k);
  if (std::isinf(most)) return {};
  for (std::size_t k = 0; k < x.size(); ++k) {
    sum += std::exp(x[k] - most);
    weighted += std::exp(x[k] - most) * v[k];
  }
  return {most + std::log(sum), weighted / sum};
}

double tolerance_of(const std::string& engine, const std::string& precision) {
  if (engine == "native-float") return 3e-6;
  return precision.empty() ? 5e-7 : 3e-14;
}

/// Exponents (xs - x) scale, whose sums and means have all forms of the statement.
std::string text_of_log_sums(const std::string& precision, double scale) {
  return precision + "VARI x; VARJ xs, v; VARF l, w, some, both; VARF vec3 m;\n" + "e = (xs - x)*" +
         std::to_string(static_cast<long long>(scale)) +
         ";\nl logsumexp= e : w = v;\n"
         "if (v > 0) { some logsumexp= e : m = vec3(v, 2*v, xs); }\n"
         "both logsumexp= e; both logsumexp= -e;\n";
}

void check_log_sums(const Kernel& kernel, const std::string& precision, double scale,
                    std::size_t sources, unsigned seed) {
  std::mt19937 random(seed);
  std::normal_distribution<double> normal;
  const std::size_t targets = 6;
  Data data{{"x", {}}, {"xs", {}}, {"v", {}}};
  // Exponents are exact in the engines: differences of floats that are multiples of 2^-8.
  const auto number = [&] { return std::round(normal(random) * 64) / 64; };
  for (std::size_t t = 0; t < targets; ++t) data["x"].push_back(number());
  for (std::size_t s = 0; s < sources; ++s) {
    data["xs"].push_back(number());
    data["v"].push_back(number());
  }
  INFO(precision << "scale " << scale << ", " << sources << " sources, seed " << seed);
  for (const std::string& engine : sum_engines) {
    const Data got = run(kernel, data, targets, sources, engine);
    const double tolerance = tolerance_of(engine, precision);
    for (std::size_t t = 0; t < targets; ++t) {
      std::vector<long double> e, v, some, of_some, x_of_some, both;
      for (std::size_t s = 0; s < sources; ++s) {
        e.push_back((data["xs"][s] - data["x"][t]) * scale);
        v.push_back(data["v"][s]);
        both.push_back(e.back());
        both.push_back(-e.back());
        if (data["v"][s] > 0) {
          some.push_back(e.back());
          of_some.push_back(v.back());
          x_of_some.push_back(data["xs"][s]);
        }
      }
      const auto near = [&](const std::string& name, long double want, long double size) {
        INFO(engine << ", target " << t << ", " << name);
        const double found = got.at(name)[t];
        if (std::isinf(want)) {
          REQUIRE(found == static_cast<double>(want));
        } else {
          INFO(found << " instead of " << static_cast<double>(want));
          REQUIRE(std::fabs(found - want) <= tolerance * (size + std::fabs(want)));
        }
      };
      const LogSumOf all = log_sum_of(e, v), part = log_sum_of(some, of_some);
      near("l", all.value, 1);
      near("w", all.mean, 3);
      near("some", part.value, 1);
      near("m_0", part.mean, 3);
      near("m_1", 2 * part.mean, 6);
      near("m_2", log_sum_of(some, x_of_some).mean, 3);
      near("both", log_sum_of(both, both).value, 1);
    }
  }
}

}  // namespace

TEST_CASE(
    "logarithms of sums and weighted means of exponents of any size are those of the definition") {
  unsigned seed = 11;
  for (const double scale : {1.0, 30.0, 4096.0, 1048576.0})
    for (const std::string precision : {"", "precision long;\n"}) {
      const Kernel kernel(*compiled(text_of_log_sums(precision, scale)).program);
      for (const std::size_t sources : {0UL, 1UL, 2UL, 33UL})
        check_log_sums(kernel, precision, scale, sources, ++seed);
    }
}

TEST_CASE(
    "exponents far beyond the range of numbers give their maximum, those of minus infinity "
    "nothing") {
  const std::string text =
      "precision long;\nVARI x; VARJ e, v; VARF l, w, big, none, mean;\n"
      "l logsumexp= log(e < 0 ? x - x : x) + e : w = v;\n"
      "big logsumexp= 1e290*e; none logsumexp= log(x - x) : mean = v;\n";
  const Kernel kernel(*compiled(text).program);
  const Data data{{"x", {1}}, {"e", {-3, 2, -1, 1}}, {"v", {100, 1, 200, 2}}};
  for (const std::string engine : {"reference", "vector", "native"}) {
    INFO(engine);
    const Data got = run(kernel, data, 1, 4, engine);
    const double two = std::exp(2), one = std::exp(1);
    CHECK(got.at("l")[0] == Approx(std::log(two + one)).epsilon(1e-13));
    CHECK(got.at("w")[0] == Approx((two + 2 * one) / (two + one)).epsilon(1e-13));
    CHECK(got.at("big")[0] == Approx(2e290).epsilon(1e-13));
    CHECK(got.at("none")[0] == no_sum);
    CHECK(got.at("mean")[0] == 0);
  }
}

TEST_CASE("products multiply the values of all sources that count") {
  const std::string text =
      "VARI x; VARJ a, b; VARF p, q, inverse; VARF long all;\n"
      "p *= a; q *= b - x; if (a > x) { inverse *= 1/a; } all *= -a*3;\n";
  const Kernel kernel(*compiled(text).program);
  for (const std::size_t sources : {0UL, 1UL, 5UL, 12UL}) {
    Data data{{"x", {0.5, -1.25, 8}}, {"a", {}}, {"b", {}}};
    for (std::size_t s = 0; s < sources; ++s) {
      data["a"].push_back(0.75 + 0.125 * static_cast<double>(s % 7));
      data["b"].push_back(static_cast<double>(s) - 4.375);
    }
    for (const std::string& engine : sum_engines) {
      const Data got = run(kernel, data, 3, sources, engine);
      for (std::size_t t = 0; t < 3; ++t) {
        long double p = 1, q = 1, inverse = 1, all = 1;
        for (std::size_t s = 0; s < sources; ++s) {
          p *= data["a"][s];
          q *= data["b"][s] - data["x"][t];
          if (data["a"][s] > data["x"][t]) inverse /= data["a"][s];
          all *= -data["a"][s] * 3;
        }
        const double tolerance = engine == "native-float" ? 2e-6 : 1e-6;
        INFO(engine << ", " << sources << " sources, target " << t);
        const auto near = [&](const std::string& name, long double want) {
          INFO(name << " " << got.at(name)[t] << " instead of " << static_cast<double>(want));
          CHECK(std::fabs(got.at(name)[t] - want) <= tolerance * std::fabs(want));
        };
        near("p", p);
        near("q", q);
        near("inverse", inverse);
        near("all", all);
      }
    }
  }
}

TEST_CASE("results that are declared as shorts have the same reductions") {
  const std::string text =
      "VARI x; VARJ a; VARJ int id; VARF short p, l, w, d[2]; VARF int n[2];\n"
      "p *= a; l logsumexp= a + x : w = a; d largest= a - x : n = id;\n";
  const Kernel kernel(*compiled(text).program);
  const Data data{{"x", {0.5}}, {"a", {2, 4, 0.25, 8}}, {"id", {3, 4, 5, 6}}};
  const LogSumOf want = log_sum_of({2.5, 4.5, 0.75, 8.5}, {2, 4, 0.25, 8});
  for (const std::string& engine : sum_engines) {
    INFO(engine);
    const Data got = run(kernel, data, 1, 4, engine);
    CHECK(got.at("p")[0] == 16);
    CHECK(got.at("l")[0] == Approx(static_cast<double>(want.value)).epsilon(1e-6));
    CHECK(got.at("w")[0] == Approx(static_cast<double>(want.mean)).epsilon(1e-6));
    CHECK(got.at("d_0")[0] == 7.5);
    CHECK(got.at("n_0")[0] == 6);
    CHECK(got.at("d_1")[0] == 3.5);
    CHECK(got.at("n_1")[0] == 4);
  }
}

TEST_CASE("conditions of any and of all sources are 1 or 0 in every partition") {
  const std::string text =
      "VARI x; VARJ xs; VARJ int id; VARF int any, all, some; skip if (id == 3);\n"
      "any or= xs > x; all and= xs > x || id == 2; if (xs > 0) { some or= id == 1; }\n";
  const Kernel kernel(*compiled(text).program);
  const std::vector<double> x{-5, 0, 1.5, 7};
  for (const std::vector<double>& xs :
       {std::vector<double>{}, {1}, {-1}, {2, -1, 4}, {5, 5, 5, 5}, {0, 3, -9, 100, 1}}) {
    Data data{{"x", x}, {"xs", xs}, {"id", {}}};
    for (std::size_t s = 0; s < xs.size(); ++s) data["id"].push_back(static_cast<double>(s));
    for (const std::string& engine : sum_engines)
      for (const std::string more : {"", ",partition=sources"}) {
        const Data got = run(kernel, data, x.size(), xs.size(), engine + more);
        for (std::size_t t = 0; t < x.size(); ++t) {
          bool any = false, all = true, some = false;
          for (std::size_t s = 0; s < xs.size(); ++s) {
            if (s == 3) continue;
            any = any || xs[s] > x[t];
            all = all && (xs[s] > x[t] || s == 2);
            some = some || (xs[s] > 0 && s == 1);
          }
          INFO(engine << more << ", " << xs.size() << " sources, target " << t);
          CHECK(got.at("any")[t] == (any ? 1 : 0));
          CHECK(got.at("all")[t] == (all ? 1 : 0));
          CHECK(got.at("some")[t] == (some ? 1 : 0));
        }
      }
  }
}

TEST_CASE("the graph's reductions of one source after the other are those of the definition") {
  const kc::Graph graph = graph_of(
      "VARI x; VARJ e, v; VARJ int id; VARF l, w, p, d[3]; VARF int n[3], any;\n"
      "l logsumexp= e : w = v; p *= v; d largest= e : n = id; any or= v > 3*x;\n");
  const Data data{{"x", {1}}, {"e", {3, -1, 2, 3}}, {"v", {1, 2, 3, 4}}, {"id", {0, 1, 2, 3}}};
  const Expected got = expected(graph, data, 0, 4);
  const auto value = [&](const std::string& name) {
    for (std::size_t v = 0; v < graph.variables.size(); ++v)
      if (graph.variables[v].name == name) return static_cast<double>(got.value[v]);
    return std::nan("");
  };
  const LogSumOf want = log_sum_of({3, -1, 2, 3}, {1, 2, 3, 4});
  CHECK(value("l") == Approx(static_cast<double>(want.value)).epsilon(1e-15));
  CHECK(value("w") == Approx(static_cast<double>(want.mean)).epsilon(1e-15));
  CHECK(value("p") == 24);
  CHECK(value("d_0") == 3);
  CHECK(value("n_0") == 0);
  CHECK(value("d_1") == 3);
  CHECK(value("n_1") == 3);
  CHECK(value("n_2") == 2);
  CHECK(value("any") == 1);
}

}  // namespace gdr::test
