// The kernel compiler: text of the kernel language to a program of the machine.
#pragma once

#include <cstdint>
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
  Geometry geometry;                      ///< memories that the kernel must fit
  std::vector<std::string> include_dirs;  ///< searched after the including file's own folder
  unsigned elements = 0;                  ///< targets a PE holds, 1 to 4; 0: as many as fit
  unsigned effort = 2;                    ///< how hard to look for a shorter loop: 0 to 9
  std::uint64_t seed = 1;  ///< of that search; text, options and seed determine the result
  /// Also what changes roundings: constant factors are moved out of the loop.
  bool relaxed = false;
  std::size_t max_errors = 100;
  /// Cancels compilation: once a stop is requested, compile_kernel throws Error (Device).
  std::stop_token stop = {};
};

/// What compiling gives: always all diagnostics; the rest where there was no error.
struct CompileResult {
  std::optional<Program> program;
  Diagnostics diagnostics;           ///< errors and warnings of the kernel's text
  std::string assembly;              ///< the generated source, as it was assembled
  std::string report;                ///< clocks, slots and ports instruction by instruction, places
  std::vector<std::string> remarks;  ///< what the compiler had to choose, one sentence each
  bool ok() const noexcept { return program.has_value(); }
};

/// Compile a text; `file_name` is used in messages, to find includes, and as the kernel's name
/// where the text gives none. The language: docs/reference/kernel-language.md.
CompileResult compile_kernel(std::string_view text, const std::string& file_name,
                             const CompileOptions& options = {});
/// Read and compile a file. Throws Error (Io) if it cannot be read.
CompileResult compile_kernel_file(const std::string& path, const CompileOptions& options = {});

}  // namespace gdr
