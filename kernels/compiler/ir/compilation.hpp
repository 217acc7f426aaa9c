// Options and the result of a compilation.
#pragma once

#include <array>
#include <cstddef>
#include <functional>
#include <optional>
#include <stop_token>
#include <string>
#include <string_view>
#include <vector>

#include "emulator/assembler/diagnostic.hpp"
#include "emulator/isa/geometry.hpp"
#include "emulator/isa/program.hpp"

namespace gdr {

/// The variables that hold the positions of targets and sources, for a kernel with a cut-off.
struct CutoffPositions {
  std::array<std::string, 3> target, source;
};

/// The variables of a kernel with a cut-off besides its own.
namespace cutoff_names {
inline constexpr std::string_view radius2 = "cutoff_radius2";  ///< square of the target's radius
inline constexpr std::string_view target = "cutoff_target";    ///< number of the target
inline constexpr std::string_view source = "cutoff_source";    ///< number of the source
}  // namespace cutoff_names

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
  /// Compile the kernel with a cut-off: it leaves out pairs whose distance is not below a radius of
  /// the target, and those of equal numbers; all three are variables of the host (`cutoff_names`).
  std::optional<CutoffPositions> cutoff = {};
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
  unsigned initiation_interval = 0, min_interval = 0;
  bool pipelined = false;   ///< sources overlap
  bool from_cache = false;  ///< whether it is an earlier compilation, of the same text and options
  bool ok() const noexcept { return program.has_value(); }
};

}  // namespace gdr
