// Calls with few targets, as N-body codes make them by the thousand: their rate as a fraction of
// the same kernel's on 16384 particles, with the same engine and number of threads.
#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <thread>
#include <utility>
#include <vector>

#include "bench/gravity_calls.hpp"
#include "bench/measurement.hpp"
#include "bench/timing.hpp"
#include "bench/workload.hpp"
#include "gdr/device.hpp"

namespace gdr::bench {
namespace {

constexpr std::size_t large = 16384;
constexpr unsigned calls_a_round = 200;
/// Where one thread does the work of both, they are as fast as the host lets them.
constexpr double same_speed = 0.97;

struct SmallCase {
  const char* kernel;
  std::size_t targets, sources;
  unsigned threads;
  bool new_sources;
  double required;  ///< required fraction of the full rate
  const char* engine = "native";
};
constexpr SmallCase small_cases[] = {
    {"gravity", 48, 1024, 1, false, 0.6},
    {"gravity_jerk", 48, 1024, 1, false, 0.7},
    {"gravity_jerk", 48, 1024, 1, true, 0.5},
    {"gravity_jerk", 512, 1024, 2, false, 0.75},
    {"gravity_jerk", 48, 1024, 2, false, 0.5},
    {"gravity_jerk_long", 48, 102400, 1, false, 0.85},
    {"gravity_jerk", 8, 1024, 1, false, 0.35},
    {"gravity", 1024, 1024, 1, false, 0.8},
    {"gravity", 48, 1024, 1, false, 0.4, "vector"},
    {"gravity_jerk", 48, 1024, 1, false, 0.55, "vector"},
};

bool is_native(const SmallCase& c) { return std::string_view(c.engine) == "native"; }

/// Positions, velocities, masses and ids for all cases.
struct SmallSets {
  explicit SmallSets(std::uint64_t seed) {
    Random random(seed);
    for (std::size_t i = 0; i < 102400; ++i) {
      for (auto* column : {&x, &y, &z, &vx, &vy, &vz}) column->push_back(random.uniform() - 0.5);
      mass.push_back(1.0 / 102400);
      id.push_back(static_cast<std::int64_t>(i));
      other_id.push_back(static_cast<std::int64_t>(i) + 1'000'000);
    }
  }
  ParticleColumns columns() const {
    return {x.data(),  y.data(),    z.data(),  vx.data(),      vy.data(),
            vz.data(), mass.data(), id.data(), other_id.data()};
  }

  std::vector<double> x, y, z, vx, vy, vz, mass;
  std::vector<std::int64_t> id, other_id;  ///< ids of sources and of targets: no pair is left out
};

/// The calls of a case.
class SmallCalls {
 public:
  SmallCalls(const Context& context, const SmallSets& particles, const SmallCase& c)
      : SmallCalls(std::make_shared<Device>(open_device(context, c.engine, {}, c.threads)),
                   particles, c) {}
  SmallCalls(std::shared_ptr<Device> device, const SmallSets& particles, const SmallCase& c)
      : new_sources_(c.new_sources),
        calls_(std::move(device), c.kernel, c.targets, c.sources, particles.columns()) {}

  void call() {
    if (new_sources_) calls_.set_sources();
    calls_.call();
  }

  /// Median seconds of a call.
  double seconds(unsigned repetitions) {
    for (unsigned k = 0; k < std::min(repetitions, 5U); ++k) call();
    std::vector<double> all;
    for (unsigned k = 0; k < repetitions; ++k) all.push_back(seconds_of([this] { call(); }));
    return median(all);
  }

 private:
  const bool new_sources_;
  GravityCalls calls_;
};

double interactions(const SmallCase& c) {
  return static_cast<double>(c.targets) * static_cast<double>(c.sources);
}

/// Keeps a core busy, as another program would.
class BusyCore {
 public:
  BusyCore()
      : thread_([this] {
          while (!stop_.load(std::memory_order_relaxed)) {
          }
        }) {}
  BusyCore(const BusyCore&) = delete;
  BusyCore& operator=(const BusyCore&) = delete;
  ~BusyCore() {
    stop_ = true;
    thread_.join();
  }

 private:
  std::atomic<bool> stop_ = false;
  std::thread thread_;
};

/// How much faster calls are with two threads than with one.
double gain_of_two(const Context& context, const SmallSets& particles, SmallCase c) {
  c.threads = 1;
  SmallCalls one(context, particles, c);
  c.threads = 2;
  SmallCalls two(context, particles, c);
  std::vector<double> ratios;
  for (unsigned k = 0; k < context.repetitions; ++k)
    ratios.push_back(one.seconds(calls_a_round / 2) / two.seconds(calls_a_round / 2));
  return median(ratios);
}

/// Two host threads with a job each on a device of two threads.
class TwoCallers {
 public:
  TwoCallers(const Context& context, const SmallSets& particles, const SmallCase& c,
             unsigned queues)
      : device_(std::make_shared<Device>(open_with_queues(context, queues))),
        first_(device_, particles, c),
        second_(device_, particles, c) {}

  /// Seconds of as many calls in each thread.
  double seconds() {
    return seconds_of([this] {
      std::thread other([this] { repeat(second_); });
      repeat(first_);
      other.join();
    });
  }

 private:
  static Device open_with_queues(const Context& context, unsigned queues) {
    cli::DeviceChoice choice = context.device;
    choice.engine = "native";
    choice.threads = 2;
    choice.queues = queues;
    return cli::open_device(choice);
  }
  static void repeat(SmallCalls& job) {
    for (unsigned k = 0; k < 10 * calls_a_round; ++k)
      job.call();  // long beside the start of a thread
  }

  std::shared_ptr<Device> device_;
  SmallCalls first_, second_;
};

/// How much faster the calls of two host threads are with two queues than with one.
double gain_of_queues(const Context& context, const SmallSets& particles, const SmallCase& c) {
  TwoCallers one(context, particles, c, 1), two(context, particles, c, 2);
  for (TwoCallers* const callers : {&one, &two}) callers->seconds();  // the first are slower
  std::vector<double> ratios;
  for (unsigned k = 0; k < context.repetitions; ++k) {
    const double with_one = one.seconds();
    ratios.push_back(with_one / two.seconds());
  }
  return median(ratios);
}

}  // namespace

std::vector<Measurement> small_calls(const Context& context) {
  const SmallSets particles(context.seed);
  std::vector<Measurement> list;
  for (const SmallCase& c : small_cases) {
    SmallCase full = c;
    full.targets = full.sources = large;
    full.new_sources = false;
    SmallCalls small(context, particles, c), whole(context, particles, full);
    std::vector<double> fractions, seconds;
    for (unsigned k = 0; k < context.repetitions; ++k) {
      seconds.push_back(small.seconds(calls_a_round));
      fractions.push_back(interactions(c) / seconds.back() * whole.seconds(1) / interactions(full));
    }
    list.push_back(
        {fmt::format("{}, {} x {}, {} thread{}{}{}", c.kernel, c.targets, c.sources, c.threads,
                     c.threads == 1 ? "" : "s", c.new_sources ? ", new sources" : "",
                     is_native(c) ? "" : ", exact"),
         median(fractions), "of the rate at 16384 x 16384",
         fmt::format("{:.1f} microseconds a call", median(seconds) * 1e6), c.required});
  }
  for (const SmallCase& c : small_cases) {
    if (c.threads != 1 || !is_native(c)) continue;
    for (const bool busy : {false, true}) {
      std::optional<BusyCore> other;
      if (busy) other.emplace();
      list.push_back(
          {fmt::format("{}, {} x {}{}, two threads of one{}", c.kernel, c.targets, c.sources,
                       c.new_sources ? ", new sources" : "", busy ? ", beside a busy core" : ""),
           gain_of_two(context, particles, c),
           "times as fast",
           {},
           same_speed});
    }
  }
  for (const SmallCase& c : small_cases)
    if (c.threads == 1 && !c.new_sources && is_native(c) && c.targets <= 48 && c.sources == 1024)
      list.push_back({fmt::format("{}, {} x {}, two host threads, two queues of one", c.kernel,
                                  c.targets, c.sources),
                      gain_of_queues(context, particles, c),
                      "times as fast",
                      {},
                      same_speed});
  SmallCalls tiny(context, particles, {"gravity_jerk", 2, 2, context.threads, false, 0});
  list.push_back({"gravity_jerk, 2 x 2", tiny.seconds(calls_a_round) * 1e6, "microseconds",
                  "median of 200 calls", 15.0, true});
  std::vector<double> opens;
  for (unsigned k = 0; k < context.repetitions; ++k)
    opens.push_back(seconds_of([&] { Device::open("emulator:engine=native"); }));
  list.push_back({"opening a device", median(opens) * 1e3, "milliseconds", {}, 3.0, true});
  return list;
}

}  // namespace gdr::bench
