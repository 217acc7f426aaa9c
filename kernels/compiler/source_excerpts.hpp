// Excerpts of a kernel's text, for comments in its assembly.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "kernels/compiler/compiler.hpp"

namespace gdr::kc {

/// The lines of the sources, which have to last.
class SourceExcerpts {
 public:
  explicit SourceExcerpts(std::span<const SourceText> sources);
  /// The characters of a range: one line, truncated; empty if the range is unknown.
  std::string at(const SourceRange& range) const;

 private:
  std::vector<std::vector<std::string_view>> lines_;  ///< lines of each source
};

}  // namespace gdr::kc
