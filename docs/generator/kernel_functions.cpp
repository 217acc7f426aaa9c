// The page of the functions of the kernel language, from their rows (kernels/compiler/functions).
#include "kernel_functions.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "gdr/error.hpp"
#include "kernels/compiler/front/front.hpp"
#include "kernels/compiler/ir/function.hpp"
#include "kernels/compiler/lower/lower.hpp"

namespace gdr::docs {
namespace {

constexpr std::string_view introduction = R"(# Functions of the kernel language

Generated from the functions of the compiler (`kernels/compiler/functions`); do not edit. The
[kernel language](kernel-language.md#expressions) has the rules of expressions, and the functions of
[vectors and tensors](kernel-language.md#vectors-and-tensors).

| function | |
|---|---|
)";

constexpr std::string_view accuracy_introduction = R"(
## Accuracy

Errors of a function of an exact argument, measured against MPFR on every engine. In shorts the error is at most
2 units of 2^-25 of the result, 6e-8, one of which is the rounding of the result. In longs the table has it,
relative to the result; an absolute error where the function crosses zero at an argument other than zero. A NaN gives
NaN in all of them.

| function | range | in longs | elsewhere |
|---|---|---|---|
)";

constexpr std::string_view clocks_introduction = R"(
## Clocks

Clocks per evaluation, if the loop is pipelined and full: the multiplier or the adder, whichever has more to do.
A call costs less beside others that use the other unit. `boys(8, a)` includes all orders below: a kernel that asks
for several orders of the same T pays only for the largest.

| function | clocks in shorts | in longs |
|---|---|---|
)";

/// Instructions of a loop with this value for each slot; one multiplication of two longs takes two.
std::array<double, 3> slots_of(std::string_view value, std::string_view type) {
  const std::string text = fmt::format(
      "VARI {0} x, y; VARJ {0} s; VARF r;\n{0} a = x + s;\n{0} b = y + s;\nr += {1};", type, value);
  kc::FrontResult read = kc::read_kernel(text, "clocks.gdk");
  if (!read.graph) throw Error(ErrorCategory::Internal, "a timed call does not compile: " + text);
  kc::infer_types(*read.graph);
  std::array<double, 3> slots{};
  for (const kc::MachineOp& op : kc::lower(*read.graph, 4).ops)
    slots[op.slot()] += op.dmul() ? 2 : 1;
  return slots;
}

/// Clocks of an evaluation in a full loop: instructions with a multiplication, or with an operation
/// of the adder or the integer unit, whichever are more, beyond those of the arguments.
double clocks_of(std::string_view call, std::string_view type) {
  const bool two = call.find("b)") != std::string_view::npos;
  const auto all = slots_of(call, type), arguments = slots_of(two ? "a + b" : "a", type);
  return std::max(all[0] - arguments[0], all[1] - arguments[1] + (two ? 1 : 0));
}

}  // namespace

std::string kernel_functions_page() {
  std::string text(introduction);
  for (const kc::Function* f : kc::all_functions())
    text += fmt::format("| `{}({})` | {} |\n", f->name, f->arguments, f->meaning);
  text += accuracy_introduction;
  for (const kc::Function* f : kc::all_functions())
    if (const kc::Accuracy& a = f->accuracy; !a.range.empty())
      text += fmt::format("| `{}` | {} | {} | {} |\n", f->name, a.range, a.in_longs, a.elsewhere);
  text += clocks_introduction;
  for (const kc::Function* f : kc::all_functions())
    for (const std::string_view call : f->timed)
      if (!call.empty())
        text += fmt::format("| `{}` | {} | {} |\n", call, clocks_of(call, "short"),
                            clocks_of(call, "long"));
  return text;
}

}  // namespace gdr::docs
