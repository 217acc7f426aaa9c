// Diagnostics 7xxx: what a kernel says, and what it cannot mean.
#include <vector>

#include "kernels/compiler/diagnostics/table.hpp"

namespace gdr::kc {
namespace {

constexpr DiagnosticInfo rows[] = {
    {number(Code::NameTaken), "name is taken",
     "A name is declared twice, or declared after it was used. An array `x[2]` takes the names "
     "`x_0` and `x_1` of the interface as well.",
     "VARI x;\nVARJ x;\n"},
    {number(Code::UnknownName), "unknown name",
     "A name that nothing declares or assigns. Inside a function the temporaries of the kernel are "
     "not known: pass them as arguments.",
     "VARI xi; VARJ xj; VARF f;\nf += xj - xl;\n"},
    {number(Code::NotAssigned), "read before it is assigned",
     "A temporary is read above its first assignment. Statements count in the order of the text.",
     "VARI x; VARF f;\nf += y;\ny = x*x;\n"},
    {number(Code::PartlyAssigned), "assigned under a condition only",
     "A temporary got a value in one branch of an `if`, and is read where that branch may not have "
     "been taken.",
     "VARI x; VARF f;\nif (x > 0) { y = x; }\nf += y;\n"},
    {number(Code::ResultRead), "result is read",
     "A VARF sums over all sources, and its value is not known before the last of them; so is a "
     "list. What one pair gives is kept in a temporary.",
     "VARI x; VARF f, g;\nf += x;\ng += 2*f;\n"},
    {number(Code::ResultAssigned), "result is set",
     "A VARF is added to, by `+=`, `-=`, `min=` or `max=`, and never set: it begins as zero (as "
     "the largest or smallest number for min= and max=). A function contributes to no result.",
     "VARI x; VARF f;\nf = x*x;\n"},
    {number(Code::CannotAssign), "cannot be assigned",
     "Inputs, constants and the names of loops are read only; only a CONST is declared with a "
     "value.",
     "VARI x; VARF f;\nx = 2*x;\nf += x;\n"},
    {number(Code::NotAResult), "no result to join",
     "`min=` and `max=` keep the smallest and the largest contribution to a VARF. For a temporary "
     "there are the functions `min` and `max`.",
     "VARI x; VARF f;\nsmallest min= x;\nf += x;\n"},
    {number(Code::JoinMixed), "result joined in two ways",
     "All contributions to a result are joined in the same way: summed (`+=` and `-=`), or the "
     "smallest kept, or the largest; and the same index goes with all of them.",
     "VARI x; VARF f;\nf += x;\nf max= 2*x;\n"},
    {number(Code::BadPayload), "index of a minimum or maximum goes wrong",
     "The index in `r min= expression : name = index` goes to a result that was declared with "
     "`VARF int`, and receives nothing else.",
     "VARI x; VARJ int id; VARF r, n;\nr min= x : n = id;\n"},
    {number(Code::UnknownFunction), "unknown function",
     "There is neither a function of the language nor one of the kernel with this name.",
     "VARI x; VARF f;\nf += sqr(x);\n"},
    {number(Code::ArgumentCount), "wrong number of arguments",
     "A function is called with as many arguments as it has parameters.",
     "VARI x; VARF f;\nf += max(x);\n"},
    {number(Code::Recursion), "function calls itself",
     "A function is put in the place of its call, so it cannot call itself, directly or through "
     "others.",
     "VARI x; VARF f;\nfunction g(y) { return y*g(y - 1); }\nf += g(x);\n"},
    {number(Code::ReturnMissing), "function returns nothing",
     "The last statement of a function is `return expression;`, outside of its inner braces.",
     "function g(y) { z = 2*y; }\n"},
    {number(Code::NameReserved), "name of a function of the language",
     "A function of the kernel has the name of one of the language.",
     "function sqrt(x) { return x; }\n"},
    {number(Code::WrongType), "number, int or condition in the wrong place",
     "Conditions are not calculated with, numbers are no conditions, and ints are only added, "
     "subtracted, compared and multiplied by constants.",
     "VARI x; VARF f;\nf += 2*(x > 0);\n"},
    {number(Code::IntegerNeeded), "int needed",
     "A number stands where an int is needed: an index, a size, the bounds of a loop, an int that "
     "is declared. Numbers do not become ints.",
     "VARI x; VARF f;\nint n = x;\nf += n;\n"},
    {number(Code::ConstantNeeded), "constant needed",
     "The index of an array, a size, an exponent, a bound of a loop and the value of a CONST are "
     "known to the compiler. Only a table is indexed by what the chip computes.",
     "VARI x[3]; VARJ int n; VARF f;\nf += x[n];\n"},
    {number(Code::NoValue), "constant has no usable value",
     "A constant is infinite or not a number, or an int has more than 36 bits.",
     "VARI x; VARF f;\nf += x*(1/0);\n"},
    {number(Code::IndexRange), "index out of range", "Indices run from 0 to the size less one.",
     "VARI x[3]; VARF f;\nf += x[3];\n"},
    {number(Code::IndexCount), "wrong number of indices",
     "An array is used with as many indices as it was declared with, and everything else with "
     "none.",
     "VARI x[3]; VARF f;\nf += x;\n"},
    {number(Code::BadSize), "array cannot be like this",
     "An array has 1 to 65536 elements, a table has a size, a list a single capacity, and none of "
     "them is declared with a value.",
     "VARI x[0];\n"},
    {number(Code::TypeNotPossible), "type not possible",
     "Inputs and results are long, short or int; only a CONST can be a table, and only a VARF a "
     "list, "
     "of ints.",
     "VARI bool inside;\n"},
    {number(Code::BadStep), "loop without end", "The step of a loop is not zero.",
     "VARI x; VARF f;\nfor k = 0 .. 2 step 0 { f += x; }\n"},
    {number(Code::BadExponent), "exponent not possible",
     "Exponents are integers and halves of integers from -64 to 64. Others are made of `exp`.",
     "VARI x; VARF f;\nf += pow(x, 0.3);\n"},
    {number(Code::TooLarge), "kernel too large",
     "Loops and functions give more than 100000 statements or a million operations, or the text "
     "has more than 1 MiB. No kernel of such a size fits the chip.",
     "VARI x; VARF f;\nfor k = 1 .. 1000000 { f += x; }\n"},
    {number(Code::SettingTwice), "said twice",
     "`kernel`, `flops` and `precision` stand in a kernel once.", "flops 20;\nflops 30;\n"},
    {number(Code::SettingLate), "setting stands too late",
     "`precision` stands before the first assignment, because it holds for all of them.",
     "VARI x; VARF f;\nf += x;\nprecision long;\n"},
    {number(Code::NoResult), "kernel without a result",
     "A kernel declares at least one VARF: otherwise there is nothing to compute.",
     "VARI x;\ny = 2*x;\n"},
    {number(Code::NotAList), "no list to append to",
     "`append=` puts an int at the end of a list, which is declared with its capacity by `VARF "
     "list`.",
     "VARI x; VARJ int id; VARF int near;\nif (x > 0) { near append= id; }\n"},
    {number(Code::ListAppended), "list is not appended to",
     "Nothing but `append=` changes a list, and not inside a function: it begins empty, and the "
     "host gets how many ints were appended and the first of them.",
     "VARI x; VARJ int id; VARF list near[8];\nif (x > 0) { near += id; }\n"},
};

constexpr DiagnosticInfo warnings[] = {
    {number(Code::UnusedInput), "unused input",
     "An input is declared and never read. It takes time to send it, and memory on the chip.",
     "VARI x, y; VARF f;\nf += x;\n"},
    {number(Code::UnusedValue), "unused value",
     "Nothing reads what is assigned here, perhaps because it is overwritten first. No clock is "
     "spent on it.",
     "VARI x; VARF f;\ny = 2*x;\ny = 3*x;\nf += y;\n"},
    {number(Code::EmptyResult), "result without a contribution",
     "A VARF is declared and nothing is ever added to it.", "VARI x; VARF f, g;\nf += x;\n"},
    {number(Code::TooSmall), "number too small",
     "A number of the text is so small that the machine has none but zero for it: below 2^-1022, "
     "about 2.2e-308.",
     "VARI x; VARF f;\nf += 1e-310*x;\n"},
};

}  // namespace

std::span<const DiagnosticInfo> meaning_diagnostics() noexcept { return rows; }
std::span<const DiagnosticInfo> unused_diagnostics() noexcept { return warnings; }

std::span<const DiagnosticInfo> kernel_diagnostic_table() noexcept {
  static const std::vector<DiagnosticInfo> all = [] {
    std::vector<DiagnosticInfo> parts;
    for (const auto part :
         {syntax_diagnostics(), meaning_diagnostics(), unused_diagnostics(), room_diagnostics()})
      parts.insert(parts.end(), part.begin(), part.end());
    return parts;
  }();
  return all;
}

}  // namespace gdr::kc
