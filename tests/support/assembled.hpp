// Programs from assembly text.
#pragma once

#include <string>
#include <string_view>
#include <utility>

#include "emulator/assembler/assembler.hpp"
#include "support/catch.hpp"

namespace gdr::test {

/// Assembles a text, which must be valid. `file` is its name in the line table.
inline Program assembled(std::string_view text, const AssembleOptions& options = {},
                         const std::string& file = "test.gds") {
  AssembleResult result = assemble(text, file, options);
  INFO(result.diagnostics.render());
  REQUIRE(result.ok());
  return *std::move(result.program);
}

}  // namespace gdr::test
