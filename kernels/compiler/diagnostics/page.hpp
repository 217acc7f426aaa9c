// The page of all diagnostics of the kernel language, made from their table.
#pragma once

#include <string>

#include "emulator/assembler/diagnostic.hpp"

namespace gdr::kc {

/// All that the example of a table's row provokes.
Diagnostics diagnostics_of_example(const DiagnosticInfo& info);

/// The text of docs/reference/kernel-diagnostics.md: every code with its meaning, an example and
/// what it prints.
std::string kernel_diagnostics_page();

}  // namespace gdr::kc
