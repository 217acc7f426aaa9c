#include "libgdr/particle/tree_on_ranks.hpp"

#include <algorithm>
#include <numeric>

#include "emulator/host/hash.hpp"
#include "libgdr/ranks/gathered.hpp"

namespace gdr {
namespace {

/// Where to find a rank's part of gathered items.
template <typename Number>
Number* part_of(std::vector<Number>& all, std::size_t each, std::size_t first) {
  return all.data() + each * first;
}

}  // namespace

AllParticles::AllParticles(RankGroup& ranks, const tree::GravityInput& own)
    : source_offsets(offsets_of_ranks(ranks, own.n_sources)),
      target_offsets(own.same ? source_offsets : offsets_of_ranks(ranks, own.n_targets)) {
  const std::size_t r = ranks.rank();
  collectively(&ranks, [&] {
    source.resize(3 * source_offsets.back());
    mass.resize(source_offsets.back());
    if (!own.same) target.resize(3 * target_offsets.back());
    acceleration.resize(3 * target_offsets.back());
    potential.resize(target_offsets.back());
    std::copy_n(own.source, 3 * own.n_sources, part_of(source, 3, source_offsets[r]));
    std::copy_n(own.mass, own.n_sources, part_of(mass, 1, source_offsets[r]));
    if (!own.same)
      std::copy_n(own.target, 3 * own.n_targets, part_of(target, 3, target_offsets[r]));
  });
  bytes_received += gather_items(ranks, source.data(), 3 * sizeof(double), source_offsets);
  bytes_received += gather_items(ranks, mass.data(), sizeof(double), source_offsets);
  if (!own.same)
    bytes_received += gather_items(ranks, target.data(), 3 * sizeof(double), target_offsets);
}

tree::GravityInput AllParticles::input(double softening, bool same) const {
  return {.n_targets = target_offsets.back(),
          .target = same ? source.data() : target.data(),
          .n_sources = source_offsets.back(),
          .source = source.data(),
          .mass = mass.data(),
          .softening = softening,
          .same = same};
}

void AllParticles::copy_results(RankGroup& ranks, double* own_acceleration,
                                double* own_potential) const {
  const std::size_t first = target_offsets[ranks.rank()];
  const std::size_t count = target_offsets[ranks.rank() + 1] - first;
  if (own_acceleration != nullptr)
    std::copy_n(acceleration.data() + 3 * first, 3 * count, own_acceleration);
  if (own_potential != nullptr) std::copy_n(potential.data() + first, count, own_potential);
}

std::size_t AllParticles::bytes() const noexcept {
  return (source.size() + mass.size() + target.size() + acceleration.size() + potential.size()) *
         sizeof(double);
}

void RankShare::step(const std::string& name, const std::function<void()>& work) {
  collectively(&ranks_, name, work);
}

std::size_t RankShare::first_group(std::span<const tree::Group> groups, std::size_t rank) const {
  if (groups.empty()) return 0;
  const std::size_t begin = groups.front().first;
  const std::size_t targets = groups.back().first + groups.back().count - begin;
  const std::size_t first = begin + part_begin(targets, rank, ranks_.size());
  const auto found = std::ranges::lower_bound(groups, first, {}, &tree::Group::first);
  return static_cast<std::size_t>(found - groups.begin());
}

std::span<const tree::Group> RankShare::own(std::span<const tree::Group> groups) const {
  const std::size_t first = first_group(groups, ranks_.rank());
  return groups.subspan(first, first_group(groups, ranks_.rank() + 1) - first);
}

void RankShare::join(std::span<const tree::Group> groups, std::span<tree::ResultRow> rows,
                     double& pairs) {
  std::vector<std::size_t> offsets;
  for (std::size_t r = 0; r <= ranks_.size(); ++r) {
    const std::size_t g = first_group(groups, r);
    offsets.push_back(g < groups.size() ? groups[g].first : rows.size());
  }
  bytes_received += gather_items(ranks_, rows.data(), sizeof(tree::ResultRow), offsets);
  own_pairs += pairs;
  std::vector<double> all(ranks_.size());
  ranks_.gather(&pairs, sizeof pairs, all.data());
  pairs = std::accumulate(all.begin(), all.end(), 0.0);
}

void require_equal_options(RankGroup& ranks, const TreeOptions& options, double softening) {
  Hash hash;
  hash.add(options.accuracy).add(options.method).add(options.degree).add(options.theta);
  hash.add(options.group_size).add(options.leaf_size).add(options.samples);
  require_equal(ranks, hash.value(), "gives other options of the tree than rank 0");
  require_equal(ranks, Hash().add(softening).value(), "gives another softening than rank 0");
}

}  // namespace gdr
