// Output of commands in JSON.
#pragma once

#include <nlohmann/json.hpp>
#include <string>

#include "cli/shell.hpp"
#include "support/catch.hpp"

namespace gdr::test {

/// What a command line prints, which succeeds.
inline nlohmann::json json_of(const Shell& shell, const std::string& line) {
  const Outcome outcome = shell.run(line);
  INFO(line << "\n" << outcome.err);
  REQUIRE(outcome.status == 0);
  return nlohmann::json::parse(outcome.out);
}

}  // namespace gdr::test
