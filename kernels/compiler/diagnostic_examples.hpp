// What the examples of the diagnostics provoke.
#pragma once

#include <string>

#include "kernels/compiler/diagnostics/table.hpp"

namespace gdr::kc {

/// All diagnostics of the example in a row of the table.
Diagnostics diagnostics_of_example(const DiagnosticInfo& info);

/// The text of docs/reference/kernel-diagnostics.md: every code with its meaning, an example and
/// the diagnostic that it provokes.
std::string kernel_diagnostics_page();

}  // namespace gdr::kc
