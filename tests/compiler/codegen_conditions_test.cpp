// Random kernels that are little but conditions, on few sources: where a pipelined loop begins and
// ends, masks are in the hands of items that do not exist.
#include <cstdlib>
#include <random>

#include "compiler/codegen_support.hpp"
#include "support/iterations.hpp"

namespace gdr::test {
namespace {

class Author {
 public:
  explicit Author(std::uint64_t seed) : random_(seed) {}

  std::string write() {
    return "VARI x; VARI int id; VARJ y; VARJ int jd; VARF f; VARF int n;\n" + statements(2) +
           "n += 1;\nf += y;\n";
  }

 private:
  int below(int n) { return static_cast<int>(random_() % static_cast<unsigned>(n)); }

  std::string integer() {
    static const char* const all[] = {"id", "jd", "min(jd, id)", "2*jd", "16", "3", "0"};
    return all[below(7)];
  }
  std::string condition(int depth) {
    static const char* const less[] = {" < ", " <= ", " > ", " >= ", " == ", " != "};
    const std::string relation = less[below(6)];
    switch (below(depth > 0 ? 8 : 5)) {
      case 0:
        return (below(2) == 0 ? "x" : "y") + relation + "y";
      case 1:
        return (below(2) == 0 ? "x" : "0.25") + relation + "y";
      case 2:
        return "x" + relation + "0.25";
      case 3:
      case 4:
        return (below(2) == 0 ? "id" : "jd") + relation + integer();
      case 5:
        return "id" + relation + "(" + condition(0) + " ? 3 : " + integer() + ")";
      case 6:
        return "!(" + condition(depth - 1) + ")";
      default:
        return "(" + condition(depth - 1) + (below(2) == 0 ? " && " : " || ") +
               condition(depth - 1) + ")";
    }
  }
  std::string statements(int depth) {
    std::string text;
    for (int lines = 1 + below(3); lines > 0; --lines) {
      if (depth > 0 && below(3) == 0) {
        text += "if (" + condition(1) + ") {\n" + statements(depth - 1) + "}";
        text += below(3) == 0 ? " else {\n" + statements(depth - 1) + "}\n" : "\n";
      } else if (below(3) == 0) {
        text += below(2) == 0 ? "n += 1;\n" : "f -= y;\n";
      } else {
        text += "skip if (" + condition(2) + ");\n";
      }
    }
    return text;
  }

  std::mt19937_64 random_;
};

Data some_data(std::uint64_t seed) {
  std::mt19937_64 random(seed);
  static constexpr double ids[] = {0, 1, 2, 3, 5, 16, -4, -1, 7};
  Data data;
  for (int k = 0; k < 7; ++k) {
    for (const char* name : {"x", "y"})
      data[name].push_back(static_cast<double>(random() % 33) / 8 - 2);
    for (const char* name : {"id", "jd"}) data[name].push_back(ids[random() % 9]);
  }
  return data;
}

}  // namespace

TEST_CASE(
    "random conditions are evaluated correctly for all sources, including the first and the last") {
  const std::uint64_t cases = test::test_iterations(9);
  const std::uint64_t first = test::first_seed();
  for (std::uint64_t seed = first; seed < first + cases; ++seed) {
    const std::string text = Author(seed).write();
    CompileOptions options;
    options.effort = seed % 4 == 0 ? 2 : 0;
    const CompileResult r = compile_kernel(text, "test.gdk", options);
    CAPTURE(seed);
    INFO(text << r.diagnostics.render());
    REQUIRE(r.ok());
    for (const std::size_t sources : {1, 2, 5})
      check(text, *r.program, some_data(seed), 7, sources, 1e-6);
  }
}

TEST_CASE("sources before the first are not counted where one of two late conditions decides") {
  const std::string head = "VARI x; VARJ y; VARF f; VARF int n;\nr = sqrt((x - y)*(x - y) + 1);\n";
  for (unsigned effort = 0; effort < 2; ++effort)
    for (const std::string condition : {"r < 1.3 || r > 2.1", "r > 1.3 || r < 2.1"}) {
      CAPTURE(effort);
      check(head + "if (" + condition + ") { n += 1; }\n", some_data(effort), 7, 5, 0, effort);
      check(head + "f += y; if (" + condition + ") { f += 1; }\n", some_data(effort), 7, 5, 1e-6,
            effort);
    }
}

TEST_CASE("conditions beyond the mask registers are kept in memory") {
  // Each condition is used twice, the second time after all others.
  const auto text = [](int conditions, const std::string& head) {
    const std::string last = std::to_string(conditions);
    return head + "VARI x; VARJ y; VARF f;\nu = x;\n" + "for k = 1 .. " + last +
           " { u = y < k*x ? u*y + 0.5 : u; }\n" + "for k = 1 .. " + last +
           " { u = y < k*x ? u + y : 0.75*u; }\nf += u;\n";
  };
  const Data data = some_data(3);
  for (const std::string head : {"", "precision long;\n"})
    for (const int conditions : {7, 8, 9, 24, 70}) {
      CAPTURE(head, conditions);
      const CompileResult r = compiled(text(conditions, head));
      const bool stored = std::ranges::any_of(r.remarks, [](const std::string& remark) {
        return remark.find("kept in memory") != std::string::npos;
      });
      CHECK(stored == (conditions > 7));
      check(text(conditions, head), *r.program, data, 7, 5, head.empty() ? 1e-4 : 1e-12);
    }
}

TEST_CASE("stored conditions leave out contributions and least values") {
  std::string text =
      "VARI x; VARJ y; VARJ int jd; VARF f, least, log; VARF int which, n;\nu = x;\n"
      "for k = 1 .. 12 { u = y < k*x ? 0.5*u*y + 0.5 : u; }\n"
      "for k = 1 .. 12 { if (y < k*x) { n += k; f += u + y*k; } }\n"
      "d = x - y;\nif (y < 3*x || y < 5*x && !(y < 2*x)) { least min= d*d : which = jd; }\n"
      "if (!(y < 4*x)) { log logsumexp= u; }\n";
  check(text, some_data(5), 7, 5, 1e-4);
}

TEST_CASE("second derivatives of a law with many conditions agree with differences") {
  const std::string text =
      "precision long;\nVARI x, z; VARJ y; CONST p; VARF f, g;\nr = sqrt((x - y)*(x - y) + 0.01);\n"
      "a = max(r, 0.5)*min(z, r*r) + abs(x*z - y) + (x < y ? x*x*z : z*z*y);\n"
      "b = pow(r + z*z, p)*(z > 0.2 ? exp(-x*x) : r) + abs(r - 1)*max(x, z)*min(x*x*x, y);\n"
      "u = a*b;\nf += grad(grad(u, x), x);\ng += grad(grad(u, x), z);\n";
  const auto law = [](long double x, long double z, long double y) {
    const long double r = std::sqrt((x - y) * (x - y) + 0.01L);
    const long double a = std::max(r, 0.5L) * std::min(z, r * r) + std::fabs(x * z - y) +
                          (x < y ? x * x * z : z * z * y);
    const long double b = std::pow(r + z * z, 2.5L) * (z > 0.2L ? std::exp(-x * x) : r) +
                          std::fabs(r - 1) * std::max(x, z) * std::min(x * x * x, y);
    return a * b;
  };
  const Data data = {{"x", {0.3, -0.7, 1.4, 2.2, -1.9}},
                     {"z", {0.15, 0.9, -0.4, 1.7, 0.6}},
                     {"y", {0.1, -1.2, 0.85, 1.9}},
                     {"p", {2.5}}};
  const CompileResult made = compiled(text);
  for (const std::string engine : {"reference", "exact", "vector", "native"}) {
    const Data got = run(Kernel(*made.program), data, 5, 4, engine);
    for (std::size_t t = 0; t < 5; ++t) {
      const long double h = 1e-4L, x = data.at("x")[t], z = data.at("z")[t];
      long double f = 0, g = 0;
      for (const double y : data.at("y")) {
        f += (law(x + h, z, y) - 2 * law(x, z, y) + law(x - h, z, y)) / (h * h);
        g += (law(x + h, z + h, y) - law(x + h, z - h, y) - law(x - h, z + h, y) +
              law(x - h, z - h, y)) /
             (4 * h * h);
      }
      CAPTURE(engine, t);
      CHECK(std::fabs(got.at("f")[t] - f) < 1e-6L * (1 + std::fabs(f)));
      CHECK(std::fabs(got.at("g")[t] - g) < 1e-6L * (1 + std::fabs(g)));
    }
  }
}

TEST_CASE("a condition selects between constants that need a long") {
  const Data data = {{"x", {0.5, -2}}, {"y", {0.5, -0.25, 1}}};
  const std::string head = "VARI x; VARJ y; VARF f;\n";
  check(head + "f += x*(y < 0 ? 0.1 : -1.41421356237309505);", data, 2, 3, 1e-6);
  check("precision long;\n" + head + "f += x*(y < 0 ? 0.1 : -0.75);", data, 2, 3, 1e-13);
  check("precision long;\n" + head + "f += x*(y < 0 ? 1.5 : 1/3);", data, 2, 3, 1e-13);
}

TEST_CASE("selecting a multiple of a value does not change the value") {
  const Data data = {{"x", {0.5, -2}}, {"p", {0.5, -3, 2, -0.25}}, {"q", {1, 0.5, -2, 3}}};
  const std::string head = "VARI x; VARJ p, q; VARF f;\nt = 1/abs(p);\n";
  for (const std::string precision : {"", "precision long;\n"}) {
    const double tolerance = precision.empty() ? 1e-6 : 1e-13;
    for (const std::string law :
         {"f += abs(p) > 1.5 ? t*-2 : 0.5; f += q*rsqrt(abs(t))*x;",
          "f += abs(p) > 1.5 ? -t : q; f += q*t*x;", "f += p > x ? 0.25*t : q*0.5; f += q*exp(t);",
          "s = p*q; f += p > x ? 2*s : x; u = p*q; f += u*rsqrt(abs(u));"})
      check(precision + head + law, data, 2, 4, tolerance);
  }
}

TEST_CASE("padding items contribute nothing where a condition makes the argument of a root zero") {
  const Data data = {{"x", {0.5, -3}}, {"y", {2, 0.25}}, {"p", {0.5}}, {"q", {-2}}};
  const std::string head = "VARI x, y; VARJ p, q; VARF f;\n";
  check(head + "f += q*sqrt(pow(rsqrt(abs(abs(x) > 2.5 ? q : y)), -2));", data, 2, 1, 1e-6);
  check(head + "f += q*rsqrt(x > 0 ? q*q : y);", data, 2, 1, 1e-6);
  check(head + "f += q*rsqrt(y + max(0.75 - p, 0) - y);", data, 2, 1, 1e-5);
}

TEST_CASE("skipped sources contribute nothing where conditions share a mask") {
  const std::string text =
      "VARI int id; VARJ y; VARJ int jd; VARF f;\nbool other = id != 16;\n"
      "skip if ((y == y || id <= min(jd, id)));\nskip if (id < (2*jd > 0x10 ? 3 : 1));\n"
      "if (other) { skip if (other); }\nf += 1;\n";
  const Data data = {{"id", {0, 0, 0}}, {"y", {0.5, 0.25, 1}}, {"jd", {3, 4, 5}}};
  for (const unsigned effort : {0U, 1U, 2U}) {
    const CompileResult r = compiled(text, effort);
    for (const std::size_t sources : {1, 2, 3}) {
      CAPTURE(effort, sources);
      check(text, *r.program, data, 3, sources, 0);
    }
  }
}

}  // namespace gdr::test
