#include "kernels/compiler/diagnostics/table.hpp"

#include <string>

namespace gdr::kc {
namespace {

/// More signs in front of each other than an expression can have.
const std::string deep = "t = " + std::string(201, '-') + "1;";

/// By code. The examples are kernels, in a file `example.gdk`.
const DiagnosticInfo rows[] = {
    // 6xxx: characters, literals, statements, includes
    {number(Code::UnexpectedCharacter), "unexpected character",
     "A character that is not part of the language. Comments begin with `//` or are enclosed in "
     "`/*` and `*/`; logical and, or and not are `&&`, `||` and `!`; a power is `x^2`.",
     "VARI x; VARF f;\nf += x @ 2;\n"},
    {number(Code::BadNumber), "malformed number",
     "A number is not valid in C: an exponent without digits, letters in a decimal number, or an 8 "
     "in an octal number.",
     "VARI x; VARF f;\nf += 1.5e*x;\n"},
    {number(Code::BadString), "malformed string",
     "The file name of an include is enclosed in double quotes, on one line.",
     "include \"forces.gdk;\n"},
    {number(Code::CommentNotClosed), "comment not closed",
     "A `/*` has no `*/`. Comments cannot be nested.", "VARI x; VARF f;\nf += x; /* the rest\n"},
    {number(Code::SymbolExpected), "symbol expected",
     "A `;`, comma, parenthesis, bracket or brace is missing. Every statement ends with `;`, "
     "except declarations that begin with `/`, which end with their line.",
     "VARI x; VARF f;\ny = x*x\nf += y;\n"},
    {number(Code::StatementExpected), "statement expected",
     "The text is not a statement. A statement is a declaration, `name = expression;` (also `+=`, "
     "`-=`, and for results `min=`, `max=` and `append=`), `if`, `for`, `skip if`, a setting, a "
     "function or an include.",
     "VARI x; VARF f;\nf + x;\n"},
    {number(Code::NameExpected), "name expected",
     "A name is missing, or an array is named where a single value is needed. Names consist of "
     "letters, digits and `_`; CONST, VARI, VARJ and VARF are reserved.",
     "VARI x, ;\n"},
    {number(Code::ExpressionExpected), "expression expected",
     "A number, a name, a function call or a parenthesised expression is missing.",
     "VARI x; VARF f;\nf += x*;\n"},
    {number(Code::BlockNotClosed), "block not closed", "A `{` has no `}`.",
     "VARI x; VARF f;\nif (x > 0) {\n  f += x;\n"},
    {number(Code::NestedTooDeeply), "nested too deeply",
     "Parentheses and signs can be nested 200 deep; blocks, `else if` branches, includes and calls "
     "64 deep.",
     deep},
    {number(Code::IncludeUnreadable), "included file cannot be read",
     "The file of an `include` is not in the including file's directory or an include directory, "
     "is not a regular file, or makes the total size of all files exceed 1 MiB.",
     "include \"no_such_file.gdk\";\n"},
    {number(Code::IncludeCycle), "file includes itself",
     "A file includes itself, directly or through other files.", "include \"example.gdk\";\n"},
    {number(Code::Misplaced), "statement in the wrong place",
     "Declarations of variables, settings, functions and includes are allowed at the outermost "
     "level only; `return` is the last statement of a function; a function computes a value and "
     "has no other effect.",
     "VARI x; VARF f;\nif (x > 0) {\n  VARI y;\n  f += x;\n}\n"},

    // 70xx: semantics
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
     "A VARF can only be updated by `+=`, `-=` or another reduction, such as `min=` or `*=`; it "
     "starts with the value of no sources: zero for a sum, one for a product, infinity for a "
     "minimum. A function cannot contribute to a result.",
     "VARI x; VARF f;\nf = x*x;\n"},
    {number(Code::CannotAssign), "cannot be assigned",
     "Inputs, constants and loop variables are read-only; only a CONST can be declared with a "
     "value, and an int VARI or VARJ with a default value.",
     "VARI x; VARF f;\nx = 2*x;\nf += x;\n"},
    {number(Code::NotAResult), "reduction of a temporary",
     "`min=`, `max=`, `and=`, `or=`, `logsumexp=`, `smallest=` and `largest=` reduce the "
     "contributions of all sources to a VARF. For temporaries use the functions `min` and `max`.",
     "VARI x; VARF f;\nsmallest min= x;\nf += x;\n"},
    {number(Code::ReductionMixed), "different reductions of one result",
     "All contributions to a result use the same reduction: a sum (`+=` and `-=`), the minimum, "
     "the maximum, and so on; and the same index.",
     "VARI x; VARF f;\nf += x;\nf max= 2*x;\n"},
    {number(Code::BadPayload), "invalid index of a minimum or maximum",
     "The index in `r min= expression : name = index` is stored in a result that is declared with "
     "`VARF int` and has no other contribution; `r` is a result that is not an int. The indices of "
     "`r smallest= expression : name = index` are stored in an array of as many such results, and "
     "the weighted means of `r logsumexp= expression : name = value` in results that are not ints.",
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
     "only be added, subtracted, compared, and multiplied and divided by constants.",
     "VARI x; VARF f;\nf += 2*(x > 0);\n"},
    {number(Code::IntegerNeeded), "int required",
     "An index, a size, a loop bound or the value of an int must be an int. `int(x)` rounds a "
     "number towards zero, `int(round(x))` to the nearest int.",
     "VARI x; VARF f;\nint n = x;\nf += n;\n"},
    {number(Code::ConstantNeeded), "constant required",
     "The index of an array, a size, a loop bound, the order of a Boys function and the value of a "
     "CONST must be known at compile time. Only a table can be indexed by a computed value.",
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
    {number(Code::BadOrder), "invalid order",
     "The order of a Boys function is an integer from 0 to 16.",
     "VARI x; VARF f;\nf += boys(17, x);\n"},
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
    {number(Code::ShapesDiffer), "shapes do not match",
     "Numbers, `vec3` and `sym3` cannot be mixed: only values of one shape are added, and a "
     "function "
     "takes arguments of certain shapes. A number multiplies or divides all components of a vector "
     "or tensor; `dot`, `norm2`, `trace` and `.x` give numbers.",
     "VARI vec3 x; VARJ vec3 xs; VARF vec3 f;\nr2 = dot(xs - x, xs - x);\nf += r2 + (xs - x);\n"},
    {number(Code::NoComponent), "no such component",
     "A `vec3` has the components `x`, `y` and `z`, or the indices 0 to 2; a `sym3` has `xx`, "
     "`xy`, "
     "`xz`, `yy`, `yz` and `zz`. Numbers have none.",
     "VARI vec3 x; VARF f;\nf += x.w;\n"},
    {number(Code::BeyondImages), "cut-off beyond the periodic images",
     "`minimum_image` gives one image of each source, the nearest one. Within distances above half "
     "of the shortest edge there may be further ones, which a sum with such a cut-off would lack.",
     "VARI vec3 x; VARJ vec3 xs; VARF n;\nr2 = norm2(minimum_image(x - xs, 2.5));\n"
     "if (r2 < 9) { n += 1; }\n"},
    {number(Code::NotAVariable), "derivative with respect to what is not a variable",
     "`grad(u, x)` takes the name of an input, a parameter, a temporary, or of a component of one "
     "of "
     "these. Constants, ints, conditions and other expressions have no derivatives; assign the "
     "expression to a temporary first, and compute u from it.",
     "VARI x; VARJ xs; VARF f;\nd = xs - x;\nf += grad(d*d, xs - x);\n"},
    {number(Code::UnfitResult), "result does not suit its reduction",
     "`smallest=` and `largest=` fill an array of numbers with one index and at most 64 elements, "
     "`and=` and `or=` an int with 1 or 0, `*=` and `logsumexp=` a number. For the indices of more "
     "sources than 64 use a list and `append=`.",
     "VARI x; VARJ xs; VARF near;\nnear smallest= abs(xs - x);\n"},

    // 71xx: warnings
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

    // 8xxx: resources of the chip
    {number(Code::NoRegisters), "register file is full",
     "The results of a target stay in the register file during the loop: two shorts for each VARF "
     "and one for each `short VARF`. Temporaries can be spilled to local memory, results cannot.",
     "VARI x; VARJ u; VARF f[80];\nfor k = 0 .. 79 { f[k] += k*u*x; }\n"},
    {number(Code::NoLocalMemory), "local memory is full",
     "Tables, lists, the inputs of a target and spilled temporaries share the local memory of a "
     "PE. The size of a table is rounded up to a power of two.",
     "VARI x; VARJ int id; CONST table t[2000]; VARF f;\nf += x*t[id];\n"},
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

std::span<const DiagnosticInfo> kernel_diagnostic_table() noexcept { return rows; }

}  // namespace gdr::kc
