// Diagnostics as text: place, message, the source line with a caret range, notes and help.
#include <fmt/core.h>

#include <algorithm>

#include "emulator/assembler/diagnostic.hpp"

namespace gdr {
namespace {

constexpr std::size_t widest_line = 160;  // longer source lines are shown in part

struct Colours {
  const char *bold = "", *error = "", *warning = "", *note = "", *off = "";
};
constexpr Colours plain{};
constexpr Colours ansi{"\x1b[1m", "\x1b[1;31m", "\x1b[1;35m", "\x1b[1;36m", "\x1b[0m"};

/// A line of a text, without its line feed.
std::string_view line_of(const std::string& text, std::uint32_t number) noexcept {
  std::size_t begin = 0;
  for (std::uint32_t i = 1; i < number; ++i) {
    begin = text.find('\n', begin);
    if (begin == std::string::npos) return {};
    ++begin;
  }
  const std::size_t end = std::min(text.find('\n', begin), text.size());
  std::string_view line(text.data() + begin, end - begin);
  if (!line.empty() && line.back() == '\r') line.remove_suffix(1);
  return line;
}

/// Length of a valid UTF-8 sequence at `at`, or 0.
std::size_t utf8_length(std::string_view text, std::size_t at) noexcept {
  const auto lead = static_cast<unsigned char>(text[at]);
  const std::size_t length = lead < 0x80                   ? 1
                             : lead >= 0xc2 && lead < 0xe0 ? 2
                             : lead >= 0xe0 && lead < 0xf0 ? 3
                             : lead >= 0xf0 && lead < 0xf5 ? 4
                                                           : 0;
  if (length == 0 || at + length > text.size()) return 0;
  for (std::size_t i = 1; i < length; ++i) {
    if ((static_cast<unsigned char>(text[at + i]) & 0xc0) != 0x80) return 0;
  }
  const auto second = length > 1 ? static_cast<unsigned char>(text[at + 1]) : 0;
  const bool overlong = (lead == 0xe0 && second < 0xa0) || (lead == 0xf0 && second < 0x90);
  const bool surrogate = lead == 0xed && second >= 0xa0;
  const bool beyond = lead == 0xf4 && second >= 0x90;
  return overlong || surrogate || beyond ? 0 : length;
}

struct Excerpt {
  std::string text;    ///< printable, tabs as single blanks
  std::string carets;  ///< blanks and the caret range below it
};

/// The part of a line around columns [from, to) (1-based bytes) as it is printed.
Excerpt excerpt_of(std::string_view line, std::size_t from, std::size_t to) {
  Excerpt out;
  std::size_t first = 0;
  if (line.size() > widest_line && from > widest_line / 2) first = from - 1 - widest_line / 2;
  while (first > 0 && first < line.size() &&
         (static_cast<unsigned char>(line[first]) & 0xc0) == 0x80)
    --first;
  const std::size_t last = std::min(line.size(), first + widest_line);
  if (first > 0) {
    out.text = "...";
    out.carets = "   ";
  }
  bool any = false;
  for (std::size_t i = first; i < last;) {
    const std::size_t length = utf8_length(line, i);
    const auto c = static_cast<unsigned char>(line[i]);
    const bool visible = length > 1 || (length == 1 && c >= ' ' && c != 0x7f);
    if (visible)
      out.text.append(line.substr(i, length));
    else
      out.text += c == '\t' ? ' ' : '?';
    const bool marked = i + 1 >= from && i + 1 < to;
    out.carets += marked ? (any ? '~' : '^') : (any ? '\0' : ' ');
    any = any || marked;
    i += std::max<std::size_t>(length, 1);
  }
  out.carets.erase(std::remove(out.carets.begin(), out.carets.end(), '\0'), out.carets.end());
  if (last < line.size()) out.text += "...";
  if (!any) out.carets += '^';
  return out;
}

std::string where(const Diagnostics& all, const SourceRange& range) {
  const std::string name = range.file < all.sources.size() ? all.sources[range.file].name : "?";
  if (range.line == 0) return name;  // of the text as a whole
  return fmt::format("{}:{}:{}", name, range.line, range.column);
}

}  // namespace

std::string Diagnostics::render(const Diagnostic& d, bool colour) const {
  const Colours& c = colour ? ansi : plain;
  const bool error = d.severity == Severity::Error;
  std::string out = fmt::format("{}{}:{} {}{}[GDR{}]:{} {}\n", c.bold, where(*this, d.range), c.off,
                                error ? c.error : c.warning, error ? "error" : "warning", d.code,
                                c.off, d.message);
  if (d.range.file < sources.size() && d.range.line != 0) {
    const std::string_view line = line_of(sources[d.range.file].text, d.range.line);
    const Excerpt excerpt = excerpt_of(line, d.range.column, d.range.column_end);
    out += fmt::format("{:5} | {}\n", d.range.line, excerpt.text);
    out += fmt::format("      | {}{}{}{}{}\n", error ? c.error : c.warning, excerpt.carets,
                       d.label.empty() ? "" : " ", d.label, c.off);
  }
  for (const DiagnosticNote& note : d.notes) {
    out += fmt::format("{}: {}note:{} {}\n", where(*this, note.range), c.note, c.off, note.message);
  }
  if (!d.help.empty()) out += fmt::format("   {}help:{} {}\n", c.note, c.off, d.help);
  return out;
}

std::string Diagnostics::render(bool colour) const {
  std::string out;
  std::size_t errors = 0;
  for (const Diagnostic& d : list) {
    out += render(d, colour);
    errors += d.severity == Severity::Error ? 1 : 0;
  }
  if (errors < error_count) out += fmt::format("... and {} more errors\n", error_count - errors);
  return out;
}

}  // namespace gdr
