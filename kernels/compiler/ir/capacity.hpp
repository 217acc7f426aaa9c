// Errors of all phases after the front end: exceeded resources of the machine. Limits that no
// schedule can satisfy are found before the search.
#pragma once

#include <optional>
#include <string>
#include <utility>

#include "emulator/assembler/diagnostic.hpp"
#include "emulator/isa/geometry.hpp"
#include "kernels/compiler/diagnostics/table.hpp"
#include "kernels/compiler/ir/graph.hpp"
#include "kernels/compiler/ir/machine_ir.hpp"

namespace gdr::kc {

/// A resource of the machine is exceeded; reported like any other error of the kernel. `why` holds
/// the resource (message), the amount (label) and the responsible source range.
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

/// Throws CompileError if a kernel is far too large for the instruction memory, before lowering,
/// which would take long. An instruction holds one adder and one multiplier operation.
void check_instruction_count(const Graph& graph, const Geometry& geometry);

/// The memory that results, tables, lists and loop invariants exceed, if any.
std::optional<Diagnostic> exceeded_memory(const Graph& graph, const MachineLoop& loop,
                                          const Geometry& geometry);

/// Shorts of memory for temporaries. Vectors of two widths in one file fragment it.
unsigned capacity_for_items(const MachineLoop& loop, const Geometry& geometry);

}  // namespace gdr::kc
