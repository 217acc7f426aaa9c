// Coincident pairs without softening: the exact engine excludes them in double arithmetic, with the
// machine's sums.
#include <cstdint>
#include <deque>
#include <random>
#include <string>
#include <vector>

#include "emulator/engine/vector/vector.hpp"
#include "emulator/host/isa.hpp"
#include "gdr/gdr.hpp"
#include "support/catch.hpp"

using namespace gdr;

namespace {

/// More sources than one proof covers; targets are some of them.
constexpr std::size_t sources = 1300, targets = 40;

struct Outcome {
  std::vector<std::vector<double>> results;
  Statistics statistics;
};

/// A kernel on particles with every target among the sources; `same_ids`: with the same id.
Outcome run_with_coincident_sources(const std::string& options, const std::string& name,
                                    bool same_ids) {
  Device device = Device::open("exact:" + options);
  const Kernel kernel = Kernel::builtin(name);
  Job job = device.job(kernel);
  std::mt19937_64 random(3);
  std::normal_distribution<double> normal;
  std::vector<double> place[3];
  for (auto& axis : place)
    for (std::size_t i = 0; i < sources; ++i) axis.push_back(normal(random));
  std::deque<std::string> names;
  std::deque<std::vector<double>> numbers;
  std::deque<std::vector<std::int64_t>> ids;
  std::vector<NamedInput> of_sources, of_targets;
  std::vector<NamedResult> of_results;
  Outcome outcome;
  outcome.results.reserve(64);
  for (const auto& variable : kernel.variables()) {
    const std::string& v = names.emplace_back(variable.name);
    const bool source = variable.role == Role::Source, target = variable.role == Role::Target;
    if (variable.role == Role::Param) {
      job.set(v, v.find("eps") != std::string::npos ? 0.0 : 1.0);
    } else if (variable.role == Role::Result) {
      of_results.push_back({v, outcome.results.emplace_back(targets).data()});
    } else if (!source && !target) {
      continue;
    } else if (variable.type == HostNumber::I64) {
      auto& list = ids.emplace_back();
      const std::int64_t first = source || same_ids ? 1 : 100000;
      for (std::size_t i = 0; i < sources; ++i)
        list.push_back(first + static_cast<std::int64_t>(i));
      (source ? of_sources : of_targets).push_back({v, list.data()});
    } else {
      auto& list = numbers.emplace_back();
      const bool is_place = v.size() == 2 && v[0] >= 'x' && v[0] <= 'z';
      for (std::size_t i = 0; i < sources; ++i)
        list.push_back(is_place ? place[v[0] - 'x'][i]
                                : 0.5 + 0.001 * static_cast<double>(i * 7 % 100));
      (source ? of_sources : of_targets).push_back({v, list.data()});
    }
  }
  job.sources(sources, of_sources);
  job.targets(targets, of_targets);
  job.run(of_results);
  outcome.statistics = device.statistics();
  return outcome;
}

}  // namespace

TEST_CASE("coincident pairs without softening do not cause fallback runs") {
  const std::string name = GENERATE("gravity", "gravity_jerk", "gravity_jerk_long", "gravity_long",
                                    "coulomb", "coulomb_ewald", "lennard_jones");
  const bool same_ids = GENERATE(false, true);
  for (const char* partition : {"partition=targets", "partition=sources"}) {
    const std::string options = std::string(partition) + ",chips=1";
    const Outcome expected =
        run_with_coincident_sources(options + ",engine=reference", name, same_ids);
    for (const Isa isa : host_isas()) {
      if (!can_verify_doubles(isa)) continue;
      const std::string host = ",engine=vector,isa=" + std::string(isa_name(isa));
      const Outcome got = run_with_coincident_sources(options + host, name, same_ids);
      INFO(name << ", " << options << host << ", equal ids: " << same_ids << ": "
                << got.statistics.fallback_reason);
      CHECK(got.results == expected.results);
      CHECK(got.statistics.fallback_runs == 0);
    }
  }
}
