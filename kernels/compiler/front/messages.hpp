// Collects the diagnostics of a kernel, without duplicates from unrolled loops.
#pragma once

#include <cstdint>
#include <set>
#include <string>
#include <tuple>
#include <vector>

#include "emulator/assembler/diagnostic.hpp"
#include "kernels/compiler/diagnostics/table.hpp"

namespace gdr::kc::front {

/// The range from `first` to `last`, on the line of the first.
inline SourceRange joined(const SourceRange& first, const SourceRange& last) noexcept {
  SourceRange range = first;
  if (last.file == first.file && last.line == first.line && last.column_end > range.column_end)
    range.column_end = last.column_end;
  return range;
}

/// A diagnostic under construction: `error(...).help(...).note(...)`. Valid until the next one.
class Message {
 public:
  explicit Message(Diagnostic& diagnostic) : diagnostic_(diagnostic) {}
  Message& label(std::string text) { return diagnostic_.label = std::move(text), *this; }
  Message& help(std::string text) { return diagnostic_.help = std::move(text), *this; }
  Message& note(const SourceRange& where, std::string text) {
    diagnostic_.notes.push_back({where, std::move(text)});
    return *this;
  }

 private:
  Diagnostic& diagnostic_;
};

class Messages {
 public:
  explicit Messages(std::size_t max_kept) : max_kept_(max_kept) {}

  /// Active function calls and loop iterations ("in `force`, called here"), noted with errors
  /// inside them.
  std::vector<DiagnosticNote> frames;

  Message error(Code code, const SourceRange& where, std::string message) {
    return add(code, Severity::Error, where, std::move(message));
  }
  Message warning(Code code, const SourceRange& where, std::string message) {
    return add(code, Severity::Warning, where, std::move(message));
  }
  /// A message that is not reported.
  Message none() { return Message(spare_ = {}); }

  /// Whether errors are still stored; otherwise suggestions are not needed.
  bool below_limit() const noexcept { return errors_ < max_kept_; }
  std::size_t errors() const noexcept { return errors_; }
  /// All stored diagnostics, sorted by source range.
  std::vector<Diagnostic> release();

 private:
  Message add(Code code, Severity severity, const SourceRange& where, std::string message);

  std::size_t max_kept_;
  std::size_t errors_ = 0;
  std::size_t warnings_ = 0;
  std::set<std::tuple<Code, std::uint32_t, std::uint32_t, std::uint32_t>> seen_;
  std::vector<Diagnostic> list_;
  Diagnostic spare_;  ///< receives what is not stored
};

}  // namespace gdr::kc::front
