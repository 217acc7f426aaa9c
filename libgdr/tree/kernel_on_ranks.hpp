// Any kernel with a tree on many ranks: all ranks have all particles.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "libgdr/ranks/collective.hpp"
#include "libgdr/tree/kernel_particles.hpp"

namespace gdr::tree {

/// The particles of all ranks in rank order, gathered from those of each rank, and room for the
/// results of all targets.
class AllKernelParticles {
 public:
  /// `own`: the arguments of this rank, which have been checked but for numbers that are not
  /// finite. Collective, also for errors.
  AllKernelParticles(RankGroup& ranks, const KernelForm& form, const KernelInput& own,
                     unsigned threads);
  AllKernelParticles(const AllKernelParticles&) = delete;
  AllKernelParticles& operator=(const AllKernelParticles&) = delete;

  /// The arguments of all ranks.
  const KernelInput& input() const noexcept { return input_; }
  /// Copies the results of this rank's targets to the arrays of its call.
  void copy_results(const KernelInput& own) const;

  std::size_t sources_bytes() const noexcept;
  std::size_t bytes() const noexcept;
  std::size_t bytes_received() const noexcept { return bytes_received_; }

 private:
  void place(RankGroup& ranks, const KernelForm& form, const KernelInput& own, unsigned threads);

  std::size_t rank_;
  std::vector<std::size_t> source_offsets_, target_offsets_;  ///< those of each rank
  std::vector<double> source_pos_, target_pos_;  ///< `target_pos_` is empty if targets are sources
  std::vector<VariableColumn> sources_, targets_, results_;  ///< columns of the arrays of the call
  std::vector<NamedInput> source_inputs_, target_inputs_;
  std::vector<NamedResult> named_results_;
  KernelInput input_;
  std::size_t bytes_received_ = 0;
};

}  // namespace gdr::tree
