// The line language of `gdr fp`: one arithmetic operation a line, evaluated exactly.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace gdr::cli {

/// Evaluates lines `op.F A [B]` that arrive in pieces of any size.
///
/// A line gives a result line (the word in lower-case hex, a blank, the flags `i` `o` `u` or `-`)
/// or a message with its number. Lines of blanks only give neither. Lines end with "\n" or "\r\n".
class FpLines {
 public:
  /// Longer lines are bad ones, whatever they hold, so that no input needs unbounded memory.
  static constexpr std::size_t max_line = 4096;

  /// Take the next piece of the input. Complete lines are evaluated, the rest is kept.
  void feed(std::string_view bytes);
  /// The input has ended: evaluate a last line that has no newline.
  void finish();

  /// What the lines so far gave; the caller takes the text out and clears it.
  std::string results;
  std::string messages;

  std::size_t bad_lines() const noexcept { return bad_lines_; }

 private:
  void end_line(std::string_view line);
  void keep(std::string_view part);
  void complain(std::string_view what);

  std::string partial_;     ///< the beginning of a line whose end has not come yet
  std::size_t number_ = 0;  ///< lines ended so far
  std::size_t bad_lines_ = 0;
};

}  // namespace gdr::cli
