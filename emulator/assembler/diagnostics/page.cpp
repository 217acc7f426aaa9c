#include "emulator/assembler/diagnostics/page.hpp"

#include <fmt/format.h>

#include "emulator/assembler/assembler.hpp"

namespace gdr {
namespace {

struct Group {
  unsigned thousands;
  const char* title;
};
constexpr Group groups[] = {
    {1, "1xxx: text, macros, expressions"}, {2, "2xxx: declarations and layout"},
    {3, "3xxx: instructions and operands"}, {4, "4xxx: ports and time"},
    {5, "5xxx: limits of the machine"},
};

constexpr std::size_t longest_shown = 1200;  // of an example that is long by its nature

/// What an example prints first.
std::string first_diagnostic(const DiagnosticInfo& info) {
  AssembleOptions options;
  options.stall_is_error = true;
  const AssembleResult result = assemble(info.example, "example.gds", options);
  return result.diagnostics.list.empty()
             ? std::string{}
             : result.diagnostics.render(result.diagnostics.list.front());
}

}  // namespace

std::string diagnostics_page() {
  std::string out =
      "# Diagnostics of the assembler\n\n"
      "Made from the table in `emulator/assembler/diagnostics/`; the tests assemble every "
      "example.\n"
      "A message reads `file:line:col: error[GDRnnnn]: what is wrong`, with the line, a caret "
      "range, notes\n"
      "that point at other places and, where there is one, what to do. Codes are stable.\n";
  for (const Group& group : groups) {
    out += fmt::format("\n## {}\n", group.title);
    for (const DiagnosticInfo& info : diagnostic_table()) {
      if (info.code / 1000 != group.thousands) continue;
      out += fmt::format("\n### GDR{}: {}\n\n{}\n", info.code, info.title, info.explanation);
      if (info.example.size() <= longest_shown)
        out += fmt::format("\n```gdr\n{}```\n", info.example);
      out += fmt::format("\n```text\n{}```\n", first_diagnostic(info));
    }
  }
  return out;
}

}  // namespace gdr
