// Rates of the GPU engines at sizes that fill a card, and the time of a call with few targets.
#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "bench/laws/laws.hpp"
#include "bench/measurement.hpp"
#include "bench/timing.hpp"
#include "emulator/host/gpu/device.hpp"
#include "gdr/device.hpp"
#include "gdr/kernel.hpp"

namespace gdr::bench {
namespace {

/// Particles: from the least number on, they are doubled until a call takes long enough.
constexpr std::size_t min_bodies = 8192, max_bodies = 131072;
constexpr double long_enough = 0.2;  // seconds
constexpr std::size_t small_target_count = 32, many_sources = 100000;

/// A calculation whose sources stay on the card.
class ResidentJob {
 public:
  ResidentJob(const Context& context, const char* engine, const Law& law, std::size_t targets,
              std::size_t sources)
      : kernel_(Kernel::builtin(law.kernel)),
        targets_(law.sample(targets, context.seed)),
        device_(open_device(context, engine)),
        job_(device_.job(kernel_)) {
    for (const auto& [name, value] : law.parameters) job_.set(name, value);
    const Sample all = law.sample(sources, context.seed + 1);
    job_.sources(all.n, columns(Role::Source, all));
    for (const KernelVariable& v : kernel_.variables())
      if (v.role == Role::Result) results_.emplace_back(v.name, std::vector<double>(targets));
  }
  void call() {
    job_.targets(targets_.n, columns(Role::Target, targets_));
    std::vector<NamedResult> named;
    for (auto& [name, values] : results_) named.push_back({name, values});
    job_.run(named);
  }
  Statistics statistics() const { return device_.statistics(); }

 private:
  std::vector<NamedInput> columns(Role role, const Sample& sample) {
    std::vector<NamedInput> list;
    for (const KernelVariable& v : kernel_.variables()) {
      if (v.role != role) continue;
      const std::vector<double>& column = sample.of(v.name);
      if (v.type == HostNumber::F64) {
        list.push_back({v.name, column});
        continue;
      }
      std::vector<std::int64_t>& integers = integers_[v.name];
      integers.assign(column.begin(), column.end());
      list.push_back({v.name, integers.data()});
    }
    return list;
  }

  const Kernel kernel_;
  std::map<std::string, std::vector<std::int64_t>> integers_;
  const Sample targets_;
  Device device_;
  Job job_;
  std::vector<std::pair<std::string, std::vector<double>>> results_;
};

/// The best of some calls, after one that compiles.
double seconds_of_call(ResidentJob& job, unsigned repetitions) {
  job.call();
  double best = seconds_of([&] { job.call(); });
  for (unsigned k = 1; k < repetitions; ++k) best = std::min(best, seconds_of([&] { job.call(); }));
  return best;
}

std::string place_of(const ResidentJob& job) {
  const Statistics s = job.statistics();
  return s.gpu_runs > 0 ? "" : "on the processor: " + s.fallback_reason;
}

Measurement rate(const Context& context, const char* engine, const char* kernel) {
  for (std::size_t n = min_bodies;; n *= 2) {
    ResidentJob job(context, engine, law_of(kernel), n, n);
    const bool is_largest = n >= max_bodies;
    const double seconds = seconds_of_call(job, 1);
    if (!is_largest && seconds < long_enough) continue;
    const double best = std::min(seconds, seconds_of_call(job, context.repetitions));
    const double pairs = static_cast<double>(n) * static_cast<double>(n);
    return {fmt::format("{}, {}, {} x {}", engine, kernel, n, n), pairs / best, "pairs/s",
            place_of(job)};
  }
}

Measurement few(const Context& context, const char* engine) {
  ResidentJob job(context, engine, law_of("gravity"), small_target_count, many_sources);
  const double seconds = seconds_of_call(job, 20 * context.repetitions);
  return {fmt::format("{}, gravity, {} x {}", engine, small_target_count, many_sources),
          1e6 * seconds, "us", place_of(job)};
}

}  // namespace

std::vector<Measurement> gpu_sizes(const Context& context) {
  if (gpu::devices().empty())
    return {{"GPU engines", 0, "", "not measured: " + gpu::why_no_device()}};
  std::vector<Measurement> list;
  if (gpu::open_device("")->info().has_doubles)
    for (const char* engine : {"gpu-exact", "gpu"})
      for (const char* kernel : {"gravity", "gravity_jerk"})
        list.push_back(rate(context, engine, kernel));
  list.push_back(rate(context, "gpu-float", "gravity"));
  for (const char* engine : {"gpu", "gpu-float"}) list.push_back(few(context, engine));
  return list;
}

}  // namespace gdr::bench
