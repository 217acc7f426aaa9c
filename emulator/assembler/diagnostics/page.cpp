#include "emulator/assembler/diagnostics/page.hpp"

#include <fmt/core.h>

#include "emulator/assembler/assembler.hpp"

namespace gdr {
namespace {

constexpr DiagnosticGroup groups[] = {
    {1, "1xxx: text, macros, expressions"}, {2, "2xxx: declarations and layout"},
    {3, "3xxx: instructions and operands"}, {4, "4xxx: ports and latency"},
    {5, "5xxx: limits of the machine"},
};

constexpr std::size_t max_shown = 1200;  // size of an example that is shown

Diagnostics diagnostics_of(const DiagnosticInfo& info) {
  AssembleOptions options;
  options.stall_is_error = true;
  return assemble(info.example, "example.gds", options).diagnostics;
}

}  // namespace

std::string diagnostics_chapters(std::span<const DiagnosticGroup> chapters,
                                 std::span<const DiagnosticInfo> table,
                                 Diagnostics (*provoke)(const DiagnosticInfo& info)) {
  std::string out;
  for (const DiagnosticGroup& group : chapters) {
    out += fmt::format("\n## {}\n", group.title);
    for (const DiagnosticInfo& info : table) {
      if (info.code / 1000 != group.thousands) continue;
      out += fmt::format("\n### GDR{}: {}\n\n{}\n", info.code, info.title, info.explanation);
      if (info.example.size() <= max_shown) out += fmt::format("\n```gdr\n{}```\n", info.example);
      const Diagnostics all = provoke(info);
      const std::string first = all.list.empty() ? std::string{} : all.render(all.list.front());
      out += fmt::format("\n```text\n{}```\n", first);
    }
  }
  return out;
}

std::string diagnostics_page() {
  return "# Diagnostics of the assembler\n\n"
         "Generated from the table in `emulator/assembler/diagnostics/`; do not edit. The tests "
         "assemble every\nexample. "
         "A message has the form `file:line:col: error[GDRnnnn]: what is wrong`,\n"
         "followed by the line with a caret range, notes about other places, and help. Codes are "
         "stable.\n" +
         diagnostics_chapters(groups, diagnostic_table(), diagnostics_of);
}

}  // namespace gdr
