// What the machine has no room for: thrown by everything behind the front end, and shown to the
// user like any other error of the kernel.
#pragma once

#include <string>
#include <utility>

#include "emulator/assembler/diagnostic.hpp"
#include "kernels/compiler/diagnostics/table.hpp"

namespace gdr::kc {

/// The resource (`why.message`), by how much (`why.label`), and the text that asks for it.
struct Refusal {
  Diagnostic why;
};

inline Diagnostic shortage(Code code, const SourceRange& where, std::string resource,
                           std::string amount, std::string help = {}) {
  Diagnostic d;
  d.code = number(code);
  d.range = where;
  d.message = std::move(resource);
  d.label = std::move(amount);
  d.help = std::move(help);
  return d;
}

}  // namespace gdr::kc
