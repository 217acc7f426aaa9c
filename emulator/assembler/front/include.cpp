#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <optional>
#include <system_error>

#include "emulator/assembler/front/expression.hpp"
#include "emulator/assembler/front/files.hpp"
#include "emulator/assembler/front/macros.hpp"
#include "emulator/assembler/front/statement.hpp"

namespace gdr::assembly {
namespace {

namespace fs = std::filesystem;

bool bad_string(Assembly& a, const char* begin, const Cursor& c, const char* what,
                const char* help) {
  a.report.error(Code::BadString, {begin, c.p}, what, {}, help);
  return false;
}

/// An escape sequence; the cursor is after the `\`.
bool parse_escape(Cursor& c, std::string& text) {
  const char kind = c.done() ? '\0' : *c.p++;
  switch (kind) {
    case 'n':
      text += '\n';
      return true;
    case 't':
      text += '\t';
      return true;
    case '\\':
    case '"':
      text += kind;
      return true;
    case 'x': {
      const unsigned high = c.done() ? 16 : hex_digit(*c.p);
      const unsigned low = high > 15 || c.p + 1 >= c.end ? 16 : hex_digit(c.p[1]);
      if (low > 15) return false;
      c.p += 2;
      text += static_cast<char>(high * 16 + low);
      return true;
    }
    default:
      return false;
  }
}

/// Index of a source text, read if necessary. Nothing if it cannot be read.
std::optional<std::uint32_t> open_source(Assembly& a, const std::string& name) {
  for (std::uint32_t i = 0; i < a.sources.size(); ++i) {
    if (a.sources[i].name == name) return i;
  }
  std::optional<std::string> text = read_text(name);
  if (!text) return std::nullopt;
  return add_source(a, name, std::move(*text));
}

/// Reports an error that ends the assembly, and returns false, if there are too many includes:
/// files that each include the next one twice expand to 2^n includes.
bool may_include(Assembly& a, Span word) {
  if (++a.includes <= max_includes) return true;
  if (!a.stopped)
    a.report.error(Code::TooManyLines, word,
                   "more than " + std::to_string(max_includes) + " files are included", {},
                   "each include reads the file again: include a common file once, at the top");
  a.stopped = true;
  return false;
}

}  // namespace

std::optional<std::string> read_text(const std::string& path) {
  constexpr std::uintmax_t largest = std::uintmax_t{1} << 30;
  if (path.find('\0') != std::string::npos) return std::nullopt;
  std::error_code error;
  const fs::file_type type = fs::status(path, error).type();
  if (type != fs::file_type::regular && type != fs::file_type::fifo) return std::nullopt;
  std::FILE* file = std::fopen(path.c_str(), "rb");
  if (file == nullptr) return std::nullopt;
  std::string text;
  std::size_t size = 0, piece = 1U << 16;  // the size of a pipe is unknown
  if (const std::uintmax_t known = fs::file_size(path, error); !error && known > 0)
    piece = std::min(known, largest) + 1;
  while (size == text.size() && size <= largest) {
    text.resize(size + std::max(piece, size));
    size += std::fread(text.data() + size, 1, text.size() - size, file);
  }
  const bool failed = std::ferror(file) != 0 || size > largest;
  std::fclose(file);
  if (failed) return std::nullopt;
  text.resize(size);
  return text;
}

std::uint32_t add_source(Assembly& a, std::string name, std::string text) {
  a.sources.push_back({std::move(name), std::move(text)});
  return static_cast<std::uint32_t>(a.sources.size() - 1);
}

bool parse_string(Assembly& a, Cursor& c, std::string& text) {
  const char* begin = c.p;
  text.clear();
  if (!c.accept('"')) {
    a.report.error(Code::BadString, c.rest_of_word(), "a name in double quotes is expected here");
    return false;
  }
  while (!c.accept('"')) {
    if (c.done() || *c.p == '\n')
      return bad_string(a, begin, c, "the string is not closed", "close it with `\"`");
    if (c.accept('\\')) {
      if (!parse_escape(c, text)) {
        return bad_string(a, begin, c, "unknown escape sequence",
                          "escape sequences are \\\\ \\\" \\n \\t and \\xHH");
      }
      continue;
    }
    text += *c.p++;
  }
  return true;
}

void parse_include(Assembly& a, Cursor& c, Span word) {
  c.skip_spaces();
  const char* begin = c.p;
  std::string name;
  if (!parse_string(a, c, name)) return;
  const Span span{begin, c.p};
  expect_end(a, c);
  if (!check_nesting(a, a.report.span_of(word))) return;
  if (!may_include(a, word)) return;
  const auto source =
      find_include(name, a.sources[a.report.line->source].name, a.options.include_dirs,
                   [&](const std::string& path) { return open_source(a, path); });
  if (!source) {
    a.report.error(Code::IncludeUnreadable, span, "the file " + in_quotes(name) + " cannot be read",
                   {}, "it is searched in this file's directory and the include directories (-I)");
    return;
  }
  for (const std::uint32_t open : a.open_files) {
    if (open != *source) continue;
    a.report.error(Code::IncludeCycle, span, in_quotes(name) + " includes itself",
                   "the file is already being read");
    return;
  }
  const std::string& text = a.sources[*source].text;
  a.expanded_characters += text.size() + 1;
  a.expanded_lines += 1;
  if (!check_expansion(a, word)) return;
  ++a.depth;
  a.open_files.push_back(*source);
  LineReader reader(text, *source);
  parse_lines(a, reader);
  a.open_files.pop_back();
  --a.depth;
}

}  // namespace gdr::assembly
