#include "libgdr/tree/group_sums.hpp"

#include <type_traits>

#include "emulator/host/stopwatch.hpp"

namespace gdr::tree {

TargetRows TargetRows::at_places(std::span<const std::uint32_t> places) const {
  const auto some = [&](const auto& all) {
    std::decay_t<decltype(all)> chosen;
    if (all.empty()) return chosen;
    for (const std::uint32_t place : places) chosen.push_back(all[place]);
    return chosen;
  };
  return {some(at), some(velocity), some(square), some(rows), some(jerks)};
}

void GroupSums::run(std::span<const Group> groups, std::span<const Source> sources) {
  constexpr std::ptrdiff_t from = sizeof(Source), to = sizeof(ResultRow);
  const Source& target = targets_->at[0];
  ResultRow& row = targets_->rows[0];
  std::vector<NamedInput> targets{{"xi", ConstArray(&target.x, from)},
                                  {"yi", ConstArray(&target.y, from)},
                                  {"zi", ConstArray(&target.z, from)},
                                  {"idi", ConstArray(&target.id, from)}};
  std::vector<NamedResult> results{{"ax", MutableArray(&row.ax, to)},
                                   {"ay", MutableArray(&row.ay, to)},
                                   {"az", MutableArray(&row.az, to)},
                                   {"pot", MutableArray(&row.pot, to)}};
  const SourceArrays of_sources = sources.empty() ? SourceArrays{} : arrays_of(sources);
  std::vector<NamedInput> arrays(of_sources.begin(), of_sources.end());
  if (!targets_->velocity.empty()) {
    constexpr std::ptrdiff_t triple = sizeof(Velocity);
    const Velocity none = {};
    const Velocity &vi = targets_->velocity[0], &vj = sources.empty() ? none : source_velocity[0];
    ResultRow& jerk = targets_->jerks[0];
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
  if (!targets_->square.empty()) {
    targets.push_back({"e2i", ConstArray(targets_->square.data())});
    arrays.push_back({"e2j", ConstArray(source_square.data())});
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
