// Reading source texts.
#pragma once

#include <optional>
#include <string>

namespace gdr::assembly {

/// The contents of a regular file of at most 1 GiB, or nothing.
std::optional<std::string> read_text(const std::string& path);

}  // namespace gdr::assembly
