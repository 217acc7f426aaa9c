// A kernel as text for a GPU's compiler.
#pragma once

#include <cstdint>
#include <span>
#include <string>

#include "emulator/engine/native/codegen/code.hpp"

namespace gdr::native {

/// Which iterations a thread executes.
enum class LoopShare : std::uint8_t {
  All,   ///< all of its lane, in one launch or several
  Part,  ///< some of them, of a kernel that only adds up terms (KernelCode::can_share_iterations)
  Join   ///< the last one, after adding up the sums of the parts
};

/// The kernel as a program in OpenCL C 1.2 with one function, `run`. A thread computes one lane of
/// one work item (ItemLayout), with the carried values in registers:
///
///   run(items, results, source, uniforms, threads, first_word, iterations, begin, end, left,
///   ranges)
///
/// where `first_word` is the word of `source` that iteration 0 begins with. A launch executes the
/// iterations from `begin` to before `end`; the first one begins with 0, and the last one ends with
/// `iterations`. Between them `left` holds the carried values and the totals of each item, a vector
/// for each. `ranges` are the least and the largest integer of each word of `compared` for each
/// window of groups (SourceWindows): windows without a word equal to the thread's run without rare
/// conditions (UnguardedLoop). Outputs go to `results`, for each item as in its layout. Operations
/// are those of the segments, in their order, each rounded once: a device computes the same bits in
/// every run. Kernels with lists have three more arguments (ListText). Throws Unsupported for
/// operations that GPUs lack.
///
/// Instead of `begin, end`, a Part has `first_part, parts, length`: `threads` threads for each part
/// from `first_part` to before `parts` execute `length` iterations each, without the last one of
/// all, and leave their sums. A Join has `parts`, and adds up their sums in the order of the parts.
std::string kernel_text(const CodeContext& context, std::span<const LeafKey> compared,
                        LoopShare share = LoopShare::All);

}  // namespace gdr::native
