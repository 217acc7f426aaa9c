// The page of all diagnostics, generated from their table.
#pragma once

#include <span>
#include <string>

#include "emulator/assembler/diagnostic.hpp"

namespace gdr {

/// A chapter: the codes of one thousand.
struct DiagnosticGroup {
  unsigned thousands;
  const char* title;
};

/// The chapters of a page: every code with its meaning, an example and its first diagnostic, which
/// `provoke` computes.
std::string diagnostics_chapters(std::span<const DiagnosticGroup> groups,
                                 std::span<const DiagnosticInfo> table,
                                 Diagnostics (*provoke)(const DiagnosticInfo& info));

/// The text of docs/reference/assembler-diagnostics.md.
std::string diagnostics_page();

}  // namespace gdr
