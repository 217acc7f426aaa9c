// Any kernel with charges, with a tree: choice of degree and distance, sums, measured errors.
#pragma once

#include "gdr/sets.hpp"
#include "gdr/tree_sum.hpp"
#include "libgdr/tree/kernel_particles.hpp"

namespace gdr::tree {

/// Throws Error (Usage) for options out of range.
void check_options(const TreeSumOptions& options);

/// Computes all results with a job whose parameters are set. `share`: the processes that compute
/// with the same arguments, on all of which it throws if it throws on one; null: this process only.
TreeSumReport compute_kernel(SetJob& job, const KernelForm& form, const KernelInput& input,
                             const TreeSumOptions& options, unsigned threads,
                             GroupShare* share = nullptr);

}  // namespace gdr::tree
