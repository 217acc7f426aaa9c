#include "libgdr/particle/block_trees.hpp"

#include <algorithm>
#include <span>

#include "libgdr/ranks/gathered.hpp"

namespace gdr {
namespace {

/// Sizes of blocks from which on a tree is faster: 100000 particles of a Plummer sphere with
/// accuracies of 1e-4 (degree 2) and 1e-5 (degree 4). Of fewer particles the same part of all.
constexpr std::size_t min_block = 2000, low_degree_block = 5000, high_degree_block = 25000;
constexpr std::size_t measured_particles = 100000;
constexpr unsigned highest_low_degree = 2;

/// Blocks for which a choice serves: those of a cycle of steps that are large enough.
constexpr std::size_t calls_of_choice = 32;

TreeOptions options_of(const BlockTreeChoice& choice) {
  TreeOptions options;
  options.theta = choice.theta;
  options.method = choice.degree == 0   ? TreeMethod::Direct
                   : choice.degree == 1 ? TreeMethod::Monopole
                                        : TreeMethod::Multipole;
  if (choice.degree > 1) options.degree = choice.degree;
  return options;
}

void gather(const std::vector<std::uint32_t>& members, const Components& from,
            std::vector<double>& to) {
  to.resize(3 * members.size());
  for (std::size_t b = 0; b < members.size(); ++b)
    for (std::size_t k = 0; k < 3; ++k) to[3 * b + k] = from[k][members[b]];
}

void spread(std::size_t n, const std::vector<double>& from, Components& to) {
  for (std::size_t b = 0; b < n; ++b)
    for (std::size_t k = 0; k < 3; ++k) to[k][b] = from[3 * b + k];
}

}  // namespace

BlockTrees::BlockTrees(Device& device, double accuracy, double eps, const std::vector<double>& mass,
                       std::size_t particles)
    : ranks_(DeviceRanks::group(device)),
      particles_(particles),
      gravity_(device),
      accuracy_(accuracy),
      eps_(eps),
      mass_(mass) {}

bool BlockTrees::serves(std::size_t members) const {
  if (choice.degree == 0) return false;
  const std::size_t block = sum_of_ranks(ranks_, members);
  if (block < min_block) return false;
  const std::size_t least =
      choice.degree <= highest_low_degree ? low_degree_block : high_degree_block;
  return block >= least || block >= least * particles_ / measured_particles;
}

std::optional<TreeReport> BlockTrees::sums(const std::vector<std::uint32_t>& members, bool all,
                                           const TreeOptions& options) {
  // A rank may have no members of a block that is not of all particles.
  static constexpr std::uint32_t none = 0;
  std::span<const std::uint32_t> some;
  if (!all) some = members.empty() ? std::span(&none, 0) : std::span(members);
  return gravity_.compute_members(mass_.size(), some, x_.data(), v_.data(), mass_.data(), eps_,
                                  at_.data(), moving_.data(), a_.data(), j_.data(), pot_.data(),
                                  options);
}

std::optional<TreeReport> BlockTrees::compute(const std::vector<std::uint32_t>& members,
                                              const Components& x, const Components& v, bool anew,
                                              const BlockForces& to) {
  if (!anew && choice.degree == 0) return {};
  const std::size_t block = members.size();
  x_.resize(3 * mass_.size());
  v_.resize(3 * mass_.size());
  join_triples(x, x_.data());
  join_triples(v, v_.data());
  const bool all = sum_of_ranks(ranks_, block) == particles_;
  if (!all) {
    gather(members, x, at_);
    gather(members, v, moving_);
  }
  a_.resize(3 * block);
  j_.resize(3 * block);
  pot_.resize(block);
  std::optional<TreeReport> report;
  if (!anew) report = sums(members, all, options_of(choice));
  if (!report || report->error > accuracy_) {
    TreeOptions options;
    options.accuracy = accuracy_;
    options.calls = calls_of_choice;
    report = sums(members, all, options);
    choice = report ? BlockTreeChoice{report->degree, report->theta} : BlockTreeChoice();
  }
  if (!report) return {};
  spread(block, a_, to.a);
  spread(block, j_, to.j);
  std::copy_n(pot_.begin(), block, to.pot.begin());
  return report;
}

}  // namespace gdr
