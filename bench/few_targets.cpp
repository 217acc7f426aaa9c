// Fewer targets than the host's vectors have lanes, with many sources: their rate of pairs as a
// fraction of that of a whole vector, and their errors.
#include <fmt/format.h>

#include <algorithm>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "bench/laws/laws.hpp"
#include "bench/measurement.hpp"
#include "bench/timing.hpp"
#include "gdr/kernel.hpp"

namespace gdr::bench {
namespace {

constexpr std::size_t sources = 100'000;
/// The last one is the standard: a vector of doubles of AVX-512.
constexpr std::size_t targets[] = {1, 2, 3, 4, 6, 8};
constexpr double required = 0.5;  ///< required fraction of the rate of `native`; engines among
                                  ///< floats end before their calls
/// Jobs of all numbers of targets in alternation, each with some calls, which find its sources in
/// the caches.
constexpr unsigned rounds = 5, calls_a_turn = 8;

/// A job with some targets on all sources, on a device of its own, where these stay.
class FewTargets {
 public:
  FewTargets(Device device, const Kernel& kernel, const Law& law, const Sample& sample,
             std::size_t few)
      : law_(law),
        few_(few),
        device_(std::move(device)),
        job_(device_, kernel, law, sample.first(few), sample) {
    job_.run();  // generates the code
  }
  void measure() {
    for (unsigned k = 0; k < calls_a_turn; ++k) {
      const double now = seconds_of([&] { job_.run(); });
      seconds_ = seconds_ == 0 ? now : std::min(seconds_, now);
    }
  }
  double microseconds() const { return seconds_ * 1e6; }
  double million_pairs() const {
    return static_cast<double>(few_) * static_cast<double>(sources) / seconds_ / 1e6;
  }
  /// Of the first quantity, rms. `right`: of all targets.
  double error(Columns right) const {
    for (std::vector<double>& column : right) column.resize(few_);
    return compare(law_, job_.results(), right).front().rms;
  }

 private:
  const Law& law_;
  std::size_t few_;
  Device device_;
  LawJob job_;
  double seconds_ = 0;
};

void add_rows(const Context& context, std::string_view engine, const Law& law, const Sample& sample,
              const Columns& right, std::vector<Measurement>& list) {
  const Kernel kernel = Kernel::builtin(law.kernel);
  std::vector<std::unique_ptr<FewTargets>> cases;
  for (const std::size_t few : targets)
    cases.push_back(
        std::make_unique<FewTargets>(open_device(context, engine), kernel, law, sample, few));
  for (unsigned k = 0; k < rounds * context.repetitions; ++k)
    for (const auto& c : cases) c->measure();
  const double whole = cases.back()->million_pairs();
  for (std::size_t k = 0; k < cases.size(); ++k) {
    const FewTargets& c = *cases[k];
    list.push_back(
        {fmt::format("{}, {}, {} x {}", law.kernel, engine, targets[k], sources),
         c.million_pairs() / whole,
         fmt::format("of the rate with {} targets", targets[cases.size() - 1]),
         fmt::format("{:.1f} microseconds a call", c.microseconds()),
         engine == "native" ? std::optional(required) : std::nullopt,
         false,
         {},
         {{"million pairs a second", c.million_pairs()}, {"error, rms", c.error(right)}}});
  }
}

}  // namespace

std::vector<Measurement> few_targets(const Context& context) {
  std::vector<Measurement> list;
  for (const std::string_view kernel : {"gravity", "gravity_jerk", "lennard_jones"}) {
    const Law& law = law_of(kernel);
    const Sample sample = law.sample(sources, context.seed);
    const std::size_t most = targets[std::size(targets) - 1];
    const Columns right = direct_law(Kernel::builtin(kernel), law, sample.first(most), sample);
    for (const std::string_view engine : {"native", "native-mixed", "native-float", "native-fast"})
      add_rows(context, engine, law, sample, right, list);
  }
  return list;
}

}  // namespace gdr::bench
