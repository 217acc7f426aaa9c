// Text form of diagnostics: position, message, source line with caret range, notes and help.
#include <fmt/core.h>

#include <algorithm>

#include "emulator/assembler/diagnostic.hpp"
#include "emulator/assembler/printable.hpp"

namespace gdr {
namespace {

constexpr std::size_t max_line_width = 160;  // longer source lines are truncated

struct Colours {
  const char *bold = "", *error = "", *warning = "", *note = "", *off = "";
};
constexpr Colours without_colours{};
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

struct Excerpt {
  std::string text;    ///< printable, tabs as single blanks
  std::string carets;  ///< blanks and carets below the marked range
};

/// The printed part of a line around columns [from, to) (1-based bytes).
Excerpt excerpt_of(std::string_view line, std::size_t from, std::size_t to) {
  Excerpt out;
  std::size_t first = 0;
  if (line.size() > max_line_width && from > max_line_width / 2)
    first = from - 1 - max_line_width / 2;
  while (first > 0 && first < line.size() &&
         (static_cast<unsigned char>(line[first]) & 0xc0) == 0x80)
    --first;
  const std::size_t last = std::min(line.size(), first + max_line_width);
  if (first > 0) {
    out.text = "...";
    out.carets = "   ";
  }
  bool any = false;
  for (std::size_t i = first; i < last;) {
    const std::size_t length = visible_length(line, i);
    // One column per character, so that the carets are aligned.
    if (length > 0)
      out.text.append(line.substr(i, length));
    else
      out.text += line[i] == '\t' ? ' ' : '?';
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
  const std::string name =
      range.file < all.sources.size() ? printable(all.sources[range.file].name) : "?";
  if (range.line == 0) return name;  // concerns the text as a whole
  return fmt::format("{}:{}:{}", name, range.line, range.column);
}

}  // namespace

std::string Diagnostics::render(const Diagnostic& d, bool colour) const {
  const Colours& c = colour ? ansi : without_colours;
  const bool error = d.severity == Severity::Error;
  std::string out = fmt::format("{}{}:{} {}{}[GDR{}]:{} {}\n", c.bold, where(*this, d.range), c.off,
                                error ? c.error : c.warning, error ? "error" : "warning", d.code,
                                c.off, printable(d.message));
  if (d.range.file < sources.size() && d.range.line != 0) {
    const std::string_view line = line_of(sources[d.range.file].text, d.range.line);
    const Excerpt excerpt = excerpt_of(line, d.range.column, d.range.column_end);
    out += fmt::format("{:5} | {}\n", d.range.line, excerpt.text);
    out += fmt::format("      | {}{}{}{}{}\n", error ? c.error : c.warning, excerpt.carets,
                       d.label.empty() ? "" : " ", printable(d.label), c.off);
  }
  for (const DiagnosticNote& note : d.notes) {
    out += fmt::format("{}: {}note:{} {}\n", where(*this, note.range), c.note, c.off,
                       printable(note.message));
  }
  if (!d.help.empty()) out += fmt::format("   {}help:{} {}\n", c.note, c.off, printable(d.help));
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
