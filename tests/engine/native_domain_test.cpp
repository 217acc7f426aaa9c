// Idiom recognition on the native engine for numbers of either sign: host instructions may replace
// a sequence only if it computes 1/x or 1/sqrt(x) for every x.
#include <string>
#include <vector>

#include "engine/all_engines.hpp"

namespace gdr::test {
namespace {

const Data numbers{{"x", {-10, 0.75, -0.001, 1e5, -2e-7}}, {"k", {1, -2.5, 3e-3, -0.0625, 12}}};
const std::string head = "VARI x; VARJ k; VARF f;\n";
const std::string long_head = "precision long;\n" + head;

void check_both(const std::string& law) {
  check_everywhere(head + law, numbers, {1e-6, 1e-6, 1e-5});
  check_everywhere(long_head + law, numbers, {1e-12, 1e-12, 1e-5});
}

}  // namespace

TEST_CASE("native gives abs, max and min of a negative reciprocal") {
  check_both("d = x - k; f += k*abs(1/d);");
  check_both("d = x - k; f += k*max(1/d, 0);");
  check_both("d = x - k; f += k*min(1/d, 0);");
  check_both("d = x - k; f += k*max(recip(d), -0.25*recip(d));");
}

TEST_CASE("native gives roots of even powers of negative numbers") {
  check_both("f += k*sqrt(pow(x,-2));");
  check_both("f += k*rsqrt(x*x);");
  check_both("f += k*rsqrt(abs(x))*recip(x);");
  check_both("f += recip(k)*sqrt(abs(k)) + rsqrt(abs(k))*pow(k,-3);");
}

TEST_CASE("native gives the exponential of a large negative reciprocal") {
  check_both("f += k*exp(recip(x)) - exp(min(recip(x), 30));");
  check_both("skip if (x > k); f += k*exp(recip(x - k));");
}

TEST_CASE("native keeps finite results where a root and a reciprocal of one number are combined") {
  const Data data{{"p", {-1.75, 0.5, -0.125}}, {"q", {2, -0.5, 1.25}}};
  const std::string law =
      "VARI q; VARJ p; VARF f; skip if (pow(q,-2) > 2.5);\n"
      "f += q*(min(p,pow(p,-2))+abs(sqrt(abs(p))));";
  check_everywhere(law, data, {1e-6, 1e-6, 1e-5});
  check_everywhere("precision long;\n" + law, data, {1e-12, 1e-12, 1e-5});
}

TEST_CASE("native gives the reciprocal of a zero the sign of the zero") {
  const Data data{{"x", {-0.0, 0.0, 2}}, {"k", {1, -1}}};
  for (const std::string precision : {"", "precision long;\n"}) {
    const std::string text = precision + head + "f += max(min(recip(x*k), 5), -7)*(k + 3);";
    check_everywhere(text, data, {1e-6, 1e-6, 1e-5});
  }
}

TEST_CASE("native keeps the reciprocal of zero in pad items") {
  // Its product with the factor that compilers move out of the sum is infinite, and is limited.
  const Data data{{"x", {1}}, {"k", {-3, 0.5, 2, 0.25}}};
  check_everywhere(head + "f += x*k*exp(recip(k));", data, {1e-6, 1e-6, 1e-5});
  check_everywhere(head + "f += x*k*min(recip(k), 5);", data, {1e-6, 1e-6, 1e-5});
}

TEST_CASE(
    "missing items count for nothing though a condition depends on the reciprocal of a zero") {
  const Data data{{"x", {-1, 0.25}}, {"y", {2, -3}}, {"p", {10, 20, -5}}, {"q", {0.5, -2, 3e4}}};
  const std::string text =
      "VARI x, y; VARJ p, q; VARF f;\n"
      "if (pow(1/q,-2) < 0.75) { f += p + q - 0.5; }\nf += x*y*q;";
  check_everywhere(text, data, {1e-6, 1e-6, 1e-5});
}

TEST_CASE("pad items contribute nothing although a large number is divided by their zero") {
  const Data data{{"x", {1e120, -1e4}}, {"q", {3, -0.25, 7}}};
  check_everywhere("precision long;\nVARI x; VARJ q; VARF f; f += q*(x/q);", data,
                   {1e-12, 1e-12, 1e-5});
}

TEST_CASE("native subtracts equal products to zero") {
  const Data data{{"x", {0.1, 0.3}}, {"y", {0.7, 0.7}}, {"p", {0.1, 0.3}}, {"q", {0.7, 0.7}}};
  check_everywhere("VARI x, y; VARJ p, q; VARF f; d = x*q - p*y; skip if (d == 0); f += q/d;", data,
                   {1e-6, 1e-6, 1e-5});
}

TEST_CASE(
    "native does not recognise sequences that are a root or reciprocal for most numbers only") {
  const Data data{{"x", {-1e-300, 1e-300, 3e200, -3e-200, 0.5}}, {"k", {1}}};
  // Each is 1/x or 1/sqrt(x) within 0.1 % for most exponents.
  check_everywhere(long_head + "f += min(recip(x), 1e250) + max(recip(x), -1e250);", data,
                   {1e-12, 1e-12, 1e-5});
  check_everywhere(long_head + "f += k*abs(recip(x) + 1e-190);", data, {1e-12, 1e-12, 1e-5});
  check_everywhere(long_head + "f += rsqrt(abs(x)) + rsqrt(max(x, 1e-250));", data,
                   {1e-12, 1e-12, 1e-5});
}

}  // namespace gdr::test
