// Interface of the assembler: from text to program. The language is described in
// docs/reference/assembler.md.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "emulator/assembler/diagnostic.hpp"
#include "emulator/isa/geometry.hpp"
#include "emulator/isa/program.hpp"

namespace gdr {

struct AssembleOptions {
  Geometry geometry;
  bool stall_is_error = false;  ///< report required idle clocks as errors instead of inserting them
  std::vector<std::string> include_dirs;  ///< searched after the including file's directory
  std::size_t max_errors = 100;           ///< limit of stored diagnostics; all are counted
  std::uint64_t max_expanded_lines =
      4'000'000;  ///< limit of the expansion of repeats, templates and includes
};

/// Result of assembling: all diagnostics, and the program if there are no errors.
struct AssembleResult {
  std::optional<Program> program;
  Diagnostics diagnostics;
  bool ok() const noexcept { return program.has_value(); }
};

/// Assemble a text; `file_name` appears in messages and locates includes.
AssembleResult assemble(std::string_view text, const std::string& file_name,
                        const AssembleOptions& options = {});
/// Read and assemble a file. Throws gdr::Error (Io) if it cannot be read.
AssembleResult assemble_file(const std::string& path, const AssembleOptions& options = {});

/// Annotated listing: address, encoding, clock, source line, for every section.
std::string listing(const Program& program, const Diagnostics& sources);

/// Assembly text that assembles to the same object, byte by byte.
std::string disassemble(const Program& program);
/// One instruction as text, with addresses as operands.
std::string to_text(const Instruction& instruction);

}  // namespace gdr
