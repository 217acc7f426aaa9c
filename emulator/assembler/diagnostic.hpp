// Diagnostics: position, caret range, notes, help and a stable code.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace gdr {

/// A range of columns in a source line (1-based; column_end is one past the last).
struct SourceRange {
  std::uint32_t file = 0;  ///< index into Diagnostics::sources
  std::uint32_t line = 0;
  std::uint32_t column = 0;
  std::uint32_t column_end = 0;
};

enum class Severity : std::uint8_t { Error, Warning };

/// A related position of a diagnostic.
struct DiagnosticNote {
  SourceRange range;
  std::string message;
};

struct Diagnostic {
  std::uint16_t code = 0;  ///< number in GDR1103
  Severity severity = Severity::Error;
  SourceRange range;
  std::string message;
  std::string label;  ///< text after the caret range; may be empty
  std::vector<DiagnosticNote> notes;
  std::string help;  ///< remedy; may be empty
};

/// Name and contents of a source text.
struct SourceText {
  std::string name;
  std::string text;
};

struct Diagnostics {
  std::vector<SourceText> sources;
  std::vector<Diagnostic> list;
  std::size_t error_count = 0;  ///< including errors beyond the limit

  /// `file:line:col: error[GDR1103]: ...` with the source line and a caret; colours on request.
  std::string render(bool colour = false) const;
  std::string render(const Diagnostic& diagnostic, bool colour = false) const;
};

/// An entry of the diagnostic table, from which docs/reference/assembler-diagnostics.md is
/// generated: the meaning, and an example that raises the diagnostic (which the tests assemble).
struct DiagnosticInfo {
  std::uint16_t code;
  std::string_view title;
  std::string_view explanation;
  std::string_view example;
};
std::span<const DiagnosticInfo> diagnostic_table() noexcept;

}  // namespace gdr
