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

int hex_digit(char c) noexcept {
  if (is_digit(c)) return c - '0';
  if (c >= 'a' && c <= 'f') return c - 'a' + 10;
  if (c >= 'A' && c <= 'F') return c - 'A' + 10;
  return -1;
}

bool bad_string(Assembly& a, const char* begin, const Cursor& c, const char* what,
                const char* help) {
  a.report.error(Code::BadString, {begin, c.p}, what, {}, help);
  return false;
}

/// An escape; the cursor stands behind the `\`.
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
      const int high = c.done() ? -1 : hex_digit(*c.p);
      const int low = high < 0 || c.p + 1 >= c.end ? -1 : hex_digit(c.p[1]);
      if (low < 0) return false;
      c.p += 2;
      text += static_cast<char>(high * 16 + low);
      return true;
    }
    default:
      return false;
  }
}

std::string normal(const fs::path& path) { return path.lexically_normal().string(); }

/// Number of a text that was read before, or reads it. Nothing if there is no such file.
std::optional<std::uint32_t> open_source(Assembly& a, const std::string& name) {
  for (std::uint32_t i = 0; i < a.sources.size(); ++i) {
    if (a.sources[i].name == name) return i;
  }
  std::optional<std::string> text = read_text(name);
  if (!text) return std::nullopt;
  return add_source(a, name, std::move(*text));
}

std::optional<std::uint32_t> find_include(Assembly& a, const std::string& name) {
  const fs::path path(name);
  const fs::path beside = fs::path(a.sources[a.report.line->source].name).parent_path();
  if (const auto found = open_source(a, normal(path.is_absolute() ? path : beside / path)))
    return found;
  if (path.is_absolute()) return std::nullopt;
  for (const std::string& folder : a.options.include_dirs) {
    if (const auto found = open_source(a, normal(fs::path(folder) / path))) return found;
  }
  return std::nullopt;
}

/// False, with an error that ends the assembly, if another include is more than there may be: files
/// that each include the next one twice make 2^n of them.
bool may_include(Assembly& a, Span word) {
  if (++a.includes <= most_includes) return true;
  if (!a.stopped)
    a.report.error(Code::TooManyLines, word,
                   "more than " + std::to_string(most_includes) + " files are included", {},
                   "a file that is included by several others is read anew each time: include it "
                   "once, at the top");
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
  std::size_t size = 0, piece = 1U << 16;  // a pipe does not say how much comes
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
  if (!c.take('"')) {
    a.report.error(Code::BadString, c.rest_of_word(), "a name in double quotes is expected here");
    return false;
  }
  while (!c.take('"')) {
    if (c.done() || *c.p == '\n')
      return bad_string(a, begin, c, "the string is not closed", "close it with `\"`");
    if (c.take('\\')) {
      if (!parse_escape(c, text)) {
        return bad_string(a, begin, c, "there is no such escape",
                          "possible are \\\\ \\\" \\n \\t and \\xHH");
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
  if (a.depth >= deepest_nesting) {
    a.report.error(Code::NestedTooDeeply, word, "repeats, templates and includes nest too deeply");
    return;
  }
  if (!may_include(a, word)) return;
  const auto source = find_include(a, name);
  if (!source) {
    a.report.error(Code::IncludeUnreadable, span, "the file " + in_quotes(name) + " cannot be read",
                   {}, "it is searched beside this file, then in the include folders (-I)");
    return;
  }
  for (const std::uint32_t open : a.open_files) {
    if (open != *source) continue;
    a.report.error(Code::IncludeCycle, span, in_quotes(name) + " includes itself",
                   "it is being read already");
    return;
  }
  const std::string& text = a.sources[*source].text;
  a.expanded_characters += text.size() + 1;
  a.expanded_lines += 1;
  if (a.expanded_characters > most_expanded_characters ||
      a.expanded_lines > a.options.max_expanded_lines) {
    if (!a.stopped)
      a.report.error(Code::TooManyLines, word, "the included texts are too long", {},
                     "split the kernel");
    a.stopped = true;
    return;
  }
  ++a.depth;
  a.open_files.push_back(*source);
  LineReader reader(text, *source);
  parse_lines(a, reader);
  a.open_files.pop_back();
  --a.depth;
}

}  // namespace gdr::assembly
