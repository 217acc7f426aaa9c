// Options and the result of a compilation.
#pragma once

#include <cstddef>
#include <functional>
#include <optional>
#include <stop_token>
#include <string>
#include <vector>

#include "emulator/assembler/diagnostic.hpp"
#include "emulator/isa/geometry.hpp"
#include "emulator/isa/program.hpp"

namespace gdr {

struct CompileOptions {
  Geometry geometry;                      ///< memory sizes of the machine
  std::vector<std::string> include_dirs;  ///< searched after the including file's directory
  unsigned elements = 0;                  ///< targets per PE, 1 to 4; 0: as many as fit
  unsigned effort = 2;  ///< effort of the schedule search, 0 to 9; each step from 2 doubles it
  /// Search for a pipelined loop. Without, sources are processed one at a time and compilation
  /// takes milliseconds: for engines whose speed does not depend on the schedule.
  bool pipeline = true;
  /// Compile every number as a long, whatever the text declares; short(x) still rounds. For engines
  /// that compute in doubles: the program then has no words with fewer bits.
  bool in_longs = false;
  /// Allow optimisations that change rounding: constant factors move out of the loop.
  bool relaxed = false;
  std::size_t max_errors = 100;
  /// Keep results of searches in the user's cache, and take them from there. They are the same;
  /// measurements of the compiler turn it off.
  bool cache = true;
  /// Called from time to time with the share of the search that is done, from 0 to 1.
  std::function<void(double)> progress = {};
  /// Cancels compilation: once a stop is requested, compile_kernel throws Error (Device).
  std::stop_token stop = {};
};

/// Result of a compilation: all diagnostics; the other members only if there is no error.
struct CompileResult {
  std::optional<Program> program;
  Diagnostics diagnostics;           ///< errors and warnings
  std::string assembly;              ///< generated assembly
  std::string report;                ///< clocks, slots, ports and storage of the loop
  std::vector<std::string> remarks;  ///< decisions of the compiler, one sentence each
  /// Instructions between the starts of two sources, and the lower bound of that number for the
  /// chosen number of targets per PE.
  unsigned initiation_interval = 0, least_interval = 0;
  bool pipelined = false;   ///< sources overlap
  bool from_cache = false;  ///< whether it is an earlier compilation, of the same text and options
  bool ok() const noexcept { return program.has_value(); }
};

}  // namespace gdr
