// Diagnostics 8xxx: what a kernel asks of the chip, and what the chip does not have.
#include "kernels/compiler/diagnostics/table.hpp"

namespace gdr::kc {
namespace {

constexpr DiagnosticInfo rows[] = {
    {number(Code::NoRegisters), "register file is full",
     "The results of a target stay in the register file during the loop: two shorts for each VARF "
     "and one for each `short VARF`. Temporaries can be spilled to local memory, results cannot.",
     "VARI x; VARJ u; VARF f[80];\nfor k = 0 .. 79 { f[k] += k*u*x; }\n"},
    {number(Code::NoLocalMemory), "local memory is full",
     "Tables, lists, the inputs of a target and spilled temporaries share the local memory of a "
     "PE. The size of a table is rounded up to a power of two.",
     "VARI x; VARJ int id; CONST table t[2000]; VARF f;\nf += x*t[id];\n"},
    {number(Code::NoMasks), "mask registers are full",
     "More conditions are live at one time than there are mask registers. Evaluate conditions "
     "where they are used, or replace them by arithmetic: `? :` with 0 and 1, and products.",
     "VARI x; VARJ u; VARF f;\ny = x;\nfor k = 1 .. 9 { y = u < k*x ? y*u : y; }\n"
     "for k = 1 .. 9 { y = u < k*x ? y + u : y; }\nf += y;\n"},
    {number(Code::ListTooLong), "list is too long",
     "A list is stored in local memory for every target of a PE. The message gives the largest "
     "capacity with one target per PE.",
     "VARI x; VARJ u; VARJ int id; VARF list near[700];\nif (u < x) { near append= id; }\n"},
    {number(Code::TooManyInstructions), "instruction memory is full",
     "The loops of a kernel are unrolled, so each iteration takes its own instructions.",
     "VARI x; VARJ u; VARF f;\ny = x;\nfor k = 1 .. 20000 {\n  y = y*u + k;\n}\nf += y;\n"},
    {number(Code::ItemTooLarge), "source is too large",
     "The variables of one source must fit into half of the broadcast memory, beside the "
     "parameters.",
     "VARI x; VARJ u[2000]; VARF f;\nf += x*u[1999];\n"},
};

}  // namespace

std::span<const DiagnosticInfo> capacity_diagnostics() noexcept { return rows; }

}  // namespace gdr::kc
