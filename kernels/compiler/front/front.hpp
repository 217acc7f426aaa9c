// Front end of the kernel compiler: from source text to graph.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "emulator/assembler/diagnostic.hpp"
#include "kernels/compiler/ir/graph.hpp"

namespace gdr::kc {

struct FrontResult {
  std::optional<Graph> graph;  ///< present if and only if there are no errors
  Diagnostics diagnostics;     ///< errors and warnings, in text order
};

/// Parse a kernel. `file_name` appears in messages, locates includes, and names a kernel without a
/// name. Includes are also searched in `include_dirs`. `max_errors` limits the number of errors,
/// and of warnings. Throws std::bad_alloc only: errors are in the diagnostics. The language:
/// docs/reference/kernel-language.md.
FrontResult read_kernel(std::string_view text, const std::string& file_name,
                        const std::vector<std::string>& include_dirs = {},
                        std::size_t max_errors = 100);

/// The built-in functions of numbers, and their numbers of arguments.
std::vector<std::pair<std::string_view, std::size_t>> function_names();

}  // namespace gdr::kc
