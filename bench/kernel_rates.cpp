// Every kernel of the library on the native engines: its rate of operations as a fraction of
// gravity's, and what calls with few targets reach of it.
#include <fmt/format.h>

#include <algorithm>
#include <string>
#include <string_view>
#include <vector>

#include "bench/laws/laws.hpp"
#include "bench/measurement.hpp"
#include "bench/timing.hpp"
#include "gdr/kernel.hpp"

namespace gdr::bench {
namespace {

constexpr std::size_t rated_sources = 2048, few_targets_count = 48;
constexpr std::string_view standard = "gravity";

/// A kernel with many targets, and with few.
class RatedKernel {
 public:
  RatedKernel(Device& device, const Law& law, std::uint64_t seed)
      : kernel_(Kernel::builtin(law.kernel)),
        sample_(law.sample(rated_sources, seed)),
        many_(device, kernel_, law, sample_, sample_),
        few_(device, kernel_, law, sample_.first(few_targets_count), sample_) {
    many_.run();  // generates the code
    few_.run();
  }

  /// Seconds of a pair, the least of all calls.
  void measure_many() { add(many_, rated_sources, many_seconds_); }
  void measure_few() { add(few_, few_targets_count, few_seconds_); }

  double flops_rate() const { return kernel_.flops_per_interaction() / many_seconds_; }
  double nanoseconds() const { return many_seconds_ * 1e9; }
  double few_of_many() const { return many_seconds_ / few_seconds_; }

 private:
  static void add(LawJob& job, std::size_t targets, double& least) {
    const double seconds =
        seconds_of([&] { job.run(); }) / static_cast<double>(targets * rated_sources);
    least = least == 0 ? seconds : std::min(least, seconds);
  }

  Kernel kernel_;
  Sample sample_;
  LawJob many_, few_;
  double many_seconds_ = 0, few_seconds_ = 0;
};

/// Calls of each kind, alternating with those of gravity.
constexpr unsigned calls_a_repetition = 8;

}  // namespace

std::vector<Measurement> kernel_rates(const Context& context) {
  std::vector<Measurement> list;
  for (const std::string_view engine : {"native", "native-float"}) {
    for (const Law& law : laws()) {
      Device device = open_device(context, engine);
      RatedKernel gravity(device, law_of(standard), context.seed), own(device, law, context.seed);
      for (unsigned k = 0; k < calls_a_repetition * context.repetitions; ++k) {
        gravity.measure_many();
        own.measure_many();
        own.measure_few();
      }
      const Statistics s = device.statistics();
      list.push_back(
          {fmt::format("{}, {}", law.kernel, engine),
           own.flops_rate() / gravity.flops_rate(),
           "of gravity's rate of operations",
           s.fallback_runs == 0 ? "" : "on the exact engine: " + s.fallback_reason,
           {},
           false,
           {},
           {{"nanoseconds a pair", own.nanoseconds()},
            {fmt::format("of this rate with {} targets", few_targets_count), own.few_of_many()}}});
    }
  }
  return list;
}

}  // namespace gdr::bench
