// Code generation for particular kernels, its limits and decisions.
#include <chrono>
#include <stop_token>
#include <thread>

#include "compiler/codegen_support.hpp"
#include "emulator/assembler/assembler.hpp"
#include "emulator/assembler/object.hpp"
#include "gdr/error.hpp"
#include "kernels/compiler/lower/lower.hpp"
#include "kernels/compiler/schedule/partial_schedule.hpp"

namespace gdr::test {
namespace {

Data numbers(const std::vector<std::string>& targets, const std::vector<std::string>& sources) {
  Data data;
  for (const std::string& name : targets)
    for (int i = 0; i < 6; ++i)
      data[name].push_back(0.25 * i - 0.5 + 0.1 * static_cast<double>(name.size()));
  for (const std::string& name : sources)
    for (int i = 0; i < 9; ++i)
      data[name].push_back(1.5 - 0.375 * i + 0.2 * static_cast<double>(name.back() % 5));
  return data;
}

std::string many_live(unsigned n) {
  std::string text = "VARI x, y; VARJ u, v; VARF f, g;\nd = u - x; e = v - y;\n", f, g;
  for (unsigned i = 0; i < n; ++i) {
    const std::string t = "t" + std::to_string(i);
    text +=
        t + " = d*" + std::to_string(i + 1) + ".5 + e*" + std::to_string(i * 7 % 13 + 1) + ";\n";
    f += (i == 0 ? "" : " + ") + t + "*t" + std::to_string((i * 37 + 11) % n);
    g += (i == 0 ? "" : " + ") + t + "*t" + std::to_string((n - i) % n);
  }
  return text + "f += " + f + ";\ng += " + g + ";\n";
}

}  // namespace

TEST_CASE("native adds two constants to a long without the exact engine") {
  struct Case {
    std::string sum;
    bool rounds;
  };
  const Case cases[] = {
      {"t + 0.1 + 0.2", false},   {"t - 1 + 0.75", false},  {"0.5 - (t - 0.1)", false},
      {"0.1 - (0.2 - t)", false}, {"t + 0.1 - 0.1", true},  {"0.1 - (t + 0.1)", true},
      {"-(-t)*x", false},         {"(t + x) + x", false},   {"0 - (0 - t)", false},
      {"abs(-t)", false},         {"atan2(-t, -x)", false}, {"max(-t, x)*abs(-x)", false}};
  for (const Case& c : cases) {
    const std::string text =
        "VARI long x; VARJ long s; VARF r; long t = x + s; r += " + c.sum + ";";
    const CompileResult made = compiled(text);
    Device device = Device::open("emulator:chips=1,blocks=1,pes=1,threads=1,engine=native");
    Job job = device.job(Kernel(*made.program));
    const std::vector<double> x{1.5, -2.5}, s{0.25};
    std::vector<double> r(2);
    job.targets(2, {{"x", x}});
    job.sources(1, {{"s", s}});
    job.run({{"r", r}});
    const std::string reason = device.statistics().fallback_reason;
    INFO(text << ": " << reason);
    CHECK((reason.find("rounded by adding and subtracting") != std::string::npos) == c.rounds);
    CHECK(reason.empty() == !c.rounds);
  }
}

TEST_CASE("compilation is deterministic") {
  const std::string text = "VARI x; VARJ u, m; VARF f;\nd = u - x;\nf += m*d*powm32(d*d + 0.01);\n";
  const CompileResult a = compiled(text, 1), b = compiled(text, 1);
  CHECK(a.assembly == b.assembly);
  CHECK(a.report == b.report);
  CHECK(a.report.find("clocks per interaction") != std::string::npos);
}

TEST_CASE("a compilation can be cancelled during the schedule search") {
  const std::string text = many_live(16);
  std::stop_source stop;
  CompileOptions options;
  options.effort = 9;  // for minutes
  options.stop = stop.get_token();
  const std::jthread other([&stop] {
    std::this_thread::sleep_for(std::chrono::milliseconds(200));
    stop.request_stop();
  });
  try {
    compile_kernel(text, "many", options);
    FAIL("compilation was not cancelled");
  } catch (const Error& e) {
    CHECK(e.category() == ErrorCategory::Device);
  }
  options.stop = {};
  options.effort = 0;
  CHECK(compile_kernel("VARI x; VARJ y; VARF f;\nf += x*y;\n", "one", options).ok());
}

TEST_CASE("minima and maxima return key and index") {
  const std::string text =
      "VARI x; VARI int id; VARJ u; VARJ int idj; VARF r, far; VARF int n, m;\nd = u - x;\n"
      "skip if (id == idj);\nr min= d*d : n = idj;\nfar max= abs(d) : m = idj;\n";
  Data data = numbers({"x"}, {"u"});
  data["id"] = {0, 1, 2, 3, 4, 5};
  data["idj"] = {0, 1, 2, 3, 4, 5, 6, 7, 8};
  check(text, data, 6, 9, 3e-7);
  check(text, data, 6, 1, 3e-7);
}

TEST_CASE("in long precision an index belongs to the least of keys that differ by 1e-12") {
  // Sources at distances 1 + k 1e-12 in a random order, on both sides, with ids in another one.
  const std::string text =
      "precision long; VARI x; VARI int id; VARJ u; VARJ int idj; VARF r, far; VARF int n, m;\n"
      "d = u - x;\nskip if (id == idj);\nr min= d*d : n = idj;\nfar max= abs(d) : m = idj;\n";
  Data data{{"x", {0, 0, 0, 0, 0}}, {"id", {8, 3, 1, 70, -1}}, {"u", {}}, {"idj", {}}};
  constexpr std::size_t sources = 23;
  for (std::size_t k = 0; k < sources; ++k) {
    const std::size_t place = k * 7 % sources;
    data["u"].push_back((k % 2 == 0 ? 1 : -1) * (1 + static_cast<double>(place) * 1e-12));
    data["idj"].push_back(static_cast<double>(k * 5 % sources));
  }
  check(text, data, 5, sources, 1e-14);
  check(text, data, 5, 1, 1e-14);
  check(
      "VARI x; VARJ u; VARJ int idj; VARF long r; VARF int n; long d = u - x; long d2 = d*d;\n"
      "r min= d2 : n = idj;\nr min= 4*d2 : n = 3;\n",
      data, 5, sources, 1e-14);
}

TEST_CASE("of equal long keys the least index is returned") {
  const std::string text =
      "precision long; VARI x; VARJ u; VARJ int idj; VARF least, most; VARF int n, m;\n"
      "d = u - x;\nleast min= d*d : n = idj;\nmost max= d*d : m = idj;\n";
  const Data data{{"x", {0, 0.5}},
                  {"u", {1, -1, 3, 1, -3, 2, 3, -1, 1}},
                  {"idj", {7, 5, 34359738367, 2, 9, 0, 6, 4, 3}}};
  const Kernel kernel(*compiled(text).program);
  for (const std::string engine : {"reference", "vector", "native"}) {
    const Data got = run(kernel, data, 2, 9, engine);
    INFO(engine);
    CHECK(got.at("n") == std::vector<double>{2, 2});
    CHECK(got.at("m") == std::vector<double>{6, 9});
    CHECK(got.at("least") == std::vector<double>{1, 0.25});
  }
}

TEST_CASE("blocks, chips and slices agree about the index of a long key") {
  const Kernel kernel(
      *compiled("precision long; VARI x; VARJ u; VARJ int idj; VARF f, r; VARF int n;\n"
                "d = u - x;\nf += d;\nr min= d*d : n = idj;\n")
           .program);
  for (const std::size_t sources : {1UL, 40UL, 20000UL, 80000UL}) {
    std::vector<double> u(sources), x{-3, 0, 1}, f(3), r(3);
    std::vector<std::int64_t> ids(sources), n(3);
    for (std::size_t k = 0; k < sources; ++k) {
      u[k] = 5 + static_cast<double>(k * 7919 % sources) * 1e-12;
      ids[k] = static_cast<std::int64_t>(2 * sources - k);
    }
    const auto first = std::ranges::min_element(u) - u.begin();
    // Two at the least distance.
    u.push_back(u[static_cast<std::size_t>(first)]);
    ids.push_back(ids[static_cast<std::size_t>(first)] - 1);
    for (const std::string device :
         {"engine=vector,partition=sources", "engine=vector,partition=targets", "engine=vector",
          "engine=reference,partition=sources", "engine=native,partition=sources",
          "engine=native"}) {
      if (sources > 1000 && device.find("reference") != std::string::npos) continue;
      INFO(sources << " sources, " << device);
      Device open = Device::open("exact:chips=2,blocks=4,pes=2,threads=2," + device);
      Job job = open.job(kernel);
      job.sources(u.size(), {{"u", u.data()}, {"idj", ids.data()}});
      job.targets(3, {{"x", x.data()}});
      job.run({{"f", f.data()}, {"r", r.data()}, {"n", n.data()}});
      for (std::size_t i = 0; i < 3; ++i) {
        const double d = u.back() - x[i];
        CHECK(n[i] == ids.back());
        CHECK(std::abs(r[i] - d * d) <= 1e-15 * d * d);
      }
    }
  }
}

TEST_CASE("the index of a key is kept by objects and disassembly, and its key is checked") {
  // The index is declared before its key, whose name is a word of the assembler.
  const CompileResult made = compiled(
      "precision long; VARI x; VARJ u; VARJ int index; VARF int n; VARF pass;\n"
      "pass min= (u - x)*(u - x) : n = index;\n");
  CHECK(made.program->variables[3].reduce == Reduce::Index);
  CHECK(made.program->variables[3].key == 4);
  CHECK(read_object(write_object(*made.program), "object") == *made.program);
  const AssembleResult again = assemble(disassemble(*made.program), "test.gds");
  INFO(again.diagnostics.render());
  REQUIRE(again.ok());
  CHECK(*again.program == *made.program);

  Program wrong = *made.program;
  wrong.variables[3].key = 3;
  CHECK_THROWS_WITH(write_object(wrong), Catch::Contains("key of an index"));
  const auto message = [](const std::string& declarations) {
    return assemble(declarations + "\n.body\n", "test.gds").diagnostics.render();
  };
  CHECK(message("fvar short n i64int index r").find("`r` is not declared") != std::string::npos);
  CHECK(message("fvar long r f64to72 fadd\nfvar short n i64int index r").find("cannot be a key") !=
        std::string::npos);
  CHECK(message("fvar short n i64int index").find("name of the key") != std::string::npos);
  CHECK(message("ivar short n i64int index r").find("index of a key") != std::string::npos);
}

TEST_CASE("a long key without contributions is infinite and its index is -1") {
  const Kernel kernel(
      *compiled("precision long; VARI x; VARJ u; VARJ int i; VARF r, s; VARF int n, m;\n"
                "if (u < x) { r min= u - x : n = i; s max= u - x : m = i; }\n")
           .program);
  for (const std::string engine : {"reference", "vector", "native"}) {
    const Data got = run(kernel, {{"x", {1, 3}}, {"u", {2, 2.5}}, {"i", {4, 6}}}, 2, 2, engine);
    INFO(engine);
    CHECK(got.at("n") == std::vector<double>{-1, 4});
    CHECK(got.at("m") == std::vector<double>{-1, 6});
    CHECK(got.at("r") == std::vector<double>{INFINITY, -1});
    CHECK(got.at("s") == std::vector<double>{-INFINITY, -0.5});
  }
}

TEST_CASE("without sources a minimum is infinite and its index is -1") {
  const Kernel kernel(*compiled("VARI x; VARJ u; VARJ int i; VARF r; VARF int n;\n"
                                "r min= (u - x)*(u - x) : n = i;\n")
                           .program);
  const Data got = run(kernel, {{"x", {1, 2}}, {"u", {}}, {"i", {}}}, 2, 0, "vector");
  CHECK(got.at("n")[0] == -1);
  CHECK(std::isinf(got.at("r")[1]));
}

TEST_CASE("tables are read at computed indices") {
  const std::string text =
      "CONST table s[2][3], e[4]; VARI int a; VARI x; VARJ int b; VARJ u; VARF f;\n"
      "f += s[a][b]*(u - x) + e[b];\n";
  Data data = numbers({"x"}, {"u"});
  data["a"] = {0, 1, 0, 1, 1, 0};
  data["b"] = {0, 1, 2, 2, 1, 0, 0, 1, 2};
  for (int k = 0; k < 6; ++k) data["s_" + std::to_string(k)] = {1.0 + k * k};
  for (int k = 0; k < 4; ++k) data["e_" + std::to_string(k)] = {0.5 - k};
  check(text, data, 6, 9, 3e-7);
}

TEST_CASE("an element of a table of ints can be the index of another table") {
  const std::string text =
      "CONST table t[9]; CONST table int order[5]; VARI x; VARJ int b; VARJ u; VARF f;\n"
      "f += t[order[b]]*(u - x);\n";
  Data data = numbers({"x"}, {"u"});
  data["b"] = {0, 1, 2, 3, 4, 4, 3, 1, 0};
  for (int k = 0; k < 9; ++k) data["t_" + std::to_string(k)] = {1.0 + k * k};
  for (int k = 0; k < 5; ++k) data["order_" + std::to_string(k)] = {8.0 - 2 * k};
  check(text, data, 6, 9, 3e-7);
}

TEST_CASE("an element of a table that is stored to local memory is stored under its condition") {
  // So many values that a selected element is not kept in a register.
  const std::string text =
      "CONST table t[9]; CONST long table w[6]; CONST table int order[5];\n"
      "VARI int a; VARI x; VARJ int b; VARJ u; VARF f;\n"
      "d = u - x; r2 = d*d; k = order[min(int(r2), 4)];\n"
      "f += a < b ? w[b] : (a < b ? t[k] : 0.5);\n"
      "if (u > x && b > 1) {\n"
      "  f += t[(a + b*3) % 8] + (w[min(int(r2), 5)] + t[8 - int(min(abs(u), 3.5))]);\n}\n";
  Data data = numbers({"x"}, {"u"});
  data["a"] = {0, 1, 2, 3, 2, 1};
  data["b"] = {0, 1, 2, 3, 4, 4, 3, 1, 0};
  for (int k = 0; k < 9; ++k) data["t_" + std::to_string(k)] = {1.0 + k * k};
  for (int k = 0; k < 6; ++k) data["w_" + std::to_string(k)] = {0.25 - k};
  for (int k = 0; k < 5; ++k) data["order_" + std::to_string(k)] = {8.0 - 2 * k};
  CompileOptions options;
  options.pipeline = false;
  const CompileResult made = compile_kernel(text, "test.gdk", options);
  REQUIRE(made.ok());
  check(text, *made.program, data, 6, 9, 1e-6);
}

TEST_CASE("integer arithmetic, comparisons and conversions are exact") {
  const std::string text =
      "VARI int a; VARJ int b; VARF f; VARF int n;\nskip if (a > b);\nn += b - a;\nf += long(b) + "
      "0.5;\n";
  Data data;
  data["a"] = {-3, 4000000000.0, 0, 17, -4000000000.0, 2};
  data["b"] = {5, 4000000001.0, -7, 1, 16, 17, 18, -4000000000.0, 0};
  check(text, data, 6, 9, 1e-15);
}

TEST_CASE("conditions can be combined, nested and used in selections") {
  check(
      "VARI x, y; VARJ u, v; VARF f, g;\nd = u - x; e = v - y;\n"
      "if (d < 0 && (e > 0.25 || !(d < -1))) { f += d*e; w = 2*d; } else { w = e; }\n"
      "skip if (d*d > 4 || e == 0);\ng += w;\nf -= d <= e ? w : sqrt(abs(e));\n",
      numbers({"x", "y"}, {"u", "v"}), 6, 9, 1e-6);
}

TEST_CASE("a selection between equal constants can be compared with a constant") {
  check(
      "VARI x; VARJ u; VARF f, g;\nt = 3;\nif (x > 3) { t = 3; }\nf += t < 1 ? u : 2*u;\n"
      "if (1.5 < (u < x ? 0.75 : 0.75)) { f += 1; }\ng += u + (x < u ? 2 : 2);\n",
      numbers({"x"}, {"u"}), 6, 9, 1e-6);
}

TEST_CASE("a condition used in several compound conditions is not modified") {
  const Data data = numbers({"x"}, {"u"});
  check(
      "VARI x; VARJ u; VARF a; VARF int n, m;\nd = u - x;\nskip if (d < -1);\na += d;\n"
      "if (d < 0.5) { n += 1; }\nif (d > 0) { m += 1; }\n",
      data, 6, 9, 1e-6);
  check(
      "VARI x; VARJ u; VARF a, b, c;\nd = u - x;\nskip if (d < -1);\na += d;\n"
      "skip if (d > 1);\nb += d;\nskip if (d*d < 0.1);\nc += d;\n",
      data, 6, 9, 1e-6);
}

TEST_CASE("excluded pairs contribute nothing, even if their value is NaN") {
  check(
      "VARI x; VARJ u, m; VARF a, p;\nd = u - x;\nskip if (d == 0);\n"
      "r = rsqrt(d*d);\na += m*r*r*r*d;\np -= m*r;\n",
      {{"x", {1, 2, 3}}, {"u", {1, 2, 4, 3}}, {"m", {1, 2, 3, 4}}}, 3, 4, 1e-6);
}

TEST_CASE("relative errors in long precision are below 1e-13") {
  check(
      "precision long;\nVARI x, y; VARJ u, v, m; CONST e2; VARF a, p;\ndx = u - x; dy = v - y;\n"
      "r = rsqrt(dx*dx + dy*dy + e2);\na += m*r*r*r*dx;\np += m/sqrt(dx*dx + e2) + exp(dx);\n",
      [] {
        Data d = numbers({"x", "y"}, {"u", "v", "m"});
        d["e2"] = {0.01};
        return d;
      }(),
      6, 9, 1e-13);
}

// A schedule may leave a root half done when the loop ends: its short approximation and what a
// Newton step has made of that. Both have to be of the same number.
TEST_CASE(
    "long roots that the last pass leaves unnormalised are as accurate on the native engine") {
  Data data = numbers({"x"}, {"u", "m"});
  data["e2"] = {0.01};
  const std::string begin =
      "precision long;\nVARI x; VARJ u, m; CONST e2; VARF f;\n"
      "d = u - x; r2 = d*d + e2;\n";
  for (const std::string law : {"f += m/sqrt(r2);", "f += m/d;", "r = rsqrt(r2); f += m*r*r*r*d;",
                                "f += m*sqrt(r2);", "f += rsqrt(r2)*m/(r2 + 1);"}) {
    for (const unsigned effort : {0, 1, 2}) check(begin + law + "\n", data, 6, 9, 1e-13, effort);
  }
}

TEST_CASE("variables may have the names of assembly keywords and generated symbols") {
  const std::string law =
      "CONST bm; VARI long, word0, vlen; VARJ pass, fadd, word1;\nVARF nop, f64to72;\n"
      "d = pass - long;\nskip if (d*d > 1);\n"
      "nop += fadd*(d > 0 ? 1.5 : -1)*bm + word1;\nf64to72 min= word0*vlen*fadd;\n";
  Data data = numbers({"long", "word0", "vlen"}, {"pass", "fadd", "word1"});
  data["bm"] = {0.75};
  check(law, data, 6, 9, 2e-7);
  // The assembly that is shown is as good as the object.
  const CompileResult made = compiled(law);
  const AssembleResult again = assemble(made.assembly, "test.gds");
  INFO(again.diagnostics.render());
  REQUIRE(again.ok());
  CHECK(again.program->variables == made.program->variables);
  const AssembleResult taken_apart = assemble(disassemble(*made.program), "test.gds");
  REQUIRE(taken_apart.ok());
  CHECK(*taken_apart.program == *made.program);
}

TEST_CASE("minima and maxima accept constant keys with constant or variable indices") {
  Data data = numbers({"x"}, {"u"});
  data["j"] = {3, 5, 1, 9, 2, 6, 8, 4, 7};
  const auto one = [&data](std::size_t sources, const std::string& statement) {
    check("VARI x; VARJ u; VARJ int j; VARF r; VARF int n;\nskip if (u > 9);\n" + statement, data,
          2, sources, 3e-8);  // a key counts as a short
  };
  one(1, "r min= 0.5 : n = j;\n");
  one(1, "r max= 0.1 : n = j;\n");
  one(9, "r min= 0.5 : n = 7;\n");
  one(9, "r max= 2 : n = -1;\n");
}

TEST_CASE("tables can be read at constant indices") {
  Data data = numbers({"x"}, {"u"});
  for (int k = 0; k < 5; ++k) {
    data["t_" + std::to_string(k)] = {k + 0.25};
    data["s_" + std::to_string(k)] = {k - 0.5};
  }
  check("CONST table t[5], s[5]; VARI x; VARJ u; VARF f;\nf += x*u*t[2] + s[4]*s[0]*u;\n", data, 2,
        9, 2e-7);
}

TEST_CASE("a constant that several products need is given to a factor that they share") {
  // A root has a scale of its own, which a difference has not.
  const auto text = [](const std::string& a, const std::string& more) {
    return "precision long;\nVARI x, y; VARJ u, v, m; VARF f, g, h;\nd = u - x; e = v - y;\n"
           "q = rsqrt(d*d + e*e + 0.25);\na = " +
           a + ";\nf += m*q*(d - a*e); g += m*q*(e - a*d);\n" + more;
  };
  const auto constants = [&](const std::string& kernel) {
    const kc::MachineLoop loop = kc::lower(graph_of(kernel), 4);
    return std::ranges::count_if(loop.ops, [](const kc::MachineOp& op) {
      return op.slot() == 0 && std::ranges::count(op.in, kc::Ref::Kind::Immediate, &kc::Ref::kind);
    });
  };
  const std::string none = "h += m;\n";
  CHECK(constants(text("3*d*q*q", none)) == 1);
  CHECK(constants(text("q*q*(3*d)", none)) == 1);
  CHECK(constants(text("d*q*q", none)) == 1);
  CHECK(constants(text("3*d*q*q", "h += a;\n")) == 3);
  for (const char* a : {"3*d*q*q", "q*q*(3*d)", "d*q*q", "-3*d*q*q", "m*q*q", "0.7*m*(q*q)"})
    for (const std::string& more : {none, std::string("h += a;\n"), std::string("h += a*d;\n")})
      check(text(a, more), numbers({"x", "y"}, {"u", "v", "m"}), 3, 5, 1e-13);
}

TEST_CASE("a value can have any number of uses") {
  const auto text = [](int uses) {
    return "VARI x; VARJ u; VARF f;\nd = u - x;\nfor k = 1 .. " + std::to_string(uses) +
           " { f += d*(k + 0.3); }\n";
  };
  check(text(100), numbers({"x"}, {"u"}), 3, 5, 3e-6);

  // Every reader counts in the lifetime, also beyond the 64th.
  for (const int uses : {10, 63, 64, 65, 100, 300}) {
    const kc::MachineLoop loop = kc::lower(graph_of(text(uses)), 4);
    kc::Problem problem;
    problem.loop = &loop;
    problem.field_word.assign(loop.values.size(), 0);
    problem.field_half.assign(loop.values.size(), 0);
    const auto value = std::ranges::find_if(loop.values, [&](const kc::MachineValue& v) {
      return v.uses.size() == static_cast<std::size_t>(uses);
    });
    REQUIRE(value != loop.values.end());
    kc::PartialSchedule schedule(problem, 2000);
    schedule.place(static_cast<std::size_t>(value->defs.front()), 5);
    for (int k = 0; k < uses; ++k)
      schedule.place(static_cast<std::size_t>(value->uses[static_cast<std::size_t>(k)]), 10 + k);
    const auto id = static_cast<kc::ValueId>(value - loop.values.begin());
    CHECK(schedule.lifetime(id).from == 5);
    CHECK(schedule.lifetime(id).to == 9 + uses);
    CHECK(schedule.violations() == 0);
  }
}

TEST_CASE("a kernel with two hundred roots compiles") {
  std::string text = "VARI y; VARJ x; VARF f;\n", sum;
  for (int k = 0; k < 200; ++k) {
    const std::string t = "t" + std::to_string(k);
    text += t + " = sqrt(y*y*x*x + " + std::to_string(k) + ".5);\n";
    sum += (k == 0 ? "" : " + ") + t;
  }
  check(text + "f += " + sum + ";\n", numbers({"y"}, {"x"}), 2, 2, 1e-6);
}

TEST_CASE("a long loop of simple terms is pipelined") {
  std::string text = "VARI a[130]; VARJ u; VARF f;\nfor k = 0 .. 129 { f += a[k]*u; }\n";
  const CompileResult r = compiled(text, 1);
  CHECK(r.program->elements == 4);
  CHECK(r.program->clocks_per_interaction() < 200);  // unpipelined: 500
}

TEST_CASE("two hundred live temporaries are spilled") {
  const CompileResult r = compiled(many_live(200));
  CHECK(r.remarks.size() >= 1);
  check(many_live(200), numbers({"x", "y"}, {"u", "v"}), 2, 3, 2e-5);
}

TEST_CASE("values are rematerialized where four targets would not fit, and a remark reports it") {
  const CompileResult r = compiled(many_live(150));
  CHECK(r.program->elements == 4);
  REQUIRE(r.remarks.size() >= 1);
  const std::string& remark = r.remarks.back();
  CHECK(remark.find("values are rematerialized: the ") != std::string::npos);
  CHECK(remark.ends_with(" is full"));
  check(many_live(150), *r.program, numbers({"x", "y"}, {"u", "v"}), 2, 3, 2e-5);
}

TEST_CASE("a PE takes fewer targets where four do not fit, and a remark gives the reason") {
  std::string text = "VARI x; VARJ u; VARF f[9];\nd = u - x; w = d*d;\n";
  for (int k = 0; k < 9; ++k)
    text += "f[" + std::to_string(k) + "] += w*" + std::to_string(k + 1) + ".25;\n";
  const CompileResult r = compiled(text);
  CHECK(r.program->elements < 4);
  REQUIRE(r.remarks.size() >= 1);
  const std::string& remark = r.remarks.back();
  CHECK(remark.find(" targets per PE instead of 4: ") != std::string::npos);
  CHECK(
      remark.ends_with("the register file is full for 4 (the results need 72 shorts, 64 are "
                       "available)"));
  check(text, numbers({"x"}, {"u"}), 6, 9, 1e-6);
}

namespace {

/// The same results with one to four targets in a PE.
void check_elements(const std::string& text, const Data& data) {
  const kc::Graph graph = graph_of(text);
  for (unsigned elements = 1; elements <= 4; ++elements) {
    CompileOptions options;
    options.elements = elements;
    options.effort = 0;
    const CompileResult r = compile_kernel(text, "test.gdk", options);
    REQUIRE(r.ok());
    CHECK(r.program->elements == elements);
    const Data got = run(Kernel(*r.program), data, 6, 9, "vector");
    for (std::size_t t = 0; t < 6; ++t) {
      const Expected e = expected(graph, data, t, 9);
      for (std::size_t v = 0; v < graph.variables.size(); ++v)
        if (graph.variables[v].kind == VarKind::Result)
          CHECK(std::fabs(got.at(graph.variables[v].name)[t] - e.value[v]) <= 1e-6L * e.size[v]);
    }
  }
}

}  // namespace

TEST_CASE("results do not depend on the number of targets per PE") {
  check_elements(
      "VARI x, y; VARJ u, v, m; VARF f, g;\ndx = u - x; dy = v - y;\n"
      "r = rsqrt(dx*dx + dy*dy + 0.5);\nf += m*r*dx;\ng += m*r*dy;\n",
      numbers({"x", "y"}, {"u", "v", "m"}));
}

TEST_CASE("an else branch does not contribute in the prologue") {
  check_elements(
      "VARI x; VARJ u; VARF f, g;\nd = u - x; r2 = d*d;\n"
      "if (r2 < 1) { f += 2; } else { g += r2 + x; }\n",
      numbers({"x"}, {"u"}));
}

}  // namespace gdr::test
