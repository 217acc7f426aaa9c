// `gdr fp` in the table of commands.
#include "libgdr/cli/command.hpp"
#include "libgdr/cli/fp.hpp"

namespace gdr::cli {
namespace {

Action prepare(CLI::App& /*app*/) {
  return [] { return run_fp(stdin, stdout, stderr); };
}

const Registration registration{
    {.name = "fp",
     .summary = "evaluate lines of exact machine arithmetic from standard input",
     .example = "echo fmul.s 3ff800000 3ff800000 | gdr fp",
     .group = Group::Machine,
     .prepare = prepare,
     .details =
         "Each line is `op.F A [B]`: op is one of fadd fsub fmul dmul fmax fmin cvt, F the format\n"
         "of the result (l long, s short; d double, cvt only), A and B are hex words: 18 digits\n"
         "are a long, 9 a short, 16 a double (cvt only). Each line gives the result in hex, a\n"
         "blank, and the flags i (invalid), o (overflow), u (underflow) or `-` for none.\n"
         "A bad line gives a message with its number instead, and exit status 1 in the end."}};

}  // namespace
}  // namespace gdr::cli
