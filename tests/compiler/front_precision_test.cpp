// The rule of precision: which operations give a long, and where a value is rounded.
#include "compiler/front_support.hpp"

namespace gdr::test {
namespace {

/// The types of the graph's operations that round, in order: s and l.
std::string types_of(const std::string& statements) {
  const kc::Graph g = graph_of("VARI a, b; VARJ short c; VARF f; VARI int n;\n" + statements);
  std::string out;
  for (const kc::Node& node : g.nodes) {
    if (node.fn == kc::Fn::Input || node.type == kc::Type::Bool || node.type == kc::Type::Int)
      continue;
    if (node.fn != kc::Fn::Constant) out += node.type == kc::Type::Long ? 'l' : 's';
  }
  return out;
}

}  // namespace

TEST_CASE("the difference of long inputs is a short") {
  CHECK(types_of("f += (a - b)*(a - b);") == "ss");
  CHECK(types_of("t = a - b; f += t*t;") == "ss");
  CHECK(types_of("t = a; f += t*b;") == "s");
}

TEST_CASE("the expression of a long temporary is evaluated in long precision") {
  CHECK(types_of("long t = (a - b)*c; f += t;") == "ll");
  CHECK(types_of("long t; t = rsqrt(a - b); f += c*c;") == "s");
  CHECK(types_of("long t; t = rsqrt(a - b); t += c*c; f += t;") == "llll");
}

TEST_CASE("operations on long temporaries are long, others short") {
  CHECK(types_of("long t = a - b; u = t*c; v = c*c; f += u + v;") == "llsl");
  CHECK(types_of("long t = a; f += t - b;") == "l");
  CHECK(types_of("long t = 0.1; f += t*c;") == "l");
}

TEST_CASE("long() and short() set the precision of one expression") {
  CHECK(types_of("f += long(a - b)*c;") == "ll");
  CHECK(types_of("f += long(a)*c;") == "l");
  CHECK(types_of("long t = a - b; f += short(t)*c;") == "lss");  // the conversion rounds
  CHECK(types_of("f += short(a)*c;") == "ss");                   // so does this one
  // What is a short anyway costs no operation, but stays rounded in the variant in longs.
  CHECK(types_of("long t = short(a*b)*c; f += t;") == "ssl");
  CHECK(types_of("f += short(c)*c;") == "ss");
  CHECK(types_of("short t = long(a - b); f += t*c;") == "lss");
}

TEST_CASE("`precision long` sets the default precision") {
  CHECK(types_of("precision long; t = a - b; f += t*c;") == "ll");
  CHECK(types_of("precision long; f += c*c; if (a - b > 0) { f += c; }") == "ll");
  CHECK(types_of("precision long; short t = c*c; f += t*c;") == "sl");
  CHECK(types_of("precision short; t = a - b; f += t*c;") == "ss");
}

TEST_CASE("selections and sign changes do not round") {
  CHECK(nodes_of("VARI a; VARF f; f += -a;") == "%0 long = input a\n%1 long = neg %0\nf += %1\n");
  CHECK(nodes_of("VARI a, b; VARF f; f += max(a, b);") ==
        "%0 long = input a\n%1 long = input b\n%2 long = max %0 %1\nf += %2\n");
  CHECK(types_of("f += c > 0 ? a : c;") == "l");
  CHECK(types_of("f += c > 0 ? c : 0.1;") == "s");
  CHECK(types_of("f += abs(c) + min(c, 2);") == "sss");
}

TEST_CASE("functions have the precision of their arguments and context") {
  const std::string twice = "function g(x) { y = x*x; return y + y; }\n";
  CHECK(types_of(twice + "f += g(c);") == "ss");
  CHECK(types_of(twice + "f += g(long(a));") == "ll");
  CHECK(types_of(twice + "long t = g(a); f += t;") == "ll");
  CHECK(types_of("function h(long x) { return x*x; } f += h(c);") == "l");
  CHECK(types_of("function h(short x) { return x*x; } f += h(a);") == "ss");
}

TEST_CASE("a constant that no short represents has the precision of its context") {
  CHECK(nodes_of("VARI short a; VARF f; long t = a*0.1; f += t + a*0.5;") ==
        "%0 short = input a\n%1 long = constant 0.1\n%2 long = mul %0 %1\n"
        "%3 short = constant 0.5\n%4 short = mul %0 %3\n%5 long = add %2 %4\nf += %5\n");
}

TEST_CASE("ints are converted to numbers in mixed expressions only") {
  CHECK(nodes_of("VARI int n; VARF int k; k += n + 1;") ==
        "%0 int = input n\n%1 int = constant 1\n%2 int = add %0 %1\nk += %2\n");
  CHECK(nodes_of("VARI int n; VARJ short x; VARF f; f += n*x;") ==
        "%0 int = input n\n%1 short = input x\n%2 short = convert %0\n%3 short = mul %1 %2\n"
        "f += %3\n");
  CHECK(nodes_of("VARI int n; VARF f; f += n;") ==
        "%0 int = input n\n%1 long = convert %0\nf += %1\n");
  CHECK(value_of("5*n", {.n = 7}) == 35);
  CHECK(value_of("-13*n", {.n = 7}) == -91);
  CHECK(value_of("n*0 + 1", {.n = 7}) == 1);
  CHECK(value_of("abs(n - m) - min(n, m) + max(n, 3)", {.n = 2, .m = 6}) == 5);
  CHECK(value_of("7/2") == 3.5L);
  CHECK(value_of("8/2*n", {.n = 3}) == 12);
}

TEST_CASE("a selection between integer constants is a number unless the context requires an int") {
  CHECK(nodes_of("VARI short a; VARF f; f += a > 0 ? 1 : 0;").find("int") == std::string::npos);
  CHECK(nodes_of("VARI short a; VARF int f; f += a > 0 ? 1 : 0;").find("int = select") !=
        std::string::npos);
  CHECK(nodes_of("VARI short a; VARF int f; int n = 0; if (a > 0) { n = 1; } f += n;")
            .find("int = select") != std::string::npos);
}

}  // namespace gdr::test
