// A text that grows line by line.
#pragma once

#include <fmt/format.h>

#include <string>
#include <utility>

namespace gdr::native {

/// Lines of a text.
class TextLines {
 public:
  template <typename... Arguments>
  void line(fmt::format_string<Arguments...> format, Arguments&&... arguments) {
    text_ += fmt::format(format, std::forward<Arguments>(arguments)...);
    text_ += '\n';
  }
  /// Whole lines.
  void add(const std::string& lines) { text_ += lines; }
  std::string take() { return std::move(text_); }

 private:
  std::string text_;
};

}  // namespace gdr::native
