// Original files in both surface forms, and how freely they may be laid out.
#include "compiler/front_support.hpp"
#include "kernels/compiler/compiler.hpp"

namespace gdr::test {
namespace {

const char* const modern = R"(
CONST eps2;
VARI xi, yi, zi;
VARJ xj, yj, zj, mj;
VARF ax, ay, az, pot;

dx = xj - xi;  // comment
dy = yj - yi;
dz = zj - zi;
rinv = rsqrt(dx*dx + dy*dy + dz*dz + eps2);
mrinv3 = mj*rinv*rinv*rinv;
ax += mrinv3*dx;
ay += mrinv3*dy;
az += mrinv3*dz;
pot -= mj*rinv;
)";

const char* const slashed = R"(/VARI xi, yi, zi
/VARJ xj, yj, zj, mj
/CONST e2;
/VARF ax, ay,
      az
unused = xi;
dx = xi - xj;
dy = yi - yj; dz = zi - zj;
r3inv = powm32(dx*dx+dy*dy
               +dz*dz+e2);
ax += mj*r3inv*dx;
ay += mj*r3inv*dy;
az += mj*r3inv*dz;
)";

}  // namespace

TEST_CASE("kernels of the original compiler are accepted") {
  CHECK(nodes_of(modern) ==
        "%0 long = input xj\n%1 long = input xi\n%2 short = sub %0 %1\n"
        "%3 long = input yj\n%4 long = input yi\n%5 short = sub %3 %4\n"
        "%6 long = input zj\n%7 long = input zi\n%8 short = sub %6 %7\n"
        "%9 short = mul %2 %2\n%10 short = mul %5 %5\n%11 short = add %9 %10\n"
        "%12 short = mul %8 %8\n%13 short = add %11 %12\n"
        "%14 long = input eps2\n%15 short = add %13 %14\n%16 short = rsqrt %15\n"
        "%17 long = input mj\n%18 short = mul %16 %17\n%19 short = mul %16 %18\n"
        "%20 short = mul %16 %19\n%21 short = mul %2 %20\n%22 short = mul %5 %20\n"
        "%23 short = mul %8 %20\n"
        "ax += %21\nay += %22\naz += %23\npot -= %18\n");
  CHECK(codes_of(modern).empty());
}

TEST_CASE("kernels in the older form are accepted") {
  const kc::Graph g = graph_of(slashed);
  CHECK(g.variables.size() == 11);
  CHECK(g.contributions.size() == 3);
  CHECK(codes_of(slashed) == std::vector<unsigned>{7102});
  const auto terms = terms_of(g, {{"xi", {3}}, {"xj", {1}}, {"mj", {5}}, {"e2", {12}}});
  CHECK(terms[0].value == 5.0L * 2 / 64);
  CHECK(terms[1].value == 0);
}

TEST_CASE("both forms of declarations are equivalent and can be mixed") {
  const std::string law = "f += (x - y)*z*e;\n";
  const std::string expected = nodes_of("VARI x; VARJ y, z; CONST e; VARF f;\n" + law);
  CHECK(nodes_of("/VARI x\n/VARJ y,z\n/CONST e\n/VARF f\n" + law) == expected);
  CHECK(nodes_of("VARJ y;\n/CONST e\nVARI\n x\n ;/VARF f;\nVARJ z;" + law) == expected);
  CHECK(nodes_of("/ VARI x;/VARJ y,\n\n // more\n z\n/VARF f /* last */\nCONST e;" + law) ==
        expected);
  CHECK(nodes_of("/VARI x\r\n/VARJ y, z\r\n/CONST e\r\n/VARF f\r\n" + law) == expected);
  CHECK(nodes_of("\xef\xbb\xbfVARI x; VARJ y, z; CONST e; VARF f; f\n+=\n(x\n-y)*\nz*e\n;") ==
        expected);
}

TEST_CASE("keywords of the extensions can be used as names") {
  const std::string text =
      "VARI long, short, table, kernel;\nVARJ if, for, skip, return;\nVARF flops;\n"
      "min = long - if; max = short - for; exp = table*skip; int = kernel + return;\n"
      "include = min*max; include += exp; step = int; step -= include; precision = step;\n"
      "flops += precision; bool = 2; flops += bool*min;\n";
  CHECK(codes_of(text).empty());
  CHECK(graph_of(text).contributions.size() == 2);
}

TEST_CASE("types are declared before the name only") {
  const kc::Graph g = graph_of(
      "VARI long x, y; VARI int id; VARJ short m; CONST short table s[4]; CONST table int k[2];\n"
      "VARF long f; VARF g; f += (x + y + m + s[id] + k[0])*2; g += x;\n");
  CHECK(kc::to_text(g).substr(0, 107) ==
        "kernel test\ni x long\ni y long\ni id int\nj m short\np s[4] short\np k[2] int\nf f long\n"
        "f g long?\n%0 long = input");
}

TEST_CASE("a kernel is named by its text or its file") {
  const auto name_of = [](const char* text, const char* file) {
    return kc::read_kernel(text, file).graph.value().name;
  };
  CHECK(name_of("VARI x; VARF f; f += x;", "dir/gravity.gdk") == "gravity");
  CHECK(name_of("VARI x; VARF f; f += x;", "my law.2.gdk") == "my_law_2");
  CHECK(name_of("VARI x; VARF f; f += x;", "2body.gdk") == "_2body");
  CHECK(name_of("VARI x; VARF f; f += x;", "") == "_");
  CHECK(name_of("kernel jerk; flops 60; VARI x; VARF f; f += x;", "a.gdk") == "jerk");
  CHECK(graph_of("flops 2*30; VARI x; VARF f; f += x;").flops == 60);
  // Without the line: d, d*d, the sum, the root, the product and f; what depends on `k` alone, the
  // sign and the comparison count nothing.
  CompileOptions quick;
  quick.effort = 0;
  const CompileResult counted = compile_kernel(
      "CONST k; VARI x; VARJ y; VARF f; d = y - x; f += d < 9 ? -d*rsqrt(d*d + k*k) : 0;", "a.gdk",
      quick);
  REQUIRE(counted.ok());
  CHECK(counted.program->flops == 6);
}

TEST_CASE("all numeric literals of C are accepted") {
  CHECK(value_of("42") == 42);
  CHECK(value_of("1.") == 1);
  CHECK(value_of(".5") == 0.5L);
  CHECK(value_of("1.f") == 1);
  CHECK(value_of("1e3") == 1000);
  CHECK(value_of("1.5E-2F") == static_cast<long double>(0.015));
  CHECK(value_of("2.5e+1L") == 25);
  CHECK(value_of("0x1F") == 31);
  CHECK(value_of("0X1.8p-2") == 0.375L);
  CHECK(value_of("0x.8p1f") == 1);
  CHECK(value_of("0x10p0") == 16);
  CHECK(value_of("017") == 15);
  CHECK(value_of("0b101u") == 5);
  CHECK(value_of("10ul") == 10);
  CHECK(value_of("7LL") == 7);
  CHECK(value_of("09.5") == 9.5L);
  CHECK(value_of("0.1") == static_cast<long double>(0.1));
  CHECK(value_of("1e-400") == 0);
  CHECK(value_of("123456789012345678901234567890") ==
        static_cast<long double>(123456789012345678901234567890.0));
  for (const char* bad :
       {"1e400", "1e", "0x", "0x1.8", "1x", "08", "0b2", "0x1p", "1.2.3", "1e+"}) {
    INFO(bad);
    CHECK(codes_of("VARF f; f += " + std::string(bad) + ";").front() / 1000 == 6);
  }
}

}  // namespace gdr::test
