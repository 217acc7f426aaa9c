#include "emulator/assembler/front/lines.hpp"

#include <cstring>

namespace gdr::assembly {
namespace {

/// Whether the physical line is continued: it ends with `\` outside a comment.
bool continues(const char* begin, const char* end) noexcept {
  const char* last = end;
  while (last > begin && is_blank(last[-1])) --last;
  if (last == begin || last[-1] != '\\') return false;
  return comment_start(begin, last) == last;
}

}  // namespace

const char* comment_start(const char* begin, const char* end) noexcept {
  bool in_string = false;
  for (const char* p = begin; p < end; ++p) {
    if (in_string) {
      if (*p == '\\' && p + 1 < end)
        ++p;
      else if (*p == '"')
        in_string = false;
      continue;
    }
    if (*p == '"') in_string = true;
    if (*p == '#' || (*p == '/' && p + 1 < end && p[1] == '/')) return p;
  }
  return end;
}

bool LineReader::next_of_text(Line& line) {
  if (offset_ >= text_.size()) return false;
  const char* begin = text_.data() + offset_;
  const char* stop = text_.data() + text_.size();
  line.begin = begin;
  line.source = source_;
  line.offset = static_cast<std::uint32_t>(offset_);
  line.number = number_;
  line.map = {};
  const char* physical = begin;
  while (true) {
    const auto* feed = static_cast<const char*>(
        std::memchr(physical, '\n', static_cast<std::size_t>(stop - physical)));
    const char* end = feed == nullptr ? stop : feed;
    ++number_;
    if (feed == nullptr || !continues(physical, end) || feed + 1 == stop) {
      line.end = end;
      offset_ = static_cast<std::size_t>(end - text_.data()) + 1;
      return true;
    }
    physical = feed + 1;
  }
}

}  // namespace gdr::assembly
