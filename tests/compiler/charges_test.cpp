// Which variables of a source are charges: factors of every term of all results.
#include "kernels/compiler/charges.hpp"

#include <fmt/core.h>

#include <fstream>
#include <iterator>

#include "compiler/front_support.hpp"

namespace gdr::test {
namespace {

const std::vector<std::string> coordinates{"xj", "yj", "zj"};

/// The charges as a text: "q m | v of m | idi = idj", or the obstacle.
std::string charges_of_graph(const kc::Graph& graph) {
  const KernelCharges found = kc::find_charges(graph, coordinates);
  if (!found.obstacle.empty()) return found.obstacle;
  std::string out;
  for (const std::string& name : found.charges) out += (out.empty() ? "" : " ") + name;
  for (const CarriedVariable& v : found.carried)
    out += fmt::format(" | {} of {}", v.name, v.charge);
  for (const ComparedNumbers& n : found.numbers)
    out += fmt::format(" | {} = {}", n.target, n.source);
  return out;
}

std::string charges_of(const std::string& text) { return charges_of_graph(graph_of(text)); }

/// A kernel with a difference d of positions and its square r2.
std::string charged_law(const std::string& declarations, const std::string& statements) {
  return "VARI xi, yi, zi as pos; VARJ xj, yj, zj as pos;" + declarations +
         "dx = xj - xi; dy = yj - yi; dz = zj - zi; r2 = dx*dx + dy*dy + dz*dz;" + statements;
}

std::string charges_of_file(const std::string& name) {
  const std::string path = std::string(GDR_SOURCE_DIR "/kernels/particle/") + name + ".gdk";
  std::ifstream file(path);
  const std::string text(std::istreambuf_iterator<char>(file), {});
  REQUIRE_FALSE(text.empty());
  return charges_of(text);
}

}  // namespace

TEST_CASE("the charges of the library's kernels are found, or what is in their way") {
  CHECK(charges_of_file("gravity_potential") == "mj | idi = idj");
  CHECK(charges_of_file("coulomb") == "qj | idi = idj");
  CHECK(charges_of_file("gauss_sum") == "qj");
  CHECK(charges_of_file("gravity_jerk") == "mj | vxj of mj | vyj of mj | vzj of mj | idi = idj");
  CHECK(charges_of_file("lennard_jones") ==
        "a term of result \"fx\" has no variable of the source as a factor, besides positions: "
        "`VARJ qj as charge;`, and a factor qj, would do");
  CHECK(charges_of_file("sph_density") ==
        "result \"rho\" depends on \"hj\" in another way than as a factor");
  CHECK(charges_of_file("gravity_nearest") ==
        "result \"rnear2\" is the smallest value of all sources, not a sum");
  CHECK(charges_of_file("gravity_neighbours").find("not a sum") != std::string::npos);
  CHECK(charges_of_file("gravity_1pn") == "result \"pnx\" is quadratic in \"mj\"");
  CHECK(charges_of_file("lennard_jones_mixed").find("product of more than two") !=
        std::string::npos);
}

TEST_CASE("charges of laws of users: one, several, vectors") {
  CHECK(charges_of(charged_law("CONST kappa; VARJ qj; VARF pot;",
                               "skip if (r2 == 0); r = sqrt(r2); pot += qj*exp(-(kappa*r))/r;")) ==
        "qj");
  CHECK(charges_of(charged_law("VARJ wj; VARF s;",
                               "r = sqrt(5*r2); s += wj*(1 + r + r2/3)*exp(-r);")) == "wj");
  CHECK(charges_of(charged_law(
            "VARJ fx, fy, fz; VARF u, v, w;",
            "skip if (r2 == 0); rinv = rsqrt(r2);"
            "fd = (fx*dx + fy*dy + fz*dz)*rinv*rinv*rinv;"
            "u += fx*rinv + fd*dx; v += fy*rinv + fd*dy; w += fz*rinv + fd*dz;")) == "fx fy fz");
  CHECK(charges_of(charged_law("VARJ vec3 f; VARF vec3 u;", "u += f/(1 + r2);")) == "f_0 f_1 f_2");
  CHECK(charges_of(charged_law("VARJ q, p; VARF a, b;", "a += q*r2 - p*dx; b -= 3*p*sqrt(r2);")) ==
        "q p");
}

TEST_CASE("conditions, selections and quotients without charges are allowed") {
  CHECK(charges_of(charged_law("CONST rc2; VARJ q; VARF f;", "if (r2 < rc2) { f += q*r2; }")) ==
        "q");
  CHECK(charges_of(charged_law("VARJ q; VARF f;", "f += r2 > 1 ? q : 2*q*dx;")) == "q");
  CHECK(charges_of(charged_law("VARI si; VARJ q; VARF f;", "f -= -q*max(si - r2, 0)/(si + r2);")) ==
        "q");
  CHECK(charges_of(charged_law("VARI int ni; VARJ int nj; VARJ q; VARF f;",
                               "f += ni != nj ? q*r2 : 0*q;")) == "q | ni = nj");
}

TEST_CASE("a selection of zero leaves a law linear in its charges") {
  CHECK(charges_of(charged_law("VARJ qj; VARF f;", "f += r2 > 0 ? qj*rsqrt(r2) : 0;")) == "qj");
  CHECK(charges_of(charged_law("VARJ qj; VARF f;", "f += r2 > 0 ? 0.0 : qj;")) == "qj");
  CHECK(charges_of(charged_law("VARJ qj; VARF f;", "f += r2 > 0 ? qj : 1;"))
            .find("has no variable") != std::string::npos);
  CHECK(charges_of(charged_law("VARJ qj; VARF f;", "f += 0*qj*r2;")) ==
        "its results are zero for all sources");
}

TEST_CASE("a variable that multiplies a charge in some terms is carried by it") {
  CHECK(charges_of(charged_law("VARJ q, s; VARF f, g;", "f += q*r2; g += q*s*r2 - q;")) ==
        "q | s of q");
  CHECK(charges_of(charged_law("VARJ s; VARJ q as charge; VARF g;", "g += s*q*r2;")) ==
        "q | s of q");
  CHECK(charges_of(charged_law("VARJ s, q; VARF g;", "g += s*q*r2;")) == "s | q of s");
  for (const char* const order : {"vx, m, vy", "m, vx, vy", "vy, vx, m"})
    CHECK(charges_of(charged_law(std::string("VARJ ") + order + "; VARF a, b;",
                                 "a += m*vx*r2; b += m*vy*r2;"))
              .starts_with("m |"));
  CHECK(charges_of(charged_law("VARJ q, p, s; VARF f;", "f += q*r2 + p + q*s + p*s*dx;")) ==
        "result \"f\" depends on products of \"s\" with several charges: \"q\", \"p\"");
}

TEST_CASE("the obstacle names the variable and the result") {
  const auto refused = [](const std::string& declarations, const std::string& statements) {
    return charges_of(charged_law(declarations, statements));
  };
  const std::string other = "result \"f\" depends on \"q\" in another way than as a factor";
  for (const char* const f : {"r2/q", "sqrt(q)", "exp(q*dx)", "abs(q)", "min(q, r2)", "pow(r2, q)",
                              "r2*max(q, 0)", "q > 0 ? r2 : dx", "floor(q)"}) {
    INFO(f);
    CHECK(refused("VARJ q; VARF f;", std::string("f += ") + f + ";") == other);
  }
  CHECK(refused("VARJ q; VARF f;", "f += q*q*r2;") == "result \"f\" is quadratic in \"q\"");
  CHECK(refused("VARJ q; VARF f;", "f += q*r2 + 1;").find("has no variable") != std::string::npos);
  CHECK(refused("VARJ q, p; VARF f;", "f += q + p + q*p;").find("product of two charges: \"q\"") !=
        std::string::npos);
  CHECK(refused("VARJ q; VARF f;", "if (q > 0) { f += q*r2; }") ==
        "\"q\" decides whether a source counts in result \"f\"");
  CHECK(refused("VARJ int n; VARJ q; VARF f;", "if (n < 3) { f += q*r2; }") ==
        "\"n\" decides whether a source counts in result \"f\"");
  CHECK(refused("VARI int ni; VARJ int nj; VARJ q; VARF f;", "if (ni < nj) { f += q*r2; }") ==
        "\"nj\" decides whether a source counts in result \"f\"");
  CHECK(refused("VARJ int n; VARF f;", "f += n*r2;") ==
        "result \"f\" depends on \"n\" in another way than as a factor");
  CHECK(refused("VARJ q; VARF f; VARF int n;", "f += q*r2; n += 1;").find("\"n\" has no") !=
        std::string::npos);
  CHECK(refused("VARJ q; VARF f;", "f max= q*r2;") ==
        "result \"f\" is the largest value of all sources, not a sum");
}

TEST_CASE("variables that no result needs have no effect") {
  CHECK(charges_of(charged_law("VARJ q, s; VARF f;", "t = sqrt(s); f += q*r2;")) == "q");
  CHECK(charges_of(charged_law("VARI int ni; VARJ int nj; VARJ q; VARF f;",
                               "t = ni == nj; f += q*r2;")) == "q");
}

}  // namespace gdr::test
