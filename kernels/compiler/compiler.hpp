// The kernel compiler: from kernel language text to a machine program.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <stop_token>
#include <string>
#include <string_view>
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
  bool from_cache = false;  ///< an earlier compilation, of the same text and options
  bool ok() const noexcept { return program.has_value(); }
};

namespace kc {
struct FrontResult;
}

/// A text that was read once, to be compiled any number of times with different options; later
/// changes of its files have no effect. Cheap to copy.
class KernelText {
 public:
  /// `file_name` appears in messages, locates includes, and names a kernel that has no name.
  /// `include_dirs` are searched after the including file's directory.
  KernelText(std::string_view text, const std::string& file_name,
             const std::vector<std::string>& include_dirs = {}, std::size_t max_errors = 100);
  /// Reads a file. Throws Error (Io) if it cannot be read.
  static KernelText read(const std::string& path, const std::vector<std::string>& include_dirs = {},
                         std::size_t max_errors = 100);

  /// Compile; include_dirs and max_errors of the options are not used.
  CompileResult compile(const CompileOptions& options = {}) const;
  /// Adds the same kernel in longs (Program::in_longs) to a program of this text, if it differs and
  /// the machine has room for it. Of the options only `geometry` and `stop` matter.
  void add_longs(Program& program, const CompileOptions& options) const;

 private:
  std::shared_ptr<const kc::FrontResult> front_;
  std::string file_name_;
};

/// Compile a text. `file_name` appears in messages, locates includes, and names a kernel that has
/// no name. The language: docs/reference/kernel-language.md.
CompileResult compile_kernel(std::string_view text, const std::string& file_name,
                             const CompileOptions& options = {});
/// Read and compile a file. Throws Error (Io) if it cannot be read.
CompileResult compile_kernel_file(const std::string& path, const CompileOptions& options = {});

}  // namespace gdr
