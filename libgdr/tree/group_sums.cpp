#include "libgdr/tree/group_sums.hpp"

#include "emulator/host/stopwatch.hpp"

namespace gdr::tree {
void GroupSums::run(std::span<const Group> groups, std::span<const Source> sources) {
  constexpr std::ptrdiff_t from = sizeof(Source), to = sizeof(ResultRow);
  std::vector<NamedInput> targets{{"xi", ConstArray(&targets_[0].x, from)},
                                  {"yi", ConstArray(&targets_[0].y, from)},
                                  {"zi", ConstArray(&targets_[0].z, from)},
                                  {"idi", ConstArray(&targets_[0].id, from)}};
  std::vector<NamedResult> results{{"ax", MutableArray(&results_[0].ax, to)},
                                   {"ay", MutableArray(&results_[0].ay, to)},
                                   {"az", MutableArray(&results_[0].az, to)},
                                   {"pot", MutableArray(&results_[0].pot, to)}};
  const SourceArrays of_sources = sources.empty() ? SourceArrays{} : arrays_of(sources);
  std::vector<NamedInput> arrays(of_sources.begin(), of_sources.end());
  if (!motion.targets.empty()) {
    constexpr std::ptrdiff_t triple = sizeof(Velocity);
    const Velocity none = {};
    const Velocity &vi = motion.targets[0], &vj = sources.empty() ? none : motion.sources[0];
    ResultRow& jerk = motion.jerks[0];
    targets.push_back({"vxi", ConstArray(&vi[0], triple)});
    targets.push_back({"vyi", ConstArray(&vi[1], triple)});
    targets.push_back({"vzi", ConstArray(&vi[2], triple)});
    arrays.push_back({"vxj", ConstArray(&vj[0], triple)});
    arrays.push_back({"vyj", ConstArray(&vj[1], triple)});
    arrays.push_back({"vzj", ConstArray(&vj[2], triple)});
    results.push_back({"jx", MutableArray(&jerk.ax, to)});
    results.push_back({"jy", MutableArray(&jerk.ay, to)});
    results.push_back({"jz", MutableArray(&jerk.az, to)});
  }
  if (!softened.targets.empty()) {
    targets.push_back({"e2i", ConstArray(softened.targets.data())});
    arrays.push_back({"e2j", ConstArray(softened.sources.data())});
  }
  std::vector<SourceSegment> segments(groups.size());
  std::vector<InteractionSet> sets(groups.size());
  for (std::size_t k = 0; k < groups.size(); ++k) {
    segments[k] = {lists.list(k).size(), arrays, lists.list(k).data(), sources.size()};
    sets[k] = {groups[k].count, targets, {&segments[k], 1}, results, groups[k].first};
  }
  job_->run(sets);
}

void GroupSums::compute(std::span<const Group> groups, const Hierarchy& hierarchy,
                        std::span<const Source> sources) {
  const auto all = static_cast<double>(groups.size());
  while (!groups.empty()) {
    const Stopwatch making;
    const std::size_t made = lists.make(groups, hierarchy);
    list_seconds += making.seconds();
    const Stopwatch sums;
    run(groups.first(made), sources);
    force_seconds += sums.seconds();
    groups = groups.subspan(made);
    if (progress) progress(1 - static_cast<double>(groups.size()) / all);
  }
}

}  // namespace gdr::tree
