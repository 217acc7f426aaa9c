// The front end: from the text of a kernel to its graph.
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
  std::vector<std::string> include_dirs;  ///< where `include` looks, after the file's own folder
  std::size_t max_errors = 100;           ///< errors kept, and warnings kept
};

struct FrontResult {
  std::optional<Graph> graph;  ///< there if, and only if, there was no error
  Diagnostics diagnostics;     ///< errors and warnings, in the order of the text
};

/// Read a kernel from its text; `file_name` stands in messages, is the place from which includes
/// are searched, and names the kernel that does not name itself. Throws nothing but std::bad_alloc:
/// what is wrong with the text is in the diagnostics. The language:
/// docs/reference/kernel-language.md.
FrontResult read_kernel(std::string_view text, const std::string& file_name,
                        const FrontOptions& options = {});

}  // namespace gdr::kc
