// What `gdr selftest` prints, as text and as JSON.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "emulator/engine/engine.hpp"
#include "emulator/selftest/selftest.hpp"

namespace gdr::cli {

struct SelftestReport {
  std::uint64_t seed;  ///< the first one
  const std::vector<std::unique_ptr<Engine>>& engines;
  const selftest::Outcome& outcome;
};

/// Counts, and what was different with the command that repeats it.
std::string selftest_text(const SelftestReport& report);
/// The same as one JSON object.
std::string selftest_json(const SelftestReport& report);

}  // namespace gdr::cli
