#include "kernels/compiler/front/messages.hpp"

#include <algorithm>

namespace gdr::kc::front {

Diagnostic& Messages::add(Code code, Severity severity, const SourceRange& where) {
  spare_ = {};
  const auto number = static_cast<std::uint16_t>(code);
  if (!seen_.insert({number, where.file, where.line, where.column}).second) return spare_;
  const bool is_error = severity == Severity::Error;
  std::size_t& count = is_error ? errors_ : warnings_;
  if (++count > max_kept_) return spare_;
  Diagnostic& d = list_.emplace_back();
  d.code = number;
  d.severity = severity;
  d.range = where;
  constexpr std::size_t max_notes = 4;
  const std::size_t shown = is_error ? std::min(frames.size(), max_notes) : 0;
  for (std::size_t i = 0; i < shown; ++i) {
    const Frame& frame = frames[frames.size() - 1 - i];
    d.notes.push_back({frame.where, frame.text});
  }
  return d;
}

Diagnostic& Messages::error(Code code, const SourceRange& where, std::string message,
                            std::string label, std::string help) {
  Diagnostic& d = add(code, Severity::Error, where);
  d.message = std::move(message);
  d.label = std::move(label);
  d.help = std::move(help);
  return d;
}

Diagnostic& Messages::warning(Code code, const SourceRange& where, std::string message,
                              std::string label, std::string help) {
  Diagnostic& d = add(code, Severity::Warning, where);
  d.message = std::move(message);
  d.label = std::move(label);
  d.help = std::move(help);
  return d;
}

std::vector<Diagnostic> Messages::release() {
  std::stable_sort(list_.begin(), list_.end(), [](const Diagnostic& a, const Diagnostic& b) {
    return std::tie(a.range.file, a.range.line, a.range.column) <
           std::tie(b.range.file, b.range.line, b.range.column);
  });
  return std::move(list_);
}

}  // namespace gdr::kc::front
