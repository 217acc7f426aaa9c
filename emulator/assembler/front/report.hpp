// Collects diagnostics: finds the line and column of a message only when there is one to keep.
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

/// A template or repeat that is being expanded, for the notes of what goes wrong inside.
struct Frame {
  const Frame* parent = nullptr;
  std::string_view name;  ///< of the template, or of the repeat's constant
  bool is_template = false;
  long long value = 0;  ///< of the repeat's constant
  Place use;
};

class Report {
 public:
  Report(std::deque<SourceText>& sources, std::size_t max_kept)
      : sources_(sources), max_kept_(max_kept) {}

  /// The line that spans refer to, and what is being expanded there.
  const Line* line = nullptr;
  const Frame* frame = nullptr;

  /// True while messages are kept; where not, callers need not compose one.
  bool keeps() const noexcept { return list_.size() < max_kept_; }

  /// Add an error at characters of the current line. Valid until the next one is added; a message
  /// that is only counted goes into a spare one.
  Diagnostic& error(Code code, Span span, std::string message, std::string label = {},
                    std::string help = {});
  Diagnostic& error(Code code, const Place& place, std::string message, std::string label = {},
                    std::string help = {});
  Diagnostic& warning(Code code, Span span, std::string message, std::string label = {},
                      std::string help = {});
  void note(Diagnostic& diagnostic, const Place& place, std::string message) const;

  /// The place of characters of the current line, to be remembered.
  Place place(Span span) const noexcept;

  std::size_t errors() const noexcept { return errors_; }
  /// All that was kept, sorted by place.
  std::vector<Diagnostic> take();

 private:
  Diagnostic& add(Code code, Severity severity, const Place& place, std::string message,
                  std::string label, std::string help);
  SourceRange range(const Place& place) const noexcept;

  std::deque<SourceText>& sources_;
  std::size_t max_kept_;
  std::size_t errors_ = 0;
  std::deque<Diagnostic> list_;
  Diagnostic spare_;
};

/// The candidate nearest to a misspelt word, or empty: feed candidates one by one.
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

/// Text of the source for a message: shortened, and in back quotes.
std::string in_quotes(std::string_view text);

}  // namespace gdr::assembly
