// Collects the diagnostics of a kernel, without duplicates from unrolled loops.
#pragma once

#include <cstdint>
#include <set>
#include <string>
#include <tuple>
#include <vector>

#include "emulator/assembler/diagnostic.hpp"
#include "kernels/compiler/diagnostics/codes.hpp"

namespace gdr::kc::front {

/// The range from `first` to `last`, on the line of the first.
inline SourceRange joined(const SourceRange& first, const SourceRange& last) noexcept {
  SourceRange range = first;
  if (last.file == first.file && last.line == first.line && last.column_end > range.column_end)
    range.column_end = last.column_end;
  return range;
}

class Messages {
 public:
  explicit Messages(std::size_t max_kept) : max_kept_(max_kept) {}

  /// An active function call or loop iteration, for notes of errors inside it.
  struct Frame {
    SourceRange where;
    std::string text;  ///< "in `force`, called here"
  };
  std::vector<Frame> frames;

  /// Add an error. The reference is valid until the next one is added.
  Diagnostic& error(Code code, const SourceRange& where, std::string message,
                    std::string label = {}, std::string help = {});
  Diagnostic& warning(Code code, const SourceRange& where, std::string message,
                      std::string label = {}, std::string help = {});

  /// Whether errors are still stored; otherwise suggestions are not needed.
  bool below_limit() const noexcept { return errors_ < max_kept_; }
  std::size_t errors() const noexcept { return errors_; }
  /// All stored diagnostics, sorted by source range.
  std::vector<Diagnostic> release();

 private:
  Diagnostic& add(Code code, Severity severity, const SourceRange& where);

  std::size_t max_kept_;
  std::size_t errors_ = 0;
  std::size_t warnings_ = 0;
  std::set<std::tuple<std::uint16_t, std::uint32_t, std::uint32_t, std::uint32_t>> seen_;
  std::vector<Diagnostic> list_;
  Diagnostic spare_;  ///< receives diagnostics beyond the limit
};

}  // namespace gdr::kc::front
