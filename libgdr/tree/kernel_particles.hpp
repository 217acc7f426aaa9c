// The particles of a sum of any kernel: what is known of its variables, and their values as
// columns.
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "kernels/compiler/charges.hpp"
#include "libgdr/tree/kernel_sample.hpp"
#include "libgdr/tree/kernel_sums.hpp"

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

VariableColumn& column_named(std::vector<VariableColumn>& columns, std::string_view name);
const VariableColumn& column_named(const std::vector<VariableColumn>& columns,
                                   std::string_view name);

/// Targets and sources as columns, each in an order of the caller's items. Particles that are both
/// have their numbers among the caller's in variables that the kernel only compares, if the caller
/// gives none.
class KernelParticles {
 public:
  /// Keeps references.
  KernelParticles(const KernelForm& form, const KernelInput& input, unsigned threads)
      : form_(form), input_(input), threads_(threads) {}

  std::vector<VariableColumn> sources(std::span<const std::uint32_t> order) const;
  KernelTargets targets(std::span<const std::uint32_t> order) const;

 private:
  /// Whether the particles get numbers, as the caller gives none.
  bool are_particles(const ComparedNumbers& n) const;
  void place(std::span<const double> x, std::span<const std::uint32_t> order,
             const std::array<std::string, 3>& names, std::vector<VariableColumn>& columns) const;

  const KernelForm& form_;
  const KernelInput& input_;
  unsigned threads_;
};

/// Whether a target and a source at another place have equal numbers: a tree, which replaces
/// sources, cannot tell them apart.
bool has_distant_twins(const KernelForm& form, const std::vector<VariableColumn>& targets,
                       const std::vector<VariableColumn>& sources, std::size_t n_targets,
                       std::size_t n_sources);

/// A number that is not among these.
std::int64_t unused_number(std::vector<std::int64_t> numbers);

}  // namespace gdr::tree
