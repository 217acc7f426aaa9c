// Reader of logical lines: from a source text, or from collected lines.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>

#include "emulator/assembler/front/text.hpp"

namespace gdr::assembly {

class LineReader {
 public:
  /// Lines of a source text, which must be zero-terminated.
  LineReader(std::string_view text, std::uint32_t source) : text_(text), source_(source) {}
  /// Lines collected earlier.
  explicit LineReader(std::span<const Line> lines) : lines_(lines), collected_(true) {}

  bool next(Line& line) {
    if (!collected_) return next_of_text(line);
    if (index_ >= lines_.size()) return false;
    line = lines_[index_++];
    return true;
  }

 private:
  bool next_of_text(Line& line);

  std::string_view text_;
  std::uint32_t source_ = 0;
  std::size_t offset_ = 0;
  std::uint32_t number_ = 1;
  std::span<const Line> lines_;
  std::size_t index_ = 0;
  bool collected_ = false;
};

/// Start of a comment, or the end of the text; `#` in strings is ignored.
const char* comment_start(const char* begin, const char* end) noexcept;

}  // namespace gdr::assembly
