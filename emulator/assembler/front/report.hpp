// Collects diagnostics; line and column of a message are computed only if it is stored.
#pragma once

#include <cstdint>
#include <deque>
#include <string>
#include <string_view>
#include <vector>

#include "emulator/assembler/diagnostic.hpp"
#include "emulator/assembler/diagnostics/codes.hpp"
#include "emulator/assembler/front/text.hpp"

namespace gdr::assembly {

/// An active template or repeat, for notes of errors inside it.
struct Frame {
  const Frame* parent = nullptr;
  std::string_view name;  ///< name of the template, or of the repeat's constant
  bool is_template = false;
  long long value = 0;  ///< value of the repeat's constant
  SourceSpan use;
};

class Report {
 public:
  Report(std::deque<SourceText>& sources, std::size_t max_kept)
      : sources_(sources), max_kept_(max_kept) {}

  /// The current line, and its innermost expansion.
  const Line* line = nullptr;
  const Frame* frame = nullptr;

  /// Whether messages are still stored; otherwise they need not be composed.
  bool below_limit() const noexcept { return list_.size() < max_kept_; }

  /// Add an error, at characters of the current line or elsewhere. Returns false, the result of a
  /// parser that failed.
  bool error(Code code, Span span, std::string message, std::string label = {},
             std::string help = {});
  bool error(Code code, const SourceSpan& where, std::string message, std::string label = {},
             std::string help = {});
  void warning(Code code, Span span, std::string message, std::string label = {},
               std::string help = {});
  /// Add a note to the latest diagnostic. Returns false, too.
  bool note(const SourceSpan& where, std::string message);

  /// Source span of characters of the current line.
  SourceSpan span_of(Span span) const noexcept;

  std::size_t errors() const noexcept { return errors_; }
  /// All stored diagnostics, sorted by position.
  std::vector<Diagnostic> release();

 private:
  void add(Code code, Severity severity, const SourceSpan& where, std::string message,
           std::string label, std::string help);
  SourceRange range(const SourceSpan& where) const noexcept;

  std::deque<SourceText>& sources_;
  std::size_t max_kept_;
  std::size_t errors_ = 0;
  std::deque<Diagnostic> list_;
  bool stored_ = false;  ///< the latest diagnostic is in the list
};

/// The candidate nearest to a misspelt word, or empty.
class Suggestion {
 public:
  explicit Suggestion(std::string_view word) : word_(word) {}
  void consider(std::string_view candidate);
  /// "did you mean `x`?", or empty.
  std::string help() const;
  std::string_view best() const noexcept { return best_; }

 private:
  std::string_view word_;
  std::string_view best_;
  unsigned distance_ = ~0U;
  unsigned considered_ = 0;
};

/// Source text for messages: shortened, in back quotes.
std::string in_quotes(std::string_view text);

}  // namespace gdr::assembly
