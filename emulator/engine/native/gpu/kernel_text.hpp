// A kernel as text for a GPU's compiler.
#pragma once

#include <string>

#include "emulator/engine/native/code.hpp"

namespace gdr::native {

/// The kernel as a program in OpenCL C 1.2 with one function, `run`. A thread computes one lane of
/// one work item (ItemLayout), over all passes, with the carried values in registers:
///
///   run(items, results, source, uniforms, threads, first_word, passes)
///
/// where `first_word` is the word of `source` that pass 0 begins with. Outputs go to `results`, for
/// each item as in its layout. Operations are those of the
/// segments, in their order, each rounded once: a device computes the same bits in every run.
/// Throws Unsupported for what threads of a GPU cannot do (appends to lists).
std::string kernel_text(const CodeContext& context);

}  // namespace gdr::native
