// Reports of `gdr selftest`, as text and as JSON.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "emulator/engine/api/engine.hpp"
#include "emulator/selftest/selftest.hpp"

namespace gdr::cli {

struct SelftestReport {
  std::uint64_t seed;  ///< seed of the first program
  const std::vector<std::unique_ptr<Engine>>& engines;
  const selftest::Outcome& outcome;
};

/// Counts, and the first difference with the command that reproduces it.
std::string selftest_text(const SelftestReport& report);
/// The same as one JSON object.
std::string selftest_json(const SelftestReport& report);

}  // namespace gdr::cli
