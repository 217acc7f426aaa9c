#include "kernels/compiler/source_excerpts.hpp"

namespace gdr::kc {

SourceExcerpts::SourceExcerpts(std::span<const SourceText> sources) {
  for (const SourceText& source : sources) {
    std::vector<std::string_view>& lines = lines_.emplace_back();
    std::string_view text = source.text;
    for (std::size_t end = text.find('\n'); end != text.npos; end = text.find('\n')) {
      lines.push_back(text.substr(0, end));
      text.remove_prefix(end + 1);
    }
    lines.push_back(text);
  }
}

std::string SourceExcerpts::at(const SourceRange& range) const {
  if (range.line == 0 || range.file >= lines_.size() || range.line > lines_[range.file].size())
    return {};
  const std::string_view text = lines_[range.file][range.line - 1];
  if (range.column == 0 || range.column > text.size()) return {};
  constexpr std::size_t max_length = 28;
  std::string out(text.substr(range.column - 1, range.column_end - range.column));
  for (char& c : out)
    if (static_cast<unsigned char>(c) < ' ') c = ' ';
  if (out.size() > max_length) out = out.substr(0, max_length - 3) + "...";
  return out;
}

}  // namespace gdr::kc
