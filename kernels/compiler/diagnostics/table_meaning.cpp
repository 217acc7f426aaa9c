// Diagnostics 7xxx: what a kernel says, and what it cannot mean.
#include <vector>

#include "kernels/compiler/diagnostics/table.hpp"

namespace gdr::kc {
namespace {

constexpr DiagnosticInfo rows[] = {
    {number(Code::NameTaken), "name already declared",
     "A name is declared twice, or declared after its first use. An array `x[2]` also declares the "
     "names `x_0` and `x_1` of the host interface.",
     "VARI x;\nVARJ x;\n"},
    {number(Code::UnknownName), "unknown name",
     "The name is neither declared nor assigned. A function does not see the temporaries of the "
     "kernel: pass them as arguments.",
     "VARI xi; VARJ xj; VARF f;\nf += xj - xl;\n"},
    {number(Code::NotAssigned), "read before assignment",
     "A temporary is read before its first assignment. Statements execute in text order.",
     "VARI x; VARF f;\nf += y;\ny = x*x;\n"},
    {number(Code::PartlyAssigned), "assigned under a condition only",
     "A temporary is assigned in one branch of an `if` only, and read where the other branch may "
     "have been taken.",
     "VARI x; VARF f;\nif (x > 0) { y = x; }\nf += y;\n"},
    {number(Code::ResultRead), "result is read",
     "A VARF is a sum over all sources, so it has no value inside the loop; the same holds for a "
     "list. Use a temporary for the contribution of one pair.",
     "VARI x; VARF f, g;\nf += x;\ng += 2*f;\n"},
    {number(Code::ResultAssigned), "result is assigned",
     "A VARF can only be updated by `+=`, `-=`, `min=` or `max=`; it starts as zero (for min= and "
     "max= as the largest or smallest number). A function cannot contribute to a result.",
     "VARI x; VARF f;\nf = x*x;\n"},
    {number(Code::CannotAssign), "cannot be assigned",
     "Inputs, constants and loop variables are read-only; only a CONST can be declared with a "
     "value.",
     "VARI x; VARF f;\nx = 2*x;\nf += x;\n"},
    {number(Code::NotAResult), "reduction of a temporary",
     "`min=` and `max=` update a VARF with the smallest or largest contribution. For temporaries "
     "use the functions `min` and `max`.",
     "VARI x; VARF f;\nsmallest min= x;\nf += x;\n"},
    {number(Code::ReductionMixed), "different reductions of one result",
     "All contributions to a result use the same reduction: a sum (`+=` and `-=`), the minimum, or "
     "the maximum; and the same index.",
     "VARI x; VARF f;\nf += x;\nf max= 2*x;\n"},
    {number(Code::BadPayload), "invalid index of a minimum or maximum",
     "The index in `r min= expression : name = index` is stored in a result that is declared with "
     "`VARF int` and has no other contribution.",
     "VARI x; VARJ int id; VARF r, n;\nr min= x : n = id;\n"},
    {number(Code::UnknownFunction), "unknown function",
     "The function is neither built in nor defined in the kernel.",
     "VARI x; VARF f;\nf += sqr(x);\n"},
    {number(Code::ArgumentCount), "wrong number of arguments",
     "The number of arguments of a call differs from the number of parameters.",
     "VARI x; VARF f;\nf += max(x);\n"},
    {number(Code::Recursion), "recursive function",
     "Functions are inlined, so they cannot call themselves, directly or through other functions.",
     "VARI x; VARF f;\nfunction g(y) { return y*g(y - 1); }\nf += g(x);\n"},
    {number(Code::ReturnMissing), "function without return",
     "The last statement of a function must be `return expression;`, outside of inner blocks.",
     "function g(y) { z = 2*y; }\n"},
    {number(Code::NameReserved), "name of a built-in function",
     "A function of the kernel has the name of a built-in function.",
     "function sqrt(x) { return x; }\n"},
    {number(Code::WrongType), "wrong type",
     "Conditions cannot be used in arithmetic, numbers cannot be used as conditions, and ints can "
     "only be added, subtracted, compared and multiplied by constants.",
     "VARI x; VARF f;\nf += 2*(x > 0);\n"},
    {number(Code::IntegerNeeded), "int required",
     "An index, a size, a loop bound or the value of an int must be an int. Numbers are not "
     "converted to ints.",
     "VARI x; VARF f;\nint n = x;\nf += n;\n"},
    {number(Code::ConstantNeeded), "constant required",
     "The index of an array, a size, an exponent, a loop bound and the value of a CONST must be "
     "known at compile time. Only a table can be indexed by a computed value.",
     "VARI x[3]; VARJ int n; VARF f;\nf += x[n];\n"},
    {number(Code::NoValue), "invalid constant",
     "A constant is infinite or not a number, or an int needs more than 36 bits.",
     "VARI x; VARF f;\nf += x*(1/0);\n"},
    {number(Code::IndexRange), "index out of range", "Indices run from 0 to the size minus one.",
     "VARI x[3]; VARF f;\nf += x[3];\n"},
    {number(Code::IndexCount), "wrong number of indices",
     "An array needs as many indices as it was declared with; other names take none.",
     "VARI x[3]; VARF f;\nf += x;\n"},
    {number(Code::BadSize), "invalid array declaration",
     "An array has 1 to 65536 elements, a table has a size, a list has one capacity, and none of "
     "them can be declared with a value.",
     "VARI x[0];\n"},
    {number(Code::TypeNotPossible), "invalid type",
     "Inputs and results are long, short or int; only a CONST can be a table, and only a VARF can "
     "be a list, of ints.",
     "VARI bool inside;\n"},
    {number(Code::BadStep), "endless loop", "The step of a loop must not be zero.",
     "VARI x; VARF f;\nfor k = 0 .. 2 step 0 { f += x; }\n"},
    {number(Code::BadExponent), "invalid exponent",
     "Exponents are multiples of 1/2 from -64 to 64. Use `exp` for others.",
     "VARI x; VARF f;\nf += pow(x, 0.3);\n"},
    {number(Code::TooLarge), "kernel too large",
     "Loops and functions expand to more than 100000 statements or a million operations, or the "
     "text has more than 1 MiB.",
     "VARI x; VARF f;\nfor k = 1 .. 1000000 { f += x; }\n"},
    {number(Code::SettingTwice), "duplicate setting",
     "`kernel`, `flops` and `precision` can be given once.", "flops 20;\nflops 30;\n"},
    {number(Code::SettingLate), "setting too late",
     "`precision` must precede the first assignment.",
     "VARI x; VARF f;\nf += x;\nprecision long;\n"},
    {number(Code::NoResult), "kernel without a result", "A kernel must declare at least one VARF.",
     "VARI x;\ny = 2*x;\n"},
    {number(Code::NotAList), "append to something other than a list",
     "`append=` appends an int to a list, which is declared with its capacity by `VARF list`.",
     "VARI x; VARJ int id; VARF int near;\nif (x > 0) { near append= id; }\n"},
    {number(Code::ListAppended), "invalid use of a list",
     "A list can only be updated by `append=`, and not in a function. It starts empty; the host "
     "reads the number of appended ints and the first of them.",
     "VARI x; VARJ int id; VARF list near[8];\nif (x > 0) { near += id; }\n"},
};

constexpr DiagnosticInfo warnings[] = {
    {number(Code::UnusedInput), "unused input",
     "An input is declared but not used. It still takes transfer time and memory on the chip.",
     "VARI x, y; VARF f;\nf += x;\n"},
    {number(Code::UnusedValue), "unused value",
     "An assigned value is not used, for example because it is overwritten. It is not computed.",
     "VARI x; VARF f;\ny = 2*x;\ny = 3*x;\nf += y;\n"},
    {number(Code::EmptyResult), "result without a contribution",
     "A VARF is declared but has no contribution.", "VARI x; VARF f, g;\nf += x;\n"},
    {number(Code::TooSmall), "number too small",
     "The magnitude of a number is below 2^-1022 (about 2.2e-308), the smallest normal number of "
     "the machine; it becomes zero.",
     "VARI x; VARF f;\nf += 1e-310*x;\n"},
};

}  // namespace

std::span<const DiagnosticInfo> meaning_diagnostics() noexcept { return rows; }
std::span<const DiagnosticInfo> unused_diagnostics() noexcept { return warnings; }

std::span<const DiagnosticInfo> kernel_diagnostic_table() noexcept {
  static const std::vector<DiagnosticInfo> all = [] {
    std::vector<DiagnosticInfo> parts;
    for (const auto part : {syntax_diagnostics(), meaning_diagnostics(), unused_diagnostics(),
                            capacity_diagnostics()})
      parts.insert(parts.end(), part.begin(), part.end());
    return parts;
  }();
  return all;
}

}  // namespace gdr::kc
