#include "libgdr/device/job_partition.hpp"

#include <algorithm>
#include <bit>

namespace gdr {
namespace {

/// Number of work units that balances the load of a large machine.
constexpr std::size_t most_pieces = 256;
/// Smallest number of sources of a slice per block of a board.
constexpr std::size_t sources_a_block = 512;

}  // namespace

JobPartition partition_job(const KernelCost& kernel, const Geometry& geometry, Partition wanted,
                           std::size_t targets, std::size_t sources) {
  JobPartition partition;
  partition.partition = choose_partition(kernel, geometry, wanted, targets, sources);
  // Programs that depend on the position of targets keep the batches of one board.
  partition.unit = kernel.position_dependent
                       ? board_slots(kernel, geometry, partition.partition)
                       : std::size_t{geometry.pes_per_block} * kernel.elements;
  // With partition=targets every PE computes complete sums.
  if (!kernel.reducible || kernel.position_dependent || wanted == Partition::TargetsOverBlocks ||
      targets == 0)
    return partition;
  const std::size_t units = (targets + partition.unit - 1) / partition.unit;
  const std::size_t shortest =
      sources_a_block * geometry.blocks * geometry.chips_per_board * kernel.group;
  partition.slices =
      std::bit_floor(std::max<std::size_t>(1, std::min(most_pieces / units, sources / shortest)));
  return partition;
}

IndexRange slice_range(const JobPartition& partition, std::size_t group, std::size_t n,
                       std::size_t k) {
  const std::size_t groups = (n + group - 1) / group;
  const std::size_t each = groups / partition.slices, rest = groups % partition.slices;
  const auto begin = [&](std::size_t s) {
    return std::min(n, (s * each + std::min(s, rest)) * group);
  };
  return {begin(k), begin(k + 1) - begin(k)};
}

std::vector<IndexRange> slice_ranges(const JobPartition& partition, std::size_t group,
                                     std::size_t n) {
  std::vector<IndexRange> slices;
  for (std::size_t k = 0; k < partition.slices; ++k)
    slices.push_back(slice_range(partition, group, n, k));
  return slices;
}

SliceReduction::SliceReduction(const Program& program) {
  const LinkLayout layout = link_layout(program);
  result_words_ = layout.result_words;
  for (const LinkLayout::Field& field : layout.results)
    fields_.push_back(port_field(program.variables[field.variable], field));
}

void SliceReduction::join(std::size_t slices, std::size_t n, const std::vector<std::uint64_t>& raw,
                          std::vector<std::uint64_t>& records) const {
  records.assign(n * result_words_, 0);
  std::vector<Long> sums(slices);
  Flags ignored = no_flags;
  for (std::size_t i = 0; i < n; ++i) {
    for (std::size_t f = 0; f < fields_.size(); ++f) {
      for (std::size_t s = 0; s < slices; ++s) {
        const std::uint64_t* const word = raw.data() + (s * n + i) * raw_words() + 2 * f;
        sums[s] = {u128{word[1]} << 64 | word[0]};
      }
      const Long sum = reduce_tree(fields_[f].reduce, sums, ignored);
      put_host_bits(fields_[f], network_to_host(fields_[f], sum),
                    records.data() + i * result_words_);
    }
  }
}

}  // namespace gdr
