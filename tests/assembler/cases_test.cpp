// Erroneous sources in cases/*.gds, with the expected diagnostics on their lines.
#include "assembler/support.hpp"
#include "support/expected_diagnostics.hpp"

namespace gdr::test {

TEST_CASE("erroneous sources raise exactly the expected errors") {
  const auto compile = [](const std::string& text, const std::string& path) {
    return assemble(text, path).diagnostics;
  };
  CHECK(check_expected_diagnostics("tests/assembler/cases", ".gds", compile) > 0);
}

}  // namespace gdr::test
