// A resource of the machine is exceeded. Thrown by every phase after the front end and reported
// like any other error of the kernel.
#pragma once

#include <string>
#include <utility>

#include "emulator/assembler/diagnostic.hpp"
#include "kernels/compiler/diagnostics/table.hpp"

namespace gdr::kc {

/// The resource (`why.message`), the amount (`why.label`) and the responsible source range.
struct CompileError {
  Diagnostic why;
};

inline Diagnostic capacity_error(Code code, const SourceRange& where, std::string resource,
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
