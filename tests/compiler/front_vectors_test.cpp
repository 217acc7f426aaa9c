// Vectors and symmetric tensors: operations, functions, components, and the interface that the host
// sees.
#include <algorithm>
#include <array>
#include <cmath>

#include "compiler/front_support.hpp"
#include "emulator/assembler/assembler.hpp"
#include "emulator/assembler/object.hpp"
#include "kernels/compiler/compiler.hpp"

namespace gdr::test {
namespace {

using Vector = std::array<long double, 3>;
constexpr Vector a{2, -3, 5}, b{7, 11, -13};
constexpr std::array<long double, 6> q{1, 2, 3, 4, 5, 6};

/// The values of `results`, all sums, of statements with the vectors a (target) and b (source), the
/// tensor q and the number s = 4.
std::vector<long double> results_of(const std::string& results, const std::string& statements) {
  const kc::Graph g = graph_of("VARI vec3 a; VARJ vec3 b; VARI sym3 q; CONST s; VARF " + results +
                               ";\n" + statements + "\n");
  std::vector<Given> given{{"s", {4}}};
  const std::string_view names[] = {"a_0", "a_1", "a_2", "b_0", "b_1", "b_2",
                                    "q_0", "q_1", "q_2", "q_3", "q_4", "q_5"};
  for (std::size_t k = 0; k < 3; ++k) given.push_back({names[k], {a[k]}});
  for (std::size_t k = 0; k < 3; ++k) given.push_back({names[3 + k], {b[k]}});
  for (std::size_t k = 0; k < 6; ++k) given.push_back({names[6 + k], {q[k]}});
  auto sums = kc::empty_results<long double>(g);
  kc::reduce_terms(g, terms_of(g, given), sums);
  std::vector<long double> values;
  for (std::size_t k = 0; k < sums.size(); ++k)
    if (g.variables[k].kind == VarKind::Result) values.push_back(sums[k]);
  return values;
}

using Values = std::vector<long double>;
Values vector_of(const std::string& expression) {
  return results_of("vec3 f", "f += " + expression + ";");
}
Values tensor_of(const std::string& expression) {
  return results_of("sym3 f", "f += " + expression + ";");
}
long double number_of(const std::string& expression) {
  return results_of("f", "f += " + expression + ";").front();
}

}  // namespace

TEST_CASE("operators on vectors act on the components") {
  CHECK(vector_of("a + b") == Values{9, 8, -8});
  CHECK(vector_of("a - b") == Values{-5, -14, 18});
  CHECK(vector_of("-a") == Values{-2, 3, -5});
  CHECK(vector_of("+a*b") == Values{14, -33, -65});
  CHECK(vector_of("s*a") == Values{8, -12, 20});
  CHECK(vector_of("a*s") == Values{8, -12, 20});
  CHECK(vector_of("a/s") == Values{0.5, -0.75, 1.25});
  CHECK(vector_of("a.x > 0 ? a : b") == Values{2, -3, 5});
  CHECK(vector_of("vec3(a.z, s, 1)") == Values{5, 4, 1});
  CHECK(vector_of("cross(a, b)") == Values{39 - 55, 35 + 26, 22 + 21});
}

TEST_CASE("products of vectors give numbers") {
  CHECK(number_of("dot(a, b)") == 14 - 33 - 65);
  CHECK(number_of("norm2(a)") == 38);
  CHECK(number_of("norm(a)") == std::sqrt(38.0L));
  CHECK(number_of("a.x + a.y*b[2] - cross(a, b).z") == 2 + 39 - 43);
  CHECK(number_of("(a - b).y") == -14);
}

TEST_CASE("tensors are symmetric, with six components") {
  CHECK(tensor_of("q + s*q - q/2") == Values{4.5, 9, 13.5, 18, 22.5, 27});
  CHECK(tensor_of("outer(a)") == Values{4, -6, 10, 9, -15, 25});
  CHECK(tensor_of("outer(a, a)") == tensor_of("outer(a)"));
  CHECK(tensor_of("outer(a, b)") == Values{14, 0.5, 4.5, -33, 47, -65});
  CHECK(tensor_of("outer(a, b)") == tensor_of("outer(b, a)"));
  CHECK(tensor_of("3*outer(a) - norm2(a)*identity") == Values{-26, -18, 30, -11, -45, 37});
  CHECK(vector_of("q*a") == Values{2 - 6 + 15, 4 - 12 + 25, 6 - 15 + 30});
  CHECK(vector_of("a*q") == vector_of("q*a"));
  CHECK(vector_of("dot(q, a) + dot(a, q)") == vector_of("2*(q*a)"));
  CHECK(vector_of("identity*a") == Values{2, -3, 5});
  CHECK(number_of("trace(q) + q.xy + q.zx") == 11 + 2 + 3);
  CHECK(number_of("dot(q, q)") == 1 + 16 + 36 + 2 * (4 + 9 + 25));
  CHECK(number_of("dot(a, q*a)") == number_of("dot(q, outer(a))"));
  CHECK(number_of("dot(sym3(1, 0, 0, 1, 0, 1), q)") == 11);
}

TEST_CASE("vectors are assigned, accumulated and changed by component") {
  CHECK(results_of("vec3 f", "d = a; d += b; d -= 2*a; f += d; f -= a;") == Values{3, 17, -23});
  CHECK(results_of("vec3 f", "sum += a; sum += b; f += sum;") == Values{9, 8, -8});
  CHECK(results_of("vec3 f", "long vec3 d = a; d.x = 1; d[1] += 10; f += d;") == Values{1, 7, 5});
  CHECK(results_of("vec3 f", "f.x += s; for k = 0 .. 2 { f[k] += a[k]; }") == Values{6, -3, 5});
  CHECK(results_of("vec3 f", "if (s > 3) { d = a; t += b; } else { d = b; } f += d + t;") ==
        Values{9, 8, -8});
  CHECK(results_of("vec3 f", "for k = 0 .. 1 { t[k] = k*a; } f += t[1] + vec3(t[1][0], 0, 0);") ==
        Values{4, -3, 5});
  CHECK(results_of("vec3 f[2]", "f[1] += a; f[0].y += s; f[1][2] -= 1;") ==
        Values{0, 4, 0, 2, -3, 4});
  CHECK(results_of("f, least", "f += a.x; least min= a.y;") == Values{2, -3});
}

TEST_CASE("functions take and return vectors") {
  CHECK(results_of("vec3 f", "function twice(v) { return 2*v; } f += twice(a);") ==
        Values{4, -6, 10});
  CHECK(results_of("vec3 f",
                   "function along(vec3 v, long w) { u = w*v; return u/norm(v); }\n"
                   "f += along(vec3(3, 0, 4), 10);") == Values{6, 0, 8});
  CHECK(results_of("f", "function dot(x, y) { return x*y + 1; } f += dot(2, 3);").front() == 7);
}

TEST_CASE("the minimum image of a difference is the nearest of all images") {
  // Orthorhombic: |component| <= edge/2, and the difference is a multiple of the edge.
  CHECK(vector_of("minimum_image(vec3(7, -11, 2), vec3(5, 4, 8))") == Values{2, 1, 2});
  CHECK(vector_of("minimum_image(vec3(7, -11, 2), 5, 4, 8)") == Values{2, 1, 2});
  CHECK(vector_of("minimum_image(vec3(7, -11, 2), 5)") == Values{2, -1, 2});
  CHECK(vector_of("minimum_image(a, s)") == Values{a[0] - 4 * std::rint(0.5L), 1, 1});
  CHECK(number_of("minimum_image(11, s)") == -1);
  // Triclinic: compared with a search over the images. The edges are reduced, and the distances
  // below half of the smallest height (5.5 for these).
  const long double cell[3][3] = {{12, 0, 0}, {3, 11, 0}, {-4, 2, 13}};
  const Vector points[] = {{1, 2, 3}, {-2.5, 4, 0.5}, {4, -2, -2}, {0, 5, 0}, {-3, -3, 3}};
  for (const Vector& near : points) {
    for (int n = 0; n < 27; ++n) {
      const int shift[] = {n % 3 - 1, n / 3 % 3 - 1, n / 9 - 1};
      std::string far = "minimum_image(vec3(";
      for (std::size_t k = 0; k < 3; ++k) {
        long double x = near[k];
        for (std::size_t i = 0; i < 3; ++i) x += shift[i] * cell[i][k];
        far += std::to_string(static_cast<double>(x)) + (k < 2 ? ", " : "), ");
      }
      const Values image = vector_of(far + "12, 3, 11, -4, 2, 13)");
      CHECK(std::ranges::equal(image, near));
    }
  }
  const std::vector<unsigned> shapes = codes_of("VARI vec3 x; VARF f; f += minimum_image(x);");
  CHECK(shapes == std::vector<unsigned>{7032});
}

TEST_CASE("constant vectors are declared with a value") {
  CHECK(results_of("vec3 f", "CONST vec3 up = vec3(0, 0, 2); f += up*s + a;") == Values{2, -3, 13});
  CHECK(results_of("f", "CONST vec3 e; CONST k = 3; f += dot(a, e) + k;").front() == 3);
}

TEST_CASE("constant zeros and ones of vectors cost no operation") {
  const std::string head = "VARI vec3 a; VARF f; VARF vec3 g;\n";
  CHECK(kc::count_flops(graph_of(head + "f += dot(a, vec3(0, 0, 1));")) == 1);
  CHECK(kc::count_flops(graph_of(head + "g += cross(a, vec3(0, 0, 1));")) == 3);
  CHECK(kc::count_flops(graph_of(head + "g += identity*a;")) == 3);
}

TEST_CASE("a law with vectors has the operations of the law with numbers") {
  const kc::Graph vectors = graph_of(
      "VARI vec3 x; VARJ vec3 xs; VARJ m; CONST eps2; VARF vec3 acc; VARF pot;\n"
      "d = xs - x; r = rsqrt(norm2(d) + eps2); w = m*r; acc += w*r*r*d; pot -= w;");
  const kc::Graph numbers = graph_of(
      "VARI x_0, x_1, x_2; VARJ xs_0, xs_1, xs_2; VARJ m; CONST eps2;\n"
      "VARF acc_0, acc_1, acc_2; VARF pot;\n"
      "dx = xs_0 - x_0; dy = xs_1 - x_1; dz = xs_2 - x_2;\n"
      "r = rsqrt(dx*dx + dy*dy + dz*dz + eps2); w = m*r; w3 = w*r*r;\n"
      "acc_0 += w3*dx; acc_1 += w3*dy; acc_2 += w3*dz; pot -= w;");
  CHECK(vectors.nodes.size() == numbers.nodes.size());
  CHECK(kc::count_flops(vectors) == kc::count_flops(numbers));
  REQUIRE(vectors.contributions.size() == numbers.contributions.size());
  for (std::size_t k = 0; k < vectors.variables.size(); ++k)
    CHECK(vectors.variables[k].name == numbers.variables[k].name);
  CHECK(numbers.arrays.empty());
}

TEST_CASE("precision words apply to the components of vectors") {
  const auto is_long = [](const kc::Graph& g, kc::Fn fn) {
    return std::ranges::all_of(
        g.nodes, [&](const kc::Node& n) { return n.fn != fn || n.type == kc::Type::Long; });
  };
  const std::string head = "VARI vec3 x; VARJ long vec3 xs; VARF vec3 f;\n";
  CHECK_FALSE(is_long(graph_of(head + "f += xs - x;"), kc::Fn::Sub));
  CHECK(is_long(graph_of(head + "long vec3 d = xs - x; f += d;"), kc::Fn::Sub));
  CHECK(is_long(graph_of("precision long;\n" + head + "f += norm2(xs)*(xs - x);"), kc::Fn::Mul));
  CHECK(is_long(graph_of(head + "d = long(xs - x); f += norm2(d)*d;"), kc::Fn::Mul));
  const kc::Graph g = graph_of(head + "f += xs - x;");
  CHECK(g.variables[0].type_given == false);
  CHECK(g.variables[3].type_given == true);
}

TEST_CASE("vectors of two components have the operations of those with three") {
  const std::string head = "VARI vec2 x; VARJ vec2 y; CONST box; VARF vec2 f; VARF s;\n";
  const auto at = [&](const std::string& body) {
    const auto terms =
        terms_of(graph_of(head + body),
                 {{"x_0", {3}}, {"x_1", {-1}}, {"y_0", {0.5}}, {"y_1", {2}}, {"box", {4}}});
    std::vector<long double> values;
    for (const auto& term : terms) values.push_back(term.value);
    return values;
  };
  CHECK(at("f += x - 2*y;") == Values{2, -5});
  CHECK(at("f += x*y/vec2(2, 4);") == Values{0.75, -0.5});
  CHECK(at("f -= -x;") == Values{3, -1});
  CHECK(at("s += dot(x, y);") == Values{-0.5});
  CHECK(at("s += cross(x, y);") == Values{6.5});
  CHECK(at("s += norm2(x) + norm(vec2(3, 4));") == Values{15});
  CHECK(at("d = x; d.y += 2; s += d[0] + 10*d[1];") == Values{13});
  CHECK(at("vec2 d; d = y; s += d.x;") == Values{0.5});
  CHECK(at("f += x.x > 0 ? x : y;") == Values{3, -1});
  CHECK(at("f += minimum_image(x - y, box);") == Values{-1.5, 1});
  CHECK(at("f += minimum_image(x - y, vec2(4, 8));") == Values{-1.5, -3});
  CHECK(at("f += minimum_image(x - y, 4, 8);") == Values{-1.5, -3});
  CHECK(at("f += grad(norm2(x - y), x);") == Values{5, -6});
  CHECK(at("CONST v = vec2(1, 2); f += v*x;") == Values{3, -2});
}

TEST_CASE("vectors of two and of three components are not mixed") {
  const std::string head = "VARI vec2 x; VARJ vec3 y; VARJ sym3 q; VARF vec2 f; VARF s;\n";
  const auto message = [&](const std::string& body) {
    return kc::read_kernel(head + body, "test.gdk").diagnostics.render();
  };
  CHECK(message("f += x + y;").find("a vec2 and a vec3 cannot be added") != std::string::npos);
  CHECK(message("f += x*y;").find("both must have as many components") != std::string::npos);
  CHECK(message("f += y;").find("a vec2 is required, but this is a vec3") != std::string::npos);
  CHECK(message("f += x + 1;").find("`vec2(s, s)`") != std::string::npos);
  CHECK(message("s += x.z;").find("it has x y") != std::string::npos);
  CHECK(message("s += x[2];").find("out of range") != std::string::npos);
  CHECK(message("f.z += 1;").find("no component `z`") != std::string::npos);
  CHECK(message("d = x; d.z = 1; f += d;").find("no component `z`") != std::string::npos);
  CHECK(message("s += trace(outer(x));").find("outer(vec2) is not a function") !=
        std::string::npos);
  CHECK(message("s += dot(x, q*x);").find("cannot be multiplied") != std::string::npos);
}

TEST_CASE("the words vec3, sym3 and identity remain names") {
  CHECK(results_of("f", "vec3 = 2*s; sym3 = vec3; identity = sym3; f += identity;").front() == 8);
}

TEST_CASE("mixed shapes are errors that say what fits") {
  const std::string head = "VARI vec3 x; VARJ vec3 y; VARI sym3 q; VARF f; VARF vec3 v;\n";
  const auto has = [&](const std::string& statement, unsigned code) {
    const std::vector<unsigned> codes = codes_of(head + statement);
    INFO(statement);
    CHECK(std::ranges::count(codes, code) == 1);
  };
  for (const char* statement :
       {"v += 1;", "f += x;", "v += x + 1;", "v += 1 - x;", "v += 1/x;", "v += q;", "v += sqrt(x);",
        "f += x^2;", "f += dot(x, 1);", "f += norm(1, 2);", "if (x > y) { f += 1; }",
        "v += f > 0 ? x : 1;", "v min= x;", "vec3 d = 1;", "long d = x;", "f += dot(q*q, q);",
        "function g(vec3 a) { return a.x; } f += g(1);", "v.x += x;", "f += vec3(1, 2);"})
    has(std::string(statement) == "v += f > 0 ? x : 1;" ? "v += x.x > 0 ? x : 1;" : statement,
        7032);
  for (const char* statement : {"f += x.w;", "f += x.xx;", "v.w += 1;", "t = 1; f += t.x;"})
    has(statement, 7033);
  has("f += x[3];", 7020);
  has("v += x[0][1];", 7021);
  has("d.x = 1;", 7003);
  CHECK(codes_of("VARI int vec3 n; VARF f; f += 1;") == std::vector<unsigned>{7023});
  CHECK(codes_of("CONST table vec3 n[3]; VARF f; f += 1;").front() == 7023);
  CHECK(codes_of("VARI x.y; VARF f; f += 1;").front() == 6007);
}

TEST_CASE("a constant cut-off that periodic images of a constant box cannot serve is an error") {
  const std::string head =
      "CONST b, rc; VARI vec3 x; VARJ vec3 y; VARF n; d = minimum_image(x - y, 2.522, 5.044, "
      "2.522);"
      " c = minimum_image(x.x - y.x, 5);\n";
  for (const char* statement :
       {"skip if (norm2(d) > 9); n += 1;", "if (norm(d) < 3) { n += 1; }",
        "if (d.x*d.x + d.y*d.y + d.z*d.z <= 1.6) { n += 1; }", "if (1.6 >= dot(d, d)) { n += 1; }",
        "n += abs(c) < 2.6 ? 1 : 0;", "if (c*c < 6.26) { n += 1; }", "if (c > 3) { n += 1; }",
        "long r2 = norm2(d); if (r2 < 1.6) { n += 1; }", "if (d.y*d.y + d.x*d.x < 1.6) { n += 1; }",
        "if (norm2(minimum_image(x - y, 4, 1, 4, 1, 1, 4)) < 4.1) { n += 1; }"}) {
    INFO(statement);
    CHECK(codes_of(head + statement + " n += c*d.x;") == std::vector<unsigned>{7034});
  }
  for (const char* statement :
       {"skip if (norm2(d) > 1.59); n += 1;", "if (norm2(d) == 9) { n += 1; }",
        "if (norm2(d) < rc) { n += 1; }", "if (norm2(x - y) < 9) { n += 1; }",
        "if (norm2(minimum_image(x - y, b)) < 9) { n += 1; }", "if (c*c < 6.25) { n += 1; }",
        "if (d.y*d.y < 6.3) { n += 1; }", "if (d.x*y.x < 9) { n += 1; }"}) {
    INFO(statement);
    CHECK(codes_of(head + statement + " n += rc*b*c*d.x;").empty());
  }
}

TEST_CASE("the shapes of variables are kept in assembly and object files") {
  CompileOptions options;
  options.effort = 0;
  const CompileResult result = compile_kernel(
      "VARI vec3 x; VARI m[2]; VARJ vec3 xs[2]; CONST table t[2][2]; VARF sym3 f; VARJ int id;\n"
      "VARF list near[4]; CONST vec3 b;\n"
      "d = xs[0] - x + m[1]*b; f += outer(d)*t[id][0]; if (id > 3) { near append= id; }",
      "shapes.gdk", options);
  INFO(result.diagnostics.render());
  REQUIRE(result.ok());
  const auto check = [](const Program& p) {
    REQUIRE(p.arrays.size() == 7);
    CHECK(p.arrays[0] == VariableArray{"x", 0, {3}});
    CHECK(p.arrays[2].name == "xs");
    CHECK(p.arrays[2].sizes == std::vector<std::uint32_t>{2, 3});
    CHECK(p.variables[p.arrays[2].first].name == "xs_0_0");
    CHECK(p.arrays[3].sizes == std::vector<std::uint32_t>{4});
    CHECK(p.arrays[4].count() == 6);
    CHECK(p.variables[p.arrays[5].first].name == "near_0");
  };
  check(*result.program);
  check(read_object(write_object(*result.program)));
  const AssembleResult again = assemble(disassemble(*result.program), "shapes.gds");
  REQUIRE(again.ok());
  check(*again.program);
}

}  // namespace gdr::test
