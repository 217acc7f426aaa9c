#include "kernels/compiler/diagnostics/page.hpp"

#include "emulator/assembler/diagnostics/page.hpp"
#include "kernels/compiler/diagnostics/table.hpp"
#include "kernels/compiler/front/front.hpp"

namespace gdr::kc {
namespace {

constexpr DiagnosticGroup groups[] = {
    {6, "6xxx: text, statements, includes"},
    {7, "7xxx: meaning"},
};

}  // namespace

Diagnostics diagnostics_of_example(const DiagnosticInfo& info) {
  return read_kernel(info.example, "example.gdk").diagnostics;
}

std::string kernel_diagnostics_page() {
  return "# Diagnostics of the kernel language\n\n"
         "Made from the table in `kernels/compiler/diagnostics/`; the tests compile every "
         "example.\n"
         "The form is that of the [assembler's](diagnostics.md). Codes are stable.\n" +
         diagnostics_chapters(groups, kernel_diagnostic_table(), diagnostics_of_example);
}

}  // namespace gdr::kc
