#include "kernels/compiler/diagnostic_examples.hpp"

#include "emulator/assembler/diagnostics/page.hpp"
#include "kernels/compiler/compiler.hpp"
#include "kernels/compiler/front/front.hpp"

namespace gdr::kc {
namespace {

constexpr DiagnosticGroup groups[] = {
    {6, "6xxx: text, statements, includes"},
    {7, "7xxx: semantics"},
    {8, "8xxx: capacity of the chip"},
};

}  // namespace

Diagnostics diagnostics_of_example(const DiagnosticInfo& info) {
  if (info.code < 8000) return read_kernel(info.example, "example.gdk").diagnostics;
  CompileOptions options;
  options.effort = 0;
  return compile_kernel(info.example, "example.gdk", options).diagnostics;
}

std::string kernel_diagnostics_page() {
  return "# Diagnostics of the kernel language\n\n"
         "Generated from the table in `kernels/compiler/diagnostics/`; do not edit. The tests "
         "compile every\nexample. "
         "Messages have the same format as those of the [assembler](assembler-diagnostics.md). "
         "Codes are stable.\n" +
         diagnostics_chapters(groups, kernel_diagnostic_table(), diagnostics_of_example);
}

}  // namespace gdr::kc
