// Front end of the kernel compiler: from source text to graph.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "emulator/assembler/diagnostic.hpp"
#include "kernels/compiler/graph.hpp"

namespace gdr::kc {

struct FrontOptions {
  std::vector<std::string>
      include_dirs;              ///< directories of includes, searched after the file's own
  std::size_t max_errors = 100;  ///< limit of errors, and of warnings
};

struct FrontResult {
  std::optional<Graph> graph;  ///< present if and only if there are no errors
  Diagnostics diagnostics;     ///< errors and warnings, in text order
};

/// Parse a kernel. `file_name` appears in messages, locates includes, and names a kernel without a
/// name. Throws std::bad_alloc only: errors are in the diagnostics. The language:
/// docs/reference/kernel-language.md.
FrontResult read_kernel(std::string_view text, const std::string& file_name,
                        const FrontOptions& options = {});

}  // namespace gdr::kc
