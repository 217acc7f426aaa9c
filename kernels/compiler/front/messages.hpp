// Collects the diagnostics of one kernel: each once, also where a loop repeats its place.
#pragma once

#include <cstdint>
#include <set>
#include <string>
#include <tuple>
#include <vector>

#include "emulator/assembler/diagnostic.hpp"
#include "kernels/compiler/diagnostics/codes.hpp"

namespace gdr::kc::front {

/// Text of two places as one range: what lies between on the line of the first.
inline SourceRange joined(const SourceRange& first, const SourceRange& last) noexcept {
  SourceRange range = first;
  if (last.file == first.file && last.line == first.line && last.column_end > range.column_end)
    range.column_end = last.column_end;
  return range;
}

class Messages {
 public:
  explicit Messages(std::size_t max_kept) : max_kept_(max_kept) {}

  /// A function call or a turn of a loop that is being read, for the notes of errors inside it.
  struct Frame {
    SourceRange where;
    std::string text;  ///< "in `force`, called here"
  };
  std::vector<Frame> frames;

  /// Add an error. The reference is valid until the next one is added.
  Diagnostic& error(Code code, const SourceRange& where, std::string message,
                    std::string label = {}, std::string help = {});
  Diagnostic& warning(Code code, const SourceRange& where, std::string message,
                      std::string label = {}, std::string help = {});

  /// True while errors are kept; where not, nobody needs a suggestion.
  bool keeps() const noexcept { return errors_ < max_kept_; }
  std::size_t errors() const noexcept { return errors_; }
  /// All that was kept, sorted by place.
  std::vector<Diagnostic> take();

 private:
  Diagnostic& add(Code code, Severity severity, const SourceRange& where);

  std::size_t max_kept_;
  std::size_t errors_ = 0;
  std::size_t warnings_ = 0;
  std::set<std::tuple<std::uint16_t, std::uint32_t, std::uint32_t, std::uint32_t>> seen_;
  std::vector<Diagnostic> list_;
  Diagnostic spare_;  ///< takes what is not kept
};

}  // namespace gdr::kc::front
