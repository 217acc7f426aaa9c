// Assignments, loops, arrays, conditions, results, functions, includes, warnings and limits.
#include <algorithm>
#include <filesystem>
#include <fstream>

#include "compiler/front_support.hpp"
#include "support/processor_time.hpp"
#include "support/temporary_folder.hpp"

namespace gdr::test {
namespace {

/// The results of one pair, by name, of a kernel with inputs a, b (VARI), c (VARJ).
long double result_of(const kc::Graph& g, const std::string& name, const std::vector<Given>& at) {
  auto results = kc::empty_results<long double>(g);
  kc::reduce_terms(g, terms_of(g, at), results);
  for (std::size_t i = 0; i < g.variables.size(); ++i) {
    if (g.variables[i].name == name) return results[i];
  }
  FAIL("there is no " << name);
  return 0;
}

long double f_of(const std::string& statements, long double a = 0, long double b = 0) {
  const kc::Graph g = graph_of("VARI a; VARJ b; VARF f;\n" + statements + "\n");
  return result_of(g, "f", {{"a", {a}}, {"b", {b}}});
}

}  // namespace

TEST_CASE("temporaries can be reassigned, and accumulate from zero") {
  CHECK(f_of("t = a; t = t*t; t += 1; t -= b; f += t;", 3, 2) == 8);
  CHECK(f_of("s += a; s += b; f += s; s -= 1; f -= s;", 3, 2) == 1);
  CHECK(f_of("s -= a; f += s;", 3) == -3);
  CHECK(nodes_of("VARI a; VARF f; s += a; f += s;") == "%0 long = input a\nf += %0\n");
}

TEST_CASE("loops are unrolled with constant loop variables") {
  CHECK(f_of("for k = 0 .. 3 { f += k*a; }", 1) == 6);
  CHECK(f_of("for k = 3 .. 0 step -2 { f += k*a; }", 1) == 4);
  CHECK(f_of("for k = 1 .. 0 { f += k*a; } f += b;", 1, 5) == 5);
  CHECK(f_of("CONST n = 2; for k = 0 .. n - 1 { for m = k .. n { f += 10*k + m; } }") == 26);
  CHECK(f_of("for k = 0..2 { t[k] = k + a; } f += t[0]*t[1]*t[2];", 1) == 6);
  CHECK(f_of("short m[2][2]; for i = 0..1 { for j = 0..1 { m[i][j] = 2*i + j + a; } }"
             "f += m[0][0]*m[1][1] - m[0][1]*m[1][0];") == -2);
  CHECK(f_of("for k = 0 .. 2 { if (k > 0 && k < 2) { f += k*a; } else { f += 100*a; } }", 1) ==
        201);
  CHECK(f_of("d[0] = a; for k = 0 .. 2 { f += k > 0 ? 1 : d[k]; }", 7) == 9);
}

TEST_CASE("interface arrays have one variable per element") {
  const kc::Graph g = graph_of(
      "VARI x[2]; VARJ y[2]; CONST table s[2][3]; VARI int t; VARJ int u; VARF f[2];\n"
      "for k = 0 .. 1 { f[k] += s[t][u]*(y[k] - x[k]); }\n");
  CHECK(g.variables[0].name == "x_0");
  CHECK(g.variables[4].name == "s");
  CHECK(g.variables[4].table_size == 6);
  CHECK(g.variables[8].name == "f_1");
  const std::vector<Given> at{{"x_0", {1}},
                              {"x_1", {2}},
                              {"y_0", {10}},
                              {"y_1", {20}},
                              {"t", {1}},
                              {"u", {2}},
                              {"s", {0, 1, 2, 3, 4, 5}}};
  CHECK(result_of(g, "f_0", at) == 45);
  CHECK(result_of(g, "f_1", at) == 90);
}

TEST_CASE("declarations tell what the host passes, and default values of ints") {
  const std::string text =
      "/VARI as, x as pos\nVARI vec3 v as vel; VARI int id = -1, n as id; VARJ int k[2] = 2*3 - "
      "9;\n"
      "CONST e2 as eps^2; CONST table t[2] as t; VARF f; f += as + x + e2 + dot(v, v) + id + n;\n"
      "f += k[0] + k[1] + t[n];\n";
  CHECK(codes_of(text).empty());
  const std::string declared = kc::to_text(graph_of(text));
  CHECK(declared.substr(0, declared.find("f f")) ==
        "kernel test\ni as long? as pos\ni x long? as pos\ni v_0 long? as vel\n"
        "i v_1 long? as vel\ni v_2 long? as vel\ni id int = -1 as id\ni n int as id\n"
        "j k_0 int = -3\nj k_1 int = -3\np e2 long? as eps^2\np t[2] long? as t\n");
  const auto rejected = [](const std::string& declaration) {
    return !codes_of(declaration + " VARI y; VARF g; g += y;\n").empty();
  };
  CHECK(rejected("VARF f as acc;"));
  CHECK(rejected("VARI x as;"));
  CHECK(rejected("VARI x as pos^3;"));
  CHECK(rejected("VARI x = 1;"));
  CHECK(rejected("VARI int x = 1.5;"));
  CHECK(rejected("VARI int x = 34359738368;"));
  CHECK(rejected("VARF int x = 1;"));
  CHECK(rejected("CONST c = 1 as mass;"));
}

TEST_CASE("conditions select values and restrict contributions") {
  const std::string text =
      "t = 1; if (a > 0) { t = a; f += 10; } else if (a < 0) { t = -a; f += 20; } else { f += 30; }"
      "f += t;";
  CHECK(f_of(text, 5) == 15);
  CHECK(f_of(text, -5) == 25);
  CHECK(f_of(text, 0) == 31);
  CHECK(f_of("if (a > 0) { s += a; } f += s;", 2) == 2);
  CHECK(f_of("if (a > 0) { s += a; } f += s;", -2) == 0);
  CHECK(f_of("if (a > 0) { s += a; if (b > 0) { s += b; } } f += s;", 2, 3) == 5);
  CHECK(f_of("if (a > 0) { s += a; if (b > 0) { s += b; } } f += s;", -2, 3) == 0);
  CHECK(f_of("if (a > 0) { t = 1; } else { t = 2; } f += t;", 0) == 2);
  CHECK(f_of("bool c = a > b; if (c) { f += 1; } if (!c) { f += 2; }", 1, 2) == 2);
}

TEST_CASE("`skip if` excludes later contributions, within its branch") {
  CHECK(f_of("f += 1; skip if (a == b); f += 2;", 3, 3) == 1);
  CHECK(f_of("f += 1; skip if (a == b); f += 2;", 3, 4) == 3);
  CHECK(f_of("if (a > 0) { skip if (b > 0); f += 1; } f += 2;", 1, 1) == 0);
  CHECK(f_of("if (a > 0) { skip if (b > 0); f += 1; } f += 2;", 0, 1) == 2);
  CHECK(f_of("if (a > 0) { skip if (b > 0); f += 1; } f += 2;", 1, 0) == 3);
  CHECK(f_of("skip if (a > 0); skip if (b > 0); f += 2;", 0, 1) == 0);
  CHECK(f_of("f += 1; skip if (1 > 0); f += 2;") == 1);
}

TEST_CASE("minima and maxima accept an index") {
  const kc::Graph g = graph_of(
      "VARI a; VARI int i; VARJ b; VARJ int j; VARF near, far; VARF int nn, count;\n"
      "d = a - b; r2 = d*d; skip if (i == j);\n"
      "near min= r2 : nn = j; far max= abs(d); count += 1;\n");
  REQUIRE(g.contributions.size() == 3);
  CHECK(g.contributions[0].reduction == kc::Reduction::Min);
  auto results = kc::empty_results<long double>(g);
  for (int j = 0; j < 4; ++j) {
    const auto x = static_cast<long double>(j);
    kc::reduce_terms(g, terms_of(g, {{"a", {1.75L}}, {"i", {2}}, {"b", {x}}, {"j", {x}}}), results);
  }
  CHECK(results[4] == 0.5625L);
  CHECK(results[5] == 1.75L);
  CHECK(results[6] == 1);
  CHECK(results[7] == 3);
}

TEST_CASE("functions have their own scope and are inlined") {
  CHECK(f_of("function g(x, y) { t = x*y; if (x > 1) { t += 100; } return t; }"
             "t = 7; f += g(a, 2) + g(2, b) + t;",
             1, 3) == 115);
  CHECK(f_of("function g(x) { return h(x) + 1; } function h(x) { return 2*x; } f += g(g(a));", 1) ==
        7);
  CHECK(f_of("function pi() { return 3.25; } f += pi();") == 3.25L);
  CHECK(f_of("CONST n = 4; function g(x) { for k = 1 .. n { s += x; } return s; } f += g(a);", 2) ==
        8);
  CHECK(f_of("function g(x) { y = x; return y; } if (a > 0) { u = g(b); f += g(u) + g(1); } "
             "else { u = g(2); } f += u;",
             1, 5) == 11);
}

TEST_CASE("thousands of includes are read in linear time") {
  const auto seconds = [](int count) {
    const TemporaryFolder folder;
    std::string text;
    for (int k = 0; k < count; ++k) {
      const std::string name = "f" + std::to_string(k) + ".gdk";
      folder.make(name, "");
      text += "include \"" + name + "\"; ";
    }
    const std::string main = folder.file("main.gdk");
    text += "VARI x; VARF f; f += x;";
    return processor_seconds([&] { CHECK(kc::read_kernel(text, main, {}).graph); });
  };
  // Quadratic time would be 256 times as long.
  const double few = seconds(500), many = seconds(8000);
  INFO(few << " s, " << many << " s");
  CHECK(many < 64 * few);
}

TEST_CASE("included files are found in the file's directory and the given ones, and read once") {
  const TemporaryFolder folder;
  const std::filesystem::path dir = folder.path();
  std::filesystem::create_directories(dir / "lib");
  std::ofstream(dir / "lib" / "forces.gdk") << "include \"units.gdk\";\nfunction force(r) { return "
                                               "unit*r; }\n";
  std::ofstream(dir / "lib" / "units.gdk") << "CONST unit = 4;\n";
  std::ofstream(dir / "vars.gdk") << "VARI x; VARF f;\nundefined += ;\n";
  std::ofstream(dir / "loop.gdk") << "include \"loop.gdk\";\n";
  const std::vector<std::string> include_dirs{(dir / "lib").string()};
  const std::string main = (dir / "main.gdk").string();
  const kc::FrontResult good = kc::read_kernel(
      "include \"forces.gdk\"; include \"units.gdk\"; VARI x; VARF f; f += force(x);", main,
      include_dirs);
  INFO(good.diagnostics.render());
  REQUIRE(good.graph);
  CHECK(good.graph->contributions.size() == 1);
  const kc::FrontResult bad =
      kc::read_kernel("include \"vars.gdk\"; include \"loop.gdk\"; f += x;", main, include_dirs);
  REQUIRE(bad.diagnostics.list.size() == 2);
  CHECK(bad.diagnostics.list[0].code == 6008);
  CHECK(bad.diagnostics.sources[bad.diagnostics.list[0].range.file].name ==
        (dir / "vars.gdk").string());
  CHECK(bad.diagnostics.list[1].code == 6012);
}

TEST_CASE("initial numbers of generated kernels raise one warning") {
  // The original Goose compiler initialises every temporary like this.
  std::string text = "/VARI x\n/VARF f\n", sum = "0.0";
  for (int k = 0; k < 22; ++k) {
    const std::string name = "t" + std::to_string(k);
    text += name + " = 0.0; // the value 0.0 is meaningless.\n";
    sum += " + " + name;
  }
  for (int k = 0; k < 22; ++k)
    text += "t" + std::to_string(k) + " = x*" + std::to_string(k) + ";\n";
  const kc::FrontResult r = kc::read_kernel(text + "f += " + sum + ";\n", "goose.gdk");
  REQUIRE(r.diagnostics.list.size() == 1);
  CHECK(r.diagnostics.list[0].code == 7102);
  CHECK(r.diagnostics.list[0].message.find("`t3` and 18 more") != std::string::npos);
  const std::string shown = r.diagnostics.render();
  CHECK(std::ranges::count(shown, '\n') <= 5);
}

TEST_CASE("suggested names differ in few letters") {
  const auto help = [](const std::string& call) {
    const std::string text = "VARI x; VARF f;\nf += " + call + ";\n";
    return kc::read_kernel(text, "test.gdk").diagnostics.list.at(0).help;
  };
  CHECK(help("logb(x)").find("long") == std::string::npos);
  CHECK(help("sqr(x)").find("`sqrt`") != std::string::npos);
  CHECK(help("rsqtr(x)").find("`rsqrt`") != std::string::npos);
  CHECK(help("nrom2(vec3(x, x, x))").find("`norm2`") != std::string::npos);
}

TEST_CASE("unused names raise warnings only") {
  const std::string text =
      "VARI a, unused; VARJ b; VARF f, empty;\n"
      "t = a;\nt = b;\nu = t;\nif (a > 0) { v = 1; } else { v = 2; }\nf += t;\n"
      "for k = 0 .. 1 { w[k] = a; }\nf += w[0] + a;\n";
  const kc::FrontResult r = kc::read_kernel(text, "t.gdk");
  REQUIRE(r.graph);
  CHECK(r.diagnostics.error_count == 0);
  CHECK(codes_of(text) == std::vector<unsigned>{7101, 7103, 7102, 7102, 7102, 7102});
  REQUIRE(r.diagnostics.list.size() == 6);
  CHECK(r.diagnostics.list[2].range.line == 2);
  REQUIRE(r.diagnostics.list[2].notes.size() == 1);
  CHECK(r.diagnostics.list[2].notes[0].range.line == 3);
}

TEST_CASE("the graph contains only nodes needed by contributions") {
  CHECK(nodes_of("VARI a, b; VARF f; t = a*b; u = t + 1; f += a;") ==
        "%0 long = input a\nf += %0\n");
}

TEST_CASE("oversized and deeply nested texts raise an error") {
  const auto first_code = [](const std::string& text) { return codes_of(text).at(0); };
  const auto any_code = [](const std::string& text, unsigned code) {
    const auto codes = codes_of(text);
    return std::find(codes.begin(), codes.end(), code) != codes.end();
  };
  const std::string head = "VARI x; VARF f;\n";
  const auto repeat = [](const std::string& s, int n) {
    std::string out;
    for (int i = 0; i < n; ++i) out += s;
    return out;
  };
  CHECK(first_code(head + "f += " + repeat("(", 100000) + "x;") == 6010);
  CHECK(first_code(head + "f += " + repeat("-", 100000) + "x;") == 6010);
  CHECK(first_code(head + "f += x" + repeat("^x", 100000) + ";") == 6010);
  CHECK(first_code(head + "f += " + repeat("x ? x : ", 100000) + "x;") == 6010);
  CHECK(any_code(head + repeat("if (x > 0) {", 50000), 6010));
  CHECK(first_code(head + repeat("if (x > 0) { f += 1; } else ", 1000) + "{ f += 2; }") == 6010);
  CHECK(first_code(head + repeat("for k = 1 .. 1000 { ", 6) + "f += x;" + repeat("}", 6)) == 7001);
  CHECK(first_code(head + "for i = 1 .. 100000 { for j = 1 .. 100000 { } }") == 7026);
  CHECK(first_code(std::string(2 << 20, ' ')) == 7026);
  CHECK(kc::read_kernel(std::string(2 << 20, ' '), "big.gdk").diagnostics.render() ==
        "big.gdk: error[GDR7026]: the text is too long: 2097152 characters; the limit is 1 MiB "
        "(1048576)\n");
  std::string doubling = head + "function g0(y) { return y + 1; }\n";
  for (int i = 1; i < 60; ++i) {
    const std::string k = std::to_string(i), before = std::to_string(i - 1);
    doubling += "function g" + k + "(y) { return g" + before + "(y) + g" + before + "(2*y); }\n";
  }
  CHECK(first_code(doubling + "f += g59(x);") == 7026);
  // A long sum is no deep one.
  CHECK(codes_of(head + "f += x" + repeat(" + x", 100000) + ";").empty());
}

}  // namespace gdr::test
