// A kernel as text for a GPU's compiler.
#pragma once

#include <span>
#include <string>

#include "emulator/engine/native/code.hpp"

namespace gdr::native {

/// The kernel as a program in OpenCL C 1.2 with one function, `run`. A thread computes one lane of
/// one work item (ItemLayout), with the carried values in registers:
///
///   run(items, results, source, uniforms, threads, first_word, passes, begin, end, left, ranges)
///
/// where `first_word` is the word of `source` that pass 0 begins with. A launch executes the passes
/// from `begin` to before `end`; the first one begins with 0, and the last one ends with `passes`.
/// Between them `left` holds the carried values and the totals, a word of each thread behind the
/// other. `ranges` are the least and the largest integer of each word of `compared` for each window
/// of groups (SourceWindows): windows without a word equal to the thread's run without rare
/// conditions (UnguardedLoop). Outputs go to `results`, for each item as in its layout. Operations
/// are those of the segments, in their order, each rounded once: a device computes the same bits in
/// every run. Kernels with lists have three more arguments (ListText). Throws Unsupported for
/// operations that GPUs lack.
///
/// Threads can share the passes of a kernel that only adds up terms (KernelCode::can_share_passes).
/// Such a kernel has three more arguments: first_part, parts, length. If `length` is not 0, the
/// launch has `threads` threads for each part from `first_part` to before `parts`, which executes
/// so many passes, without the last one of all, and leaves its sums. In a launch with `length` 0
/// and `parts` above 1, whose passes begin with the last one, a thread first adds up the sums of
/// the parts in their order.
std::string kernel_text(const CodeContext& context, std::span<const LeafKey> compared);

}  // namespace gdr::native
