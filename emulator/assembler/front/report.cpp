#include "emulator/assembler/front/report.hpp"

#include <algorithm>
#include <array>
#include <iterator>
#include <tuple>

namespace gdr::assembly {
namespace {

constexpr std::size_t max_word_length = 40;  // longer words get no suggestions
constexpr unsigned max_candidates = 20000;

/// Edit distance with transpositions (optimal string alignment).
unsigned distance(std::string_view a, std::string_view b) {
  std::array<std::array<unsigned, max_word_length + 1>, 3> rows{};
  for (unsigned j = 0; j <= b.size(); ++j) rows[0][j] = j;
  for (unsigned i = 1; i <= a.size(); ++i) {
    auto& row = rows[i % 3];
    const auto& above = rows[(i + 2) % 3];
    const auto& two_above = rows[(i + 1) % 3];
    row[0] = i;
    for (unsigned j = 1; j <= b.size(); ++j) {
      const unsigned change = above[j - 1] + (a[i - 1] == b[j - 1] ? 0 : 1);
      row[j] = std::min({above[j] + 1, row[j - 1] + 1, change});
      const bool swapped = i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1];
      if (swapped) row[j] = std::min(row[j], two_above[j - 2] + 1);
    }
  }
  return rows[a.size() % 3][b.size()];
}

}  // namespace

void Suggestion::consider(std::string_view candidate) {
  if (word_.size() > max_word_length || candidate.size() > max_word_length) return;
  if (++considered_ > max_candidates || candidate == word_) return;
  const std::size_t longer = std::max(word_.size(), candidate.size());
  const std::size_t shorter = std::min(word_.size(), candidate.size());
  const std::size_t limit = longer <= 4 ? 1 : longer <= 7 ? 2 : 3;
  if (longer - shorter > limit) return;
  const unsigned d = distance(word_, candidate);
  if (d <= limit && d < longer && d < distance_) {
    distance_ = d;
    best_ = candidate;
  }
}

std::string Suggestion::help() const {
  return best_.empty() ? std::string{} : "did you mean `" + std::string(best_) + "`?";
}

std::string in_quotes(std::string_view text) {
  constexpr std::size_t longest = 48;
  std::string out = "`";
  for (const char c : text.substr(0, longest)) {
    out += static_cast<unsigned char>(c) < ' ' || c == '\x7f' ? ' ' : c;
  }
  if (text.size() > longest) out += "...";
  return out + "`";
}

SourceSpan Report::span_of(Span span) const noexcept {
  if (line == nullptr) return {};
  const char* begin = std::clamp(span.begin, line->begin, line->end);
  const char* end = std::clamp(span.end, begin, line->end);
  const auto at = static_cast<std::uint32_t>(begin - line->begin);
  const auto length = static_cast<std::uint32_t>(end - begin);
  if (line->map.empty()) {
    const auto breaks = std::count(line->begin, begin, '\n');
    return {line->source, line->number + static_cast<std::uint32_t>(breaks), line->offset + at,
            length};
  }
  // The segment with the first character; the end may be in a later one.
  const auto after = [](std::uint32_t x, const Segment& s) { return x < s.at; };
  auto first = std::upper_bound(line->map.begin(), line->map.end(), at, after);
  if (first != line->map.begin()) --first;
  auto last = std::upper_bound(first, line->map.end(), length == 0 ? at : at + length - 1, after);
  if (last != first) --last;
  const auto source_of = [](const Segment& s, std::uint32_t x) {
    return s.copied ? s.source + (x - s.at) : s.source;
  };
  const std::uint32_t from = source_of(*first, at);
  std::uint32_t to = last->copied ? source_of(*last, at + length) : last->source + last->length;
  to = std::max(to, from);
  std::uint32_t number = line->number;
  if (line->source < sources_.size()) {
    const std::string& text = sources_[line->source].text;
    for (std::size_t i = line->offset; i < from && i < text.size(); ++i) number += text[i] == '\n';
  }
  return {line->source, number, from, to - from};
}

SourceRange Report::range(const SourceSpan& p) const noexcept {
  SourceRange range{p.source, p.line, 1, 1};
  if (p.source >= sources_.size()) return range;
  const std::string& text = sources_[p.source].text;
  const std::size_t offset = std::min<std::size_t>(p.offset, text.size());
  std::size_t start = offset;
  while (start > 0 && text[start - 1] != '\n') --start;
  std::size_t stop = offset;
  while (stop < text.size() && text[stop] != '\n' && stop - offset < p.length) ++stop;
  range.column = static_cast<std::uint32_t>(offset - start + 1);
  range.column_end = static_cast<std::uint32_t>(std::max(stop, offset + 1) - start + 1);
  return range;
}

void Report::add(Code code, Severity severity, const SourceSpan& where, std::string message,
                 std::string label, std::string help) {
  if (severity == Severity::Error) ++errors_;
  stored_ = below_limit();
  if (!stored_) return;
  list_.push_back({static_cast<std::uint16_t>(code),
                   severity,
                   range(where),
                   std::move(message),
                   std::move(label),
                   {},
                   std::move(help)});
  unsigned shown = 0;
  for (const Frame* f = frame; f != nullptr && shown < 4; f = f->parent, ++shown) {
    const std::string name(f->name);
    note(f->use, f->is_template
                     ? "in the template `" + name + "`, used here"
                     : "in this repeat, with " + name + " = " + std::to_string(f->value));
  }
}

bool Report::error(Code code, Span span, std::string message, std::string label, std::string help) {
  return error(code, span_of(span), std::move(message), std::move(label), std::move(help));
}

bool Report::error(Code code, const SourceSpan& where, std::string message, std::string label,
                   std::string help) {
  add(code, Severity::Error, where, std::move(message), std::move(label), std::move(help));
  return false;
}

void Report::warning(Code code, Span span, std::string message, std::string label,
                     std::string help) {
  add(code, Severity::Warning, span_of(span), std::move(message), std::move(label),
      std::move(help));
}

bool Report::note(const SourceSpan& where, std::string message) {
  if (stored_) list_.back().notes.push_back({range(where), std::move(message)});
  return false;
}

std::vector<Diagnostic> Report::release() {
  std::vector<Diagnostic> all(std::make_move_iterator(list_.begin()),
                              std::make_move_iterator(list_.end()));
  std::ranges::stable_sort(all, {}, [](const Diagnostic& d) {
    return std::tuple(d.range.file, d.range.line, d.range.column);
  });
  return all;
}

}  // namespace gdr::assembly
