// Many sets of targets and sources in one call, as tree codes make them: their rate as a fraction
// of that of one large job with the same number of pairs, engine and threads.
#include "gdr/sets.hpp"

#include <fmt/format.h>

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "bench/measurement.hpp"
#include "bench/timing.hpp"
#include "bench/workload.hpp"

namespace gdr::bench {
namespace {

constexpr std::size_t sets_bodies = 110'000, sets_a_call = 200, large_targets = 8192;
/// Sets do not share results.
constexpr std::size_t targets_apart = 512;

struct SetsCase {
  const char* engine;
  std::size_t targets, sources;
  bool indexed;
  std::optional<double> required = {};
};
constexpr SetsCase sets_cases[] = {
    {"native", 256, 1000, false, 0.8},       {"native", 256, 1000, true},
    {"native", 512, 4000, false, 0.85},      {"native-float", 256, 1000, false, 0.6},
    {"native-float", 256, 1000, true},       {"native-float", 128, 1700, true},
    {"native-float", 512, 4000, false, 0.8},
};

struct Particle {
  double x, y, z, mass;
};
struct Force {
  double ax, ay, az, pot;
};

/// The sets of a call and a job of the same size, on the same particles.
class Work {
 public:
  Work(const Context& context, const SetsCase& c)
      : case_(c),
        particles_(make_particles(context.seed)),
        forces_(sets_bodies),
        device_(open_device(context, c.engine)),
        job_(device_.job(Kernel::builtin("gravity"))),
        set_job_(device_, Kernel::builtin("gravity")) {
    job_.set("eps2", 1e-4);
    set_job_.set("eps2", 1e-4);
    const std::size_t sources = sets_a_call * c.targets * c.sources / large_targets;
    job_.sources(sources, sources_at(0));
    job_.targets(large_targets, targets_at(0));
    Random random(context.seed + 1);
    for (std::size_t k = 0; k < 2 * c.sources; ++k)
      index_.push_back(static_cast<std::int32_t>(random.below(sets_bodies / 10)));
    make_sets();
  }
  Work(const Work&) = delete;
  Work& operator=(const Work&) = delete;

  void run_job() { job_.run(results_at(0)); }
  void run_sets() { set_job_.run(sets_); }

 private:
  static std::vector<Particle> make_particles(std::uint64_t seed) {
    const Sphere sphere = plummer_sphere(sets_bodies, seed);
    std::vector<Particle> list;
    for (std::size_t i = 0; i < sets_bodies; ++i)
      list.push_back({sphere.position[3 * i], sphere.position[3 * i + 1],
                      sphere.position[3 * i + 2], sphere.mass[i]});
    return list;
  }
  std::vector<NamedInput> targets_at(std::size_t first) const {
    const Particle& p = particles_[first];
    return {{"xi", {&p.x, step}}, {"yi", {&p.y, step}}, {"zi", {&p.z, step}}, {"idi", {&idi_, 0}}};
  }
  std::vector<NamedInput> sources_at(std::size_t first) const {
    const Particle& p = particles_[first];
    return {{"xj", {&p.x, step}},
            {"yj", {&p.y, step}},
            {"zj", {&p.z, step}},
            {"mj", {&p.mass, step}},
            {"idj", {&idj_, 0}}};
  }
  std::vector<NamedResult> results_at(std::size_t first) {
    Force& f = forces_[first];
    constexpr std::ptrdiff_t force_step = sizeof(Force);
    return {{"ax", {&f.ax, force_step}},
            {"ay", {&f.ay, force_step}},
            {"az", {&f.az, force_step}},
            {"pot", {&f.pot, force_step}}};
  }

  void make_sets() {
    inputs_.reserve(2 * sets_a_call);
    results_.reserve(sets_a_call);
    segments_.reserve(sets_a_call);
    for (std::size_t k = 0; k < sets_a_call; ++k) {
      const std::size_t first = k * targets_apart;
      inputs_.push_back(targets_at(first));
      SourceSegment& sources = segments_.emplace_back();
      sources.n = case_.sources;
      if (case_.indexed) {
        sources.index = index_.data() + k % case_.sources;
        sources.items = sets_bodies;
      }
      const std::span<const NamedInput> targets = inputs_.back();
      inputs_.push_back(sources_at(case_.indexed ? 0 : k * 431 % (sets_bodies - case_.sources)));
      sources.arrays = inputs_.back();
      results_.push_back(results_at(first));
      sets_.push_back({case_.targets, targets, {&sources, 1}, results_.back()});
    }
  }

  static constexpr std::ptrdiff_t step = sizeof(Particle);
  const SetsCase case_;
  const std::int64_t idi_ = -1, idj_ = -2;  ///< no pair is left out
  std::vector<Particle> particles_;
  std::vector<Force> forces_;
  std::vector<std::int32_t> index_;
  std::vector<std::vector<NamedInput>> inputs_;
  std::vector<std::vector<NamedResult>> results_;
  std::vector<SourceSegment> segments_;
  std::vector<InteractionSet> sets_;
  Device device_;
  Job job_;
  SetJob set_job_;
};

}  // namespace

std::vector<Measurement> set_calls(const Context& context) {
  std::vector<Measurement> list;
  for (const SetsCase& c : sets_cases) {
    Work work(context, c);
    const Comparison times = compare(TimedWork([&] { work.run_sets(); }),
                                     TimedWork([&] { work.run_job(); }), context.repetitions);
    list.push_back({fmt::format("{}, {} sets of {} x {}{}", c.engine, sets_a_call, c.targets,
                                c.sources, c.indexed ? " by index" : ""),
                    times.ratio, "of the rate of one job",
                    fmt::format("{:.1f} microseconds a set",
                                times.seconds * 1e6 / static_cast<double>(sets_a_call)),
                    c.required});
  }
  return list;
}

}  // namespace gdr::bench
