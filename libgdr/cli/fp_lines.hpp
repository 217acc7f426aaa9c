// The line language of `gdr fp`: one arithmetic operation a line, evaluated exactly.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace gdr::cli {

/// Evaluates lines `op.F A [B]` that arrive in pieces of any size.
///
/// A line gives a result line (the word in lower-case hex, a blank, the flags `i` `o` `u` or `-`)
/// or a message with its number. Blank lines give neither. Lines end with "\n" or "\r\n".
class FpLines {
 public:
  /// Longest line; longer lines are errors, so that memory is bounded.
  static constexpr std::size_t max_line = 4096;

  /// Add a piece of the input. Complete lines are evaluated, the rest is buffered.
  void feed(std::string_view bytes);
  /// End of the input: evaluate a last line without a newline.
  void finish();

  /// Output of the lines so far; the caller takes and clears it.
  std::string results;
  std::string messages;

  std::size_t bad_lines() const noexcept { return bad_lines_; }

 private:
  void end_line(std::string_view line);
  void buffer(std::string_view part);
  void add_message(std::string_view what);

  std::string partial_;     ///< beginning of an incomplete line
  std::size_t number_ = 0;  ///< complete lines so far
  std::size_t bad_lines_ = 0;
};

}  // namespace gdr::cli
