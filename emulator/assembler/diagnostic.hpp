// Diagnostics: position, caret, notes, help and a stable code, for people and for tests.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace gdr {

/// A range of columns in a line of a source (all 1-based; column_end is one past the last).
struct SourceRange {
  std::uint32_t file = 0;  ///< index into Diagnostics::sources
  std::uint32_t line = 0;
  std::uint32_t column = 0;
  std::uint32_t column_end = 0;
};

enum class Severity : std::uint8_t { Error, Warning };

/// A second place that a diagnostic points at.
struct DiagnosticNote {
  SourceRange range;
  std::string message;
};

struct Diagnostic {
  std::uint16_t code = 0;  ///< as in GDR1103
  Severity severity = Severity::Error;
  SourceRange range;
  std::string message;
  std::string label;  ///< written after the caret range; may be empty
  std::vector<DiagnosticNote> notes;
  std::string help;  ///< what to do; may be empty
};

/// One source text: its name and contents.
struct SourceText {
  std::string name;
  std::string text;
};

struct Diagnostics {
  std::vector<SourceText> sources;
  std::vector<Diagnostic> list;
  std::size_t error_count = 0;  ///< also those beyond the number kept

  /// `file:line:col: error[GDR1103]: ...` with the source line and a caret; colours on request.
  std::string render(bool colour = false) const;
  std::string render(const Diagnostic& diagnostic, bool colour = false) const;
};

/// One entry of the list of all diagnostics, from which docs/reference/assembler-diagnostics.md is
/// generated: what it means, and a text that provokes it (which the tests assemble).
struct DiagnosticInfo {
  std::uint16_t code;
  std::string_view title;
  std::string_view explanation;
  std::string_view example;
};
std::span<const DiagnosticInfo> diagnostic_table() noexcept;

}  // namespace gdr
