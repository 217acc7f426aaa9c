// JSON output of commands.
#pragma once

#include <nlohmann/json.hpp>

#include "libgdr/cli/output.hpp"

namespace gdr::cli {

/// Members keep the order in which they were added.
using Json = nlohmann::ordered_json;

/// Print an object or a list on standard output, indented.
inline void print_json(const Json& json) { write_output(json.dump(2) + "\n"); }

}  // namespace gdr::cli
