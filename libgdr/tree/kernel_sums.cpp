#include "libgdr/tree/kernel_sums.hpp"

#include "emulator/host/stopwatch.hpp"

namespace gdr::tree {
namespace {

/// Targets of a set of direct sums: enough sets for all threads, and few for their common sources.
constexpr std::size_t min_targets_of_set = 64, max_targets_of_set = 4096, usual_sets = 64;

std::vector<NamedResult> results_of(std::vector<VariableColumn>& columns) {
  std::vector<NamedResult> results;
  for (VariableColumn& column : columns) results.push_back({column.name, column.numbers});
  return results;
}

}  // namespace

void join_results(GroupShare& share, std::span<const Group> groups, KernelTargets& targets) {
  for (VariableColumn& column : targets.results)
    share.join(groups, column.numbers.data(), sizeof(double), column.numbers.size());
}

void KernelSums::compute(std::span<const Group> groups, const Hierarchy& hierarchy,
                         std::span<const VariableColumn> sources, KernelTargets& targets) {
  const std::vector<NamedInput> arrays = inputs_of(sources);
  const std::vector<NamedInput> of_targets = inputs_of(targets.inputs);
  const std::vector<NamedResult> results = results_of(targets.results);
  const std::size_t items =
      sources[0].integer ? sources[0].integers.size() : sources[0].numbers.size();
  std::vector<SourceSegment> segments;
  std::vector<InteractionSet> sets;
  while (!groups.empty()) {
    const Stopwatch making;
    const std::size_t made = lists.make(groups, hierarchy);
    list_seconds += making.seconds();
    const Stopwatch sums;
    segments.assign(made, {});
    sets.assign(made, {});
    for (std::size_t k = 0; k < made; ++k) {
      segments[k] = {lists.list(k).size(), arrays, lists.list(k).data(), items};
      sets[k] = {groups[k].count, of_targets, {&segments[k], 1}, results, groups[k].first};
    }
    job_->run(sets);
    sum_seconds += sums.seconds();
    groups = groups.subspan(made);
  }
}

double KernelSums::mean_length(std::span<const Group> groups, const Hierarchy& hierarchy) {
  lists.pairs = 0;
  double targets = 0;
  for (const Group& group : groups) targets += static_cast<double>(group.count);
  while (!groups.empty()) groups = groups.subspan(lists.make(groups, hierarchy));
  return lists.pairs / targets;
}

void KernelSums::compute_directly(std::size_t n, std::span<const VariableColumn> sources,
                                  KernelTargets& targets, GroupShare* share) {
  const Stopwatch timer;
  const std::size_t size =
      std::clamp(targets.size / usual_sets, min_targets_of_set, max_targets_of_set);
  std::vector<Group> groups;
  for (std::size_t first = 0; first < targets.size; first += size)
    groups.push_back({first, std::min(size, targets.size - first)});
  in_step(share, "direct sums", [&] {
    const std::vector<NamedInput> arrays = inputs_of(sources);
    const std::vector<NamedInput> of_targets = inputs_of(targets.inputs);
    const std::vector<NamedResult> results = results_of(targets.results);
    const SourceSegment all{n, arrays};
    std::vector<InteractionSet> sets;
    for (const Group& g : share != nullptr ? share->own(groups) : std::span<const Group>(groups))
      sets.push_back({g.count, of_targets, {&all, 1}, results, g.first});
    job_->run(sets);
  });
  if (share != nullptr) join_results(*share, groups, targets);
  sum_seconds += timer.seconds();
}

}  // namespace gdr::tree
