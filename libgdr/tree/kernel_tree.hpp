// Any kernel with charges, with a tree: choice of degree and distance, sums, measured errors.
#pragma once

#include <array>
#include <optional>
#include <string>
#include <vector>

#include "gdr/sets.hpp"
#include "gdr/tree_sum.hpp"
#include "kernels/compiler/charges.hpp"
#include "libgdr/tree/kernel_sample.hpp"

namespace gdr::tree {

/// What a tree needs to know of a kernel.
struct KernelForm {
  std::array<std::string, 3> target_pos, source_pos;  ///< coordinates
  KernelCharges charges;
  std::vector<VariableColumn> targets, sources, results;  ///< empty columns of all variables
  std::vector<ResultVector> vectors;
};

/// Throws Error (Unsupported) for a kernel that a tree cannot compute.
KernelForm form_of(const Kernel& kernel, KernelCharges charges);

/// The arguments of a sum, which have been checked.
struct KernelInput {
  std::span<const double> target_pos, source_pos;  ///< triples
  bool same = false;                               ///< whether the targets are the sources
  const LinkGroup *targets_group = nullptr, *sources_group = nullptr, *results_group = nullptr;
  std::span<const NamedInput> targets, sources;  ///< arrays except positions
  std::span<const NamedResult> results;
};

/// Throws Error (Usage) for options out of range.
void check_options(const TreeSumOptions& options);

/// Computes all results with a job whose parameters are set.
TreeSumReport compute_kernel(SetJob& job, const KernelForm& form, const KernelInput& input,
                             const TreeSumOptions& options, unsigned threads);

}  // namespace gdr::tree
