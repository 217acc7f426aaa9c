// Items that complete a group of sources: whatever the pair law, the number of sources does not
// decide whether results are right.

#include "compiler/codegen_support.hpp"

namespace gdr::test {
namespace {

constexpr std::size_t many = 64;
constexpr std::size_t counts[] = {1, 2, 3, 4, 5, 6, 7, 8, 9, 63, 64};

/// Sources within 0.4 of the targets, with weights around 1.
Data near_sources(double at = 0) {
  Data data = {{"q", {}},  {"x", {}},  {"y", {}}, {"w", {}},  {"n", {}},
               {"id", {}}, {"jd", {}}, {"k", {}}, {"eps", {}}};
  for (std::size_t j = 0; j < many; ++j) {
    const double step = static_cast<double>(j * 37 % many) / many;
    data["x"].push_back(at + 0.0625 + 0.375 * step);
    data["y"].push_back(0.25 + 0.5 * step);
    data["w"].push_back(0.5 + static_cast<double>(j * 11 % many) / many);
    data["n"].push_back(static_cast<double>(1 + j % 5));
    data["jd"].push_back(static_cast<double>(j));
    data["q"].push_back(at + 0.125 + 0.25 * static_cast<double>(j % 3));
    data["k"].push_back(1 + static_cast<double>(j % 3));
    data["eps"].push_back(0.5 + static_cast<double>(j % 2));
    data["id"].push_back(static_cast<double>(j));
  }
  return data;
}

bool close(double got, long double value, long double size, double tolerance) {
  if (std::isinf(got)) return got == static_cast<double>(value);
  return std::fabs(got - value) <= tolerance * std::max(size, std::fabs(value));
}

/// Compares results on an engine with those of long doubles, for all numbers of sources.
void check_counts(const std::string& text, const Kernel& kernel, const Data& data,
                  const std::string& engine, double tolerance) {
  constexpr std::size_t targets = 3;
  const kc::Graph graph = graph_of(text);
  for (const std::size_t sources : counts) {
    const Data got = run(kernel, data, targets, sources, engine);
    for (std::size_t t = 0; t < targets; ++t) {
      const Expected e = expected(graph, data, t, sources);
      for (std::size_t v = 0; v < graph.variables.size(); ++v) {
        if (graph.variables[v].kind != VarKind::Result) continue;
        const double value = got.at(graph.variables[v].name)[t];
        INFO(text << "\n"
                  << engine << ", " << sources << " sources, target " << t << ": " << value
                  << " instead of " << static_cast<double>(e.value[v]));
        REQUIRE(close(value, e.value[v], e.size[v], tolerance));
      }
    }
  }
}

/// The same of a scheduled kernel on all engines, and of one without a schedule.
void check_numbers_of_sources(const std::string& body, const Data& data, double tolerance = 3e-6) {
  const std::string text = "VARI q, k, eps; VARI int id; VARJ x, y, w; VARJ int n, jd;\n" + body;
  const Kernel scheduled(*compiled(text).program);
  for (const char* engine : {"reference", "vector", "native", "native-float"})
    check_counts(text, scheduled, data, engine, tolerance);
  for (const char* isa : {"portable", "avx2"})
    check_counts(text, scheduled, data, std::string("native,isa=") + isa, tolerance);
  check_counts(text, scheduled, data, "vector,isa=portable", tolerance);
  for (const char* engine : {"native", "native-float"})
    check_counts(text, Kernel::compile(text), data, engine, tolerance);
}

}  // namespace

TEST_CASE("a law that is undefined far away is finite for any number of sources") {
  const std::string sums[] = {
      "w*cos(k*x)",
      "w*sin(k*x)",
      "w*cos(k*x + y)",
      "w*sin(x - q)",
      "w*cos(q - x)",
      "w*tan(q - x)",
      "w*sqrt(1 - (q - x)^2)",
      "w*rsqrt(1 - y*y)",
      "w*recip(1 + (q - x)^20)",
      "w*(1 + exp(2*(q - x)))^4",
      "w*rsqrt(n)",
      "w/n",
      "w*(2 + q - x)^20",
      "w*log(1 - x)",
      "w*asin(q - x)",
      "w*acos(q - x)",
      "w*exp(y*y*8)",
      "w*erf(q - x)",
      "w*tanh(2*(q - x))",
      "w*pow(x, 1.5)",
      "w*pow(1 + q - x, -2.5)",
      "w*cbrt(q - x)",
      "w*rsqrt(eps - y*y/4)",
      "w*x*y*rsqrt(0.01 + (q - x)^2)",
  };
  const Data data = near_sources();
  for (const std::string& sum : sums)
    check_numbers_of_sources("VARF f; f += " + sum + ";", data, 2e-5);
}

TEST_CASE("a wave around each source is finite for any number of sources") {
  check_numbers_of_sources(
      "VARF re, im; d = q - x; r2 = d*d + 0.01; i = rsqrt(r2); r = r2*i;\n"
      "re += w*cos(k*r)*i; im += w*sin(k*r)*i;",
      near_sources(), 1e-5);
}

TEST_CASE("a weight of zero that is outside of a function's domain is not used for padding") {
  const std::string sums[] = {
      "w*rsqrt(w)",  "w*log(w)",        "w*recip(w)",         "w*rsqrt(w - x/4)", "sqrt(w)*x",
      "w*sqrt(w*y)", "w*sqrt(w - x)/w", "w*recip(y - w - 2)", "w*acos(w - 1)",    "w*pow(w, -1.5)",
  };
  const Data data = near_sources();
  for (const std::string& sum : sums) {
    Data shifted = data;
    if (sum == "w*sqrt(w - x)/w")
      for (double& w : shifted["w"]) w += 0.25;
    check_numbers_of_sources("VARF f; f += " + sum + ";", shifted, 2e-5);
  }
}

TEST_CASE("what a condition on the weight excludes is not in the padding") {
  Data data = near_sources();
  for (std::size_t j = 0; j < many; j += 2) {
    data["w"][j] = -1;
    data["y"][j] = -4;
  }
  check_numbers_of_sources("VARF f; skip if (w < 0); f += w*sqrt(y);", data);
  check_numbers_of_sources("VARF f; f += w < 0 ? w : w*sqrt(abs(y));", data);
  check_numbers_of_sources("VARF f; if (w > 0) { f += w*rsqrt(y); } else { f += x; }", data);
}

TEST_CASE("counts, extremes and excluded pairs do not depend on padding") {
  const Data data = near_sources();
  check_numbers_of_sources("VARF f; VARF int c; skip if (id == jd); c += w > 1 ? 1 : 0; f += w*y;",
                           data);
  check_numbers_of_sources("VARF f; skip if (id == jd); f += w*log(1 - x);", data, 1e-5);
  check_numbers_of_sources("VARF m; VARF int who; m min= (q - x)^2 + w : who = jd;", data);
  check_numbers_of_sources("VARF f, m; m max= w*y; f += w*cos(k*x);", data, 1e-5);
}

TEST_CASE("high powers of distances are finite at coordinates far from the origin") {
  // Differences are 1 or less, but those of the coordinates and zero to the 60th power overflow.
  const Data data = near_sources(double{1U << 18});
  check_numbers_of_sources("VARF f; f += w*(1 + ((q - x)/2)^60)*(1 + (q - x)^20);", data, 1e-4);
}

}  // namespace gdr::test
