// `gdr fp`: exact arithmetic on lines of text, so that it can be tested from outside.
#pragma once

#include <cstdio>

namespace gdr::cli {

/// Reads lines `op.F A [B]` from `in` until its end, writes results to `out` and a message for each
/// bad line to `err`; see `FpLines`. Results leave as soon as no more input is at hand, so that a
/// program can hold a conversation over pipes. `in` must not have been read from before.
/// Returns the exit status: 0, or 1 after a bad line, a read error or a write error.
int run_fp(std::FILE* in, std::FILE* out, std::FILE* err);

}  // namespace gdr::cli
