#include "libgdr/dense/batch_kernel.hpp"

#include "gdr/error.hpp"
#include "kernels/builtin.hpp"

namespace gdr::dense {
namespace {

/// Replaces NUMBER in the line `begin NUMBER`.
void set_constant(std::string& text, const std::string& begin, std::size_t value) {
  const std::size_t line = text.find("\n" + begin + " ");
  if (line == std::string::npos)
    throw Error(ErrorCategory::Internal, "the batch kernel has no line \"" + begin + "\"");
  const std::size_t number = line + begin.size() + 2;
  text.replace(number, text.find('\n', number) - number, std::to_string(value));
}

}  // namespace

Kernel batch_kernel(std::string_view name,
                    std::initializer_list<std::pair<std::string_view, std::size_t>> constants,
                    std::size_t full, std::size_t words) {
  std::string text(dense_kernel(name));
  for (const auto& [constant, value] : constants)
    set_constant(text, "const " + std::string(constant) + " =", value);
  set_constant(text, "const full =", full);
  // Four problems in a PE keep its pipelines full; larger ones leave idle clocks.
  const std::size_t elements = 4 * words <= pe_words ? 4 : 2 * words <= pe_words ? 2 : 1;
  for (const char* const line : {"const elements =", ".elements", "vlen"})
    set_constant(text, line, elements);
  return Kernel::assemble(text, std::string(name) + ".gds");
}

}  // namespace gdr::dense
