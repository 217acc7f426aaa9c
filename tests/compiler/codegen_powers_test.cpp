// Long powers and functions of numbers that are constant in the loop, on all engines.
#include "compiler/codegen_support.hpp"

namespace gdr::test {

TEST_CASE("powers with a constant base or exponent have the accuracy of longs on every engine") {
  const Data data{{"x", {0.001, 3.712345678901234, -1.3}},
                  {"n", {-0.85}},
                  {"y", {2.5000001, 0.37123, 17.77777777777777}},
                  {"q", {1e9, 4.7, 12.345678901234567, 1234.56789012345}},
                  {"m", {1.5, 0.1, -3.25, 2}}};
  for (const std::string term :
       {"pow(q - x, 0.1)", "(q - x)^17.3", "(q - x)^-0.85", "pow(2.2, m)", "pow(0.3, m - x)",
        "pow(q, n)", "pow(y, m)", "pow(y, 0.1)", "pow(y, n)", "pow(q, y)", "pow(1e9, 0.1)*q",
        "cbrt(y)*q", "erfc(0.1*y)*q", "boys(3, y)*q", "log(y)*q", "boys(2, 0.7*n*n)*q"}) {
    const std::string text =
        "precision long; CONST n; VARI x, y; VARJ q, m; VARF f;\nf += " + term +
        " + 0*(x + y + q + m + n);\n";
    check(text, data, 3, 4, 3e-14);
  }
}

}  // namespace gdr::test
