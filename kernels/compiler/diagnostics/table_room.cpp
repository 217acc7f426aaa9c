// Diagnostics 8xxx: what a kernel asks of the chip, and what the chip does not have.
#include "kernels/compiler/diagnostics/table.hpp"

namespace gdr::kc {
namespace {

constexpr DiagnosticInfo rows[] = {
    {number(Code::NoRegisters), "register file is full",
     "The results of one target stay in the register file all the time, two shorts for each VARF "
     "and one for each `short VARF`; temporaries can go to local memory, results cannot.",
     "VARI x; VARJ u; VARF f[80];\nfor k = 0 .. 79 { f[k] += k*u*x; }\n"},
    {number(Code::NoLocalMemory), "local memory is full",
     "Tables, lists, the inputs of a target and temporaries that find no register share the local "
     "memory of a PE. A table takes a power of two of elements.",
     "VARI x; VARJ int id; CONST table t[2000]; VARF f;\nf += x*t[id];\n"},
    {number(Code::NoMasks), "mask registers are full",
     "More conditions are needed at one time than there are mask registers. Work them out where "
     "they are used, or in numbers: `? :` with 0 and 1, and products.",
     "VARI x; VARJ u; VARF f;\ny = x;\nfor k = 1 .. 9 { y = u < k*x ? y*u : y; }\n"
     "for k = 1 .. 9 { y = u < k*x ? y + u : y; }\nf += y;\n"},
    {number(Code::ListTooLong), "list is too long",
     "A list has its place in local memory, for every target of a PE. What the message says is for "
     "one target a PE.",
     "VARI x; VARJ u; VARJ int id; VARF list near[700];\nif (u < x) { near append= id; }\n"},
    {number(Code::TooManyInstructions), "instruction memory is full",
     "The loops of a kernel are written out, so each turn takes instructions of its own.",
     "VARI x; VARJ u; VARF f;\ny = x;\nfor k = 1 .. 20000 {\n  y = y*u + k;\n}\nf += y;\n"},
    {number(Code::ItemTooLarge), "source is too large",
     "Half of the broadcast memory holds the variables of one source, besides what is the same for "
     "all of them.",
     "VARI x; VARJ u[2000]; VARF f;\nf += x*u[1999];\n"},
};

}  // namespace

std::span<const DiagnosticInfo> room_diagnostics() noexcept { return rows; }

}  // namespace gdr::kc
