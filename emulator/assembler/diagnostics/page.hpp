// The page of all diagnostics, made from their table.
#pragma once

#include <string>

namespace gdr {

/// The text of docs/diagnostics.md: every code with its meaning, an example and what it prints.
std::string diagnostics_page();

}  // namespace gdr
