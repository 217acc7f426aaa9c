// A program's text, line by line.
#pragma once

#include <fmt/format.h>

#include <string>
#include <utility>

namespace gdr::codegen {

struct TextLines {
  std::string text;

  template <typename... Arguments>
  void line(fmt::format_string<Arguments...> format, Arguments&&... arguments) {
    text += fmt::format(format, std::forward<Arguments>(arguments)...);
    text += '\n';
  }
};

}  // namespace gdr::codegen
