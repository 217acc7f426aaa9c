#include "kernels/compiler/front/messages.hpp"

#include <algorithm>

namespace gdr::kc::front {

Message Messages::add(Code code, Severity severity, const SourceRange& where, std::string message) {
  if (!seen_.insert({code, where.file, where.line, where.column}).second) return none();
  const bool is_error = severity == Severity::Error;
  if (++(is_error ? errors_ : warnings_) > max_kept_) return none();
  Diagnostic& d = list_.emplace_back();
  d.code = number(code);
  d.severity = severity;
  d.range = where;
  d.message = std::move(message);
  constexpr std::ptrdiff_t max_notes = 4;
  if (is_error)
    d.notes.assign(frames.rbegin(), frames.rbegin() + std::min(std::ssize(frames), max_notes));
  return Message(d);
}

std::vector<Diagnostic> Messages::release() {
  std::ranges::stable_sort(list_, {}, [](const Diagnostic& d) {
    return std::tuple(d.range.file, d.range.line, d.range.column);
  });
  return std::move(list_);
}

}  // namespace gdr::kc::front
