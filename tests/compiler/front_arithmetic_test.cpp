// Operators, functions, powers and conditions: what they compute, and by which operations.
#include <cmath>
#include <limits>

#include "compiler/front_support.hpp"
#include "kernels/compiler/front/arithmetic.hpp"

namespace gdr::test {
namespace {

std::size_t count_of(const std::string& text, const std::string& what) {
  std::size_t count = 0;
  for (std::size_t at = text.find(what); at != std::string::npos; at = text.find(what, at + 1))
    ++count;
  return count;
}

/// How many operations of a kind x^n takes.
std::size_t operations(const std::string& expression, const std::string& fn) {
  return count_of(nodes_of("VARI short x; VARF f; f += " + expression + ";"), "= " + fn + " ");
}

}  // namespace

TEST_CASE("operators have the precedence and associativity of C, and are evaluated in text order") {
  const Abc at{.a = 7, .b = 3, .c = 2};
  CHECK(value_of("a - b - c", at) == 2);
  CHECK(value_of("a/b/c*6", at) == 7.0L / 3 / 2 * 6);
  CHECK(value_of("a - b*c + -c", at) == -1);
  CHECK(value_of("-c^2", at) == -4);
  CHECK(value_of("c^3^0*c", at) == 4);
  CHECK(value_of("2*c^-1", at) == 1);
  CHECK(value_of("- - -a", at) == -7);
  CHECK(value_of("+a", at) == 7);
  CHECK(value_of("(a - b)*(a + b)", at) == 40);
  CHECK(value_of("a > b && b > c || c > a ? 1 : 2", at) == 1);
  CHECK(nodes_of("VARI short x; VARF f; f += x*x*x;") ==
        "%0 short = input x\n%1 short = mul %0 %0\n%2 short = mul %0 %1\nf += %2\n");
  CHECK(nodes_of("VARI short x, y; VARF f; f += x*y - y*x;") ==
        "%0 short = input x\n%1 short = input y\n%2 short = mul %0 %1\n"
        "%3 short = sub %2 %2\nf += %3\n");
}

TEST_CASE("built-in functions compute the named functions") {
  const Abc at{.a = 4, .b = -2, .c = 0.25L};
  CHECK(value_of("sqrt(a)", at) == 2);
  CHECK(value_of("rsqrt(a)", at) == 0.5L);
  CHECK(value_of("recip(a)", at) == 0.25L);
  CHECK(value_of("powm32(a)", at) == 0.125L);
  CHECK(value_of("exp(b)", at) == std::exp(-2.0L));
  CHECK(value_of("abs(b) + min(a, b) + max(a, b)", at) == 4);
  CHECK(value_of("min(b, 1) - max(2, b)", at) == -4);
  CHECK(value_of("rsqrt(4) + sqrt(16) + exp(0) + recip(2) + powm32(4) + abs(-3)") ==
        0.5L + 4 + 1 + 0.5L + 0.125L + 3);
  CHECK(value_of("max(2, 3) - min(2.5, 1)") == 2);
}

TEST_CASE("powers are correct for all valid exponents") {
  for (int halves = -128; halves <= 128; ++halves) {
    const std::string text = "pow(a, " + std::to_string(halves) + "/2)";
    INFO(text);
    const long double x = 1.125L;
    const long double expected = std::pow(x, 0.5L * halves);
    CHECK(std::fabs(value_of(text, {.a = x}) / expected - 1) < 1e-16L);
  }
  CHECK(value_of("a^0", {.a = 3}) == 1);
  CHECK(value_of("2^10 + 2^-1 + 4^0.5") == 1026.5L);
  CHECK(value_of("n^2", {.n = 5}) == 25);
}

TEST_CASE("powers use the minimum number of multiplications") {
  // The lengths of shortest addition chains, from 1.
  const int lengths[] = {0, 1, 2, 2, 3, 3, 4, 3, 4, 4, 5, 4, 5, 5, 5, 4, 5, 5, 6, 5, 6, 6, 6, 5};
  for (int n = 1; n <= 24; ++n) {
    INFO(n);
    CHECK(operations("x^" + std::to_string(n), "mul") == static_cast<std::size_t>(lengths[n - 1]));
  }
  CHECK(kc::front::addition_chain(127).size() == 10);
  CHECK(operations("x^-6", "mul") == 3);
  CHECK(operations("x^-6", "recip") == 1);
  CHECK(operations("pow(x, -1.5)", "mul") == 2);
  CHECK(operations("pow(x, -1.5) - powm32(x)", "rsqrt") == 1);
  CHECK(operations("pow(x, -1.5) - powm32(x)", "mul") == 2);
  CHECK(operations("pow(x, 2.5)", "mul") == 2);
  CHECK(operations("pow(x, 0.5)", "sqrt") == 1);
  CHECK(operations("x^-1", "recip") == 1);
}

TEST_CASE("comparisons with NaN are false, except !=") {
  const long double nan = std::numeric_limits<long double>::quiet_NaN();
  for (const char* op : {"<", "<=", ">", ">=", "=="}) {
    INFO(op);
    CHECK(value_of(std::string("a ") + op + " b ? 1 : 0", {.a = nan, .b = 1}) == 0);
    CHECK(value_of(std::string("a ") + op + " b ? 1 : 0", {.a = 1, .b = nan}) == 0);
    CHECK(value_of(std::string("!(a ") + op + " b) ? 1 : 0", {.a = nan, .b = 1}) == 1);
  }
  CHECK(value_of("a != b ? 1 : 0", {.a = nan, .b = nan}) == 1);
}

TEST_CASE("comparisons of numbers and ints can be combined") {
  const char* const ops[] = {"<", "<=", ">", ">=", "==", "!="};
  for (int i = 0; i < 6; ++i) {
    for (int a = 0; a < 3; ++a) {
      const bool expected[] = {a<1, a <= 1, a> 1, a >= 1, a == 1, a != 1};
      INFO(a << ops[i] << 1);
      const std::string op = ops[i];
      const auto x = static_cast<long double>(a);
      CHECK(value_of("a " + op + " b ? 1 : 0", {.a = x, .b = 1}) == expected[i]);
      CHECK(value_of("n " + op + " m ? 1 : 0", {.n = x, .m = 1}) == expected[i]);
      CHECK(value_of("n " + op + " b ? 1 : 0", {.b = 1, .n = x}) == expected[i]);
      CHECK(value_of(std::to_string(a) + op + " 1 ? 1 : 0") == expected[i]);
      CHECK(value_of("a " + op + " 1 ? 1 : 0", {.a = x}) == expected[i]);
    }
  }
  const char* const logic = "(a > 0 && b > 0 || !(c > 0)) ? 1 : 0";
  for (int bits = 0; bits < 8; ++bits) {
    const bool a = bits & 1, b = bits & 2, c = bits & 4;
    CHECK(value_of(logic, {.a = a ? 1.0L : 0, .b = b ? 1.0L : 0, .c = c ? 1.0L : 0}) ==
          ((a && b) || !c));
  }
  CHECK(value_of("(a > 0 ? b > 0 : c > 0) ? 1 : 0", {.a = 1, .b = 1}) == 1);
  CHECK(value_of("(a > 0 ? b > 0 : c > 0) ? 1 : 0", {.b = 1}) == 0);
}

TEST_CASE("only constants are folded") {
  CHECK(nodes_of("VARI short x; VARF f; f += x*(2*3 + 1) + (1.5 - 0.5);") ==
        "%0 short = input x\n%1 short = constant 7\n%2 short = mul %0 %1\n"
        "%3 short = constant 1\n%4 short = add %2 %3\nf += %4\n");
  CHECK(nodes_of("VARI short x; VARF f; f += x*2*3;") ==
        "%0 short = input x\n%1 short = constant 2\n%2 short = mul %0 %1\n"
        "%3 short = constant 3\n%4 short = mul %2 %3\nf += %4\n");
  CHECK(value_of("9223372036854775807 + 1.0") == 0x1p63L);
  CHECK(value_of("4611686018427387904*4") == 0x1p64L);
}

}  // namespace gdr::test
