// Complex numbers in the front end: operations and functions against std::complex, derivatives,
// conversions of real numbers, and messages.
#include <cmath>
#include <complex>
#include <map>
#include <string>
#include <vector>

#include "compiler/front_support.hpp"
#include "kernels/compiler/adjoint.hpp"
#include "kernels/compiler/compiler.hpp"
#include "kernels/compiler/front/front.hpp"

namespace gdr::test {
namespace {

using Complex = std::complex<long double>;
constexpr Complex z{1.5L, -2.25L}, w{-0.75L, 0.5L};
constexpr long double x = 3;

const std::string complex_head =
    "VARI complex z; VARJ complex w; CONST x; VARI int n; VARF complex f; VARF s;\n";

/// The sums of f and s after these statements.
std::map<std::string, long double> sums_of(const std::string& statements) {
  const kc::Graph g = graph_of(complex_head + statements);
  const auto terms = terms_of(g, {{"z_0", {z.real()}},
                                  {"z_1", {z.imag()}},
                                  {"w_0", {w.real()}},
                                  {"w_1", {w.imag()}},
                                  {"x", {x}},
                                  {"n", {4}}});
  auto sums = kc::empty_results<long double>(g);
  kc::reduce_terms(g, terms, sums);
  std::map<std::string, long double> named;
  for (std::size_t k = 0; k < sums.size(); ++k) named[g.variables[k].name] = sums[k];
  return named;
}
Complex complex_result(const std::string& statements) {
  auto sums = sums_of(statements);
  return {sums["f_0"], sums["f_1"]};
}
Complex value_of_complex(const std::string& expression) {
  return complex_result("f += " + expression + ";");
}
long double real_value(const std::string& expression) {
  return sums_of("s += " + expression + ";")["s"];
}
bool near(const Complex& a, const Complex& b) { return std::abs(a - b) <= 4e-19L * std::abs(b); }

std::string message_of(const std::string& statements) {
  return kc::read_kernel(complex_head + statements, "test.gdk").diagnostics.render();
}

}  // namespace

TEST_CASE("operators on complex numbers are those of std::complex") {
  CHECK(value_of_complex("z + w") == z + w);
  CHECK(value_of_complex("z - w") == z - w);
  CHECK(value_of_complex("-z") == -z);
  CHECK(near(value_of_complex("z*w"), z * w));
  CHECK(near(value_of_complex("z/w"), z / w));
  CHECK(near(value_of_complex("x*z"), x * z));
  CHECK(near(value_of_complex("z/x"), z / x));
  CHECK(near(value_of_complex("x/z"), x / z));
  CHECK(value_of_complex("z + x") == z + x);
  CHECK(value_of_complex("x - z") == x - z);
  CHECK(value_of_complex("z*n + n") == z * 4.0L + 4.0L);
  CHECK(near(value_of_complex("z^3"), z * z * z));
  CHECK(near(value_of_complex("z^-2"), 1.0L / (z * z)));
  CHECK(value_of_complex("z^0") == Complex(1));
  CHECK(value_of_complex("(x > 2 ? z : 1)") == z);
  CHECK(value_of_complex("(x < 2 ? z : 1)") == Complex(1));
}

TEST_CASE("functions of complex numbers are those of std::complex") {
  CHECK(value_of_complex("conj(z)") == std::conj(z));
  CHECK(near(value_of_complex("exp(z)"), std::exp(z)));
  CHECK(near(real_value("abs(z)"), std::abs(z)));
  CHECK(near(real_value("norm2(z)"), std::norm(z)));
  CHECK(near(real_value("arg(z)"), std::arg(z)));
  CHECK(real_value("real(z) + 10*imag(z)") == z.real() + 10 * z.imag());
  CHECK(real_value("z.re + 10*z.im") == z.real() + 10 * z.imag());
  CHECK(value_of_complex("complex(x, 2)") == Complex(x, 2));
  CHECK(value_of_complex("complex(x)") == Complex(x));
  CHECK(value_of_complex("complex(n, n)") == Complex(4, 4));
  CHECK(near(value_of_complex("exp(complex(0, x))"), std::exp(Complex(0, x))));
}

TEST_CASE("real numbers become complex where a complex number is declared") {
  CHECK(complex_result("f += x;") == Complex(x));
  CHECK(complex_result("f -= n;") == Complex(-4));
  CHECK(complex_result("complex a = x; a += z; f += a;") == x + z);
  CHECK(complex_result("a = z; a.im = 1; a.re *= 2; f += a;") == Complex(2 * z.real(), 1));
  CHECK(complex_result("f.im += x; f.re -= 1;") == Complex(-1, x));
  CHECK(complex_result("CONST complex i = complex(0, 1); f += i*z;") == Complex(0, 1) * z);
  CHECK(complex_result("function half(complex a) { return 0.5*a; } f += half(x) + half(z);") ==
        0.5L * x + 0.5L * z);
  CHECK(complex_result("if (x > 5) { a += z; } f += a;") == Complex(0));
  CHECK(complex_result("f += long(z) + short(w);") == z + w);
}

TEST_CASE("constant parts of zero and one cost no operation") {
  const auto count = [](const std::string& statements) {
    return kc::count_flops(graph_of(complex_head + statements));
  };
  CHECK(count("f += complex(0, 1)*z;") == 2);             // the sums into the result
  CHECK(count("f += complex(0, x)*w;") == 4);             // two products
  CHECK(count("f += exp(complex(0, x*real(w)));") == 5);  // product, sine and cosine
}

TEST_CASE("the gradient by a complex number has the derivatives by its parts") {
  // |z|^2: 2 z. Re(z^2) = re^2 - im^2: 2 conj(z).
  CHECK(value_of_complex("grad(norm2(z), z)") == 2.0L * z);
  CHECK(near(value_of_complex("grad(real(z*z), z)"), 2.0L * std::conj(z)));
  CHECK(near(value_of_complex("grad(abs(z), z)"), z / std::abs(z)));
  CHECK(near(value_of_complex("grad(real(exp(z)*w), w)"), std::conj(std::exp(z))));
  CHECK(value_of_complex("grad(x, z)") == Complex(0));
  CHECK(real_value("grad(norm2(x*z), x)") == 2 * x * std::norm(z));
}

TEST_CASE("complex numbers are refused where real ones are required") {
  const auto says = [](const std::string& statements, const std::string& part) {
    const std::string message = message_of(statements);
    INFO(message);
    CHECK(message.find(part) != std::string::npos);
  };
  says("s += z;", "a number is required, but this is a complex");
  says("s += z;", "real(z), imag(z), abs(z)");
  says("s += sin(z);", "a number is required");
  says("s += grad(z, x);", "a number is required");
  says("s += z < w ? 1 : 0;", "a number is required");
  says("f += z^x;", "a number is required");
  says("f += vec3(1, 2, 3)*z;", "cannot be multiplied");
  says("s += z.x;", "it has re im");
  says("f min= z;", "applies to numbers, not to a complex");
  says("s += conj(x);", "use conj(complex)");
  says("VARI complex int k;", "are not ints");
}

TEST_CASE("adjoint kernels of complex results have complex weights and derivatives") {
  const auto made =
      kc::read_kernel("VARI complex z; VARJ complex w; VARF complex f; f += z*conj(w);", "law.gdk");
  REQUIRE(made.graph);
  const std::vector<std::string> names{"z"};
  const std::string text = kc::adjoint_text(*made.graph, names);
  INFO(text);
  CHECK(text.find("complex f_bar") != std::string::npos);
  CHECK(text.find("complex z_bar") != std::string::npos);
  const kc::Graph g = graph_of(text);
  const Complex weight{0.5L, 2};
  const auto terms = terms_of(g, {{"w_0", {w.real()}},
                                  {"w_1", {w.imag()}},
                                  {"f_bar_0", {weight.real()}},
                                  {"f_bar_1", {weight.imag()}}});
  // f = z conj(w): the derivative of Re(conj(g) f) by the parts of z is g w.
  REQUIRE(terms.size() == 2);
  CHECK(near({terms[0].value, terms[1].value}, weight * w));
}

TEST_CASE("assembly and object files say which variables are complex") {
  CompileOptions options;
  options.effort = 0;
  const CompileResult made =
      compile_kernel("VARI complex z; VARJ complex w[3]; VARF complex f; f += z*w[0]*w[1]*w[2];",
                     "c.gdk", options);
  REQUIRE(made.ok());
  REQUIRE(made.program->arrays.size() == 3);
  CHECK(made.program->arrays[1] == VariableArray{"w", 2, {3, 2}, true});
  CHECK(made.assembly.find(".array w 3 2 complex") != std::string::npos);
}

}  // namespace gdr::test
