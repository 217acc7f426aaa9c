// Rates of the engines relative to native loops in the same run, and the cost of small and first
// calls.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdio>
#include <filesystem>
#include <memory>
#include <nlohmann/json.hpp>
#include <numeric>

#include "bench/measurement.hpp"
#include "bench/native/native.hpp"
#include "bench/timing.hpp"
#include "bench/workload.hpp"
#include "gdr/error.hpp"
#include "gdr/gravity.hpp"
#include "libgdr/io/snapshot.hpp"

namespace gdr::bench {
namespace {

constexpr double force_eps = 1.0 / 64;
constexpr std::size_t force_particles = 16384;
/// The chip of 2008 with its own kernel: 56 clocks an interaction and PE at 500 MHz.
constexpr double original_chip = 512.0 / 56 * 500e6;

std::shared_ptr<Device> open(const Context& context, std::string_view engine, Isa isa,
                             unsigned threads) {
  return std::make_shared<Device>(open_device(context, engine, isa_name(isa), threads));
}

/// An engine computing all forces on a sphere.
TimedWork emulated(const std::shared_ptr<Device>& device, const Sphere& sphere) {
  struct Run {
    std::shared_ptr<Device> device;
    Gravity gravity;
    std::vector<double> acceleration, potential;
  };
  auto run =
      std::make_shared<Run>(Run{device, Gravity(*device), std::vector<double>(3 * sphere.size()),
                                std::vector<double>(sphere.size())});
  return TimedWork([run, &sphere] {
    run->gravity.compute(sphere.size(), sphere.position.data(), sphere.mass.data(), force_eps,
                         run->acceleration.data(), run->potential.data());
  });
}

template <typename Real>
NativeParticles<Real> native_particles(const Sphere& sphere) {
  return {sphere.size(), sphere.position.data(), sphere.mass.data()};
}

template <typename Real>
TimedWork native_work(const NamedLoop<Real>& named, NativeParticles<Real>& p, unsigned threads) {
  return TimedWork(
      [&named, &p, threads] { run_native(named.loop, p, force_eps * force_eps, threads); });
}

/// The fastest native double loop of an instruction set.
TimedWork native_double(NativeParticles<double>& p, Isa isa, unsigned threads) {
  std::vector<TimedWork> all;
  for (const NamedLoop<double>& named : existing(native_loops(isa).gravity))
    all.push_back(native_work(named, p, threads));
  const auto faster = [](const TimedWork& a, const TimedWork& b) {
    return a.seconds() < b.seconds();
  };
  return *std::min_element(all.begin(), all.end(), faster);
}

std::string rate_text(double seconds, double pairs) {
  return fmt::format("{:.4g} million interactions/s, {:.3g} of the original's chips",
                     pairs / seconds * 1e-6, pairs / seconds / original_chip);
}

/// Exact, fast and fast in float, each relative to the native loop of the same instruction set.
void add_ratios(const Context& context, Isa isa, const Sphere& sphere,
                std::vector<Measurement>& list) {
  auto doubles = native_particles<double>(sphere);
  auto floats = native_particles<float>(sphere);
  const TimedWork in_double = native_double(doubles, isa, context.threads);
  const TimedWork in_float = native_work(native_loops(isa).gravity_float, floats, context.threads);
  struct Row {
    std::string_view name, engine;
    const TimedWork* beside;
    double required;
  };
  const std::array<Row, 3> rows{{{"exact", "vector", &in_double, isa == Isa::Avx512 ? 0.14 : 0.10},
                                 {"fast double", "native", &in_double, 1.0},
                                 {"fast float", "native-float", &in_float, 0.95}}};
  const auto pairs = static_cast<double>(sphere.size()) * static_cast<double>(sphere.size());
  for (const Row& row : rows) {
    const auto device = open(context, row.engine, isa, context.threads);
    const Comparison c = compare(emulated(device, sphere), *row.beside, context.repetitions);
    list.push_back({fmt::format("{}, {}", row.name, isa_name(isa)), c.ratio,
                    "of the native loop's rate", rate_text(c.seconds, pairs), row.required});
  }
}

/// Speed-up of two threads, with that of the native loop, which depends on the host alone.
void add_threads(const Context& context, Isa isa, const Sphere& sphere,
                 std::vector<Measurement>& list) {
  if (context.threads < 2) return;
  // Two cores are rarely idle at the same time on a shared host: more repetitions.
  const unsigned turns = std::max(16U, context.repetitions);
  auto p = native_particles<double>(sphere);
  const Comparison native = compare(native_double(p, isa, 2), native_double(p, isa, 1), turns);
  for (const std::string_view engine : {"vector", "native"}) {
    const TimedWork one = emulated(open(context, engine, isa, 1), sphere);
    const TimedWork two = emulated(open(context, engine, isa, 2), sphere);
    list.push_back({fmt::format("2 threads against 1, {}", engine), compare(two, one, turns).ratio,
                    "times", fmt::format("{}; the native loop {:.3g}", isa_name(isa), native.ratio),
                    1.85});
  }
}

/// Few targets on many resident sources, relative to the full rate of the engine.
void add_small_blocks(const Context& context, Isa isa, const Sphere& sphere,
                      std::vector<Measurement>& list) {
  constexpr std::size_t few = 32;
  const auto device = open(context, "native", isa, context.threads);
  Job job = device->job(Kernel::builtin("gravity"));
  const std::size_t n = sphere.size();
  std::vector<std::int64_t> ids(n);
  std::iota(ids.begin(), ids.end(), std::int64_t{0});
  const auto column = [&](int k) {
    return ConstArray(sphere.position.data() + k, 3 * sizeof(double));
  };
  job.set("eps2", force_eps * force_eps);
  job.sources(n, {{"xj", column(0)},
                  {"yj", column(1)},
                  {"zj", column(2)},
                  {"mj", sphere.mass.data()},
                  {"idj", ids.data()}});
  std::array<std::vector<double>, 4> sums;
  for (auto& s : sums) s.resize(few);
  const TimedWork small([&] {
    job.targets(few,
                {{"xi", column(0)}, {"yi", column(1)}, {"zi", column(2)}, {"idi", ids.data()}});
    const std::vector<NamedResult> results{{"ax", sums[0].data()},
                                           {"ay", sums[1].data()},
                                           {"az", sums[2].data()},
                                           {"pot", sums[3].data()}};
    job.run(results);
  });
  const Comparison c = compare(small, emulated(device, sphere), context.repetitions);
  const double full = static_cast<double>(n) / few;
  list.push_back({fmt::format("fast double, {} targets, {} sources on the device", few, n),
                  c.ratio / full, "of its own full rate",
                  fmt::format("{:.4g} microseconds a call", c.seconds * 1e6), 0.5});
}

/// A kernel of forces and their time derivatives, of particles on one another.
struct Jerks {
  std::shared_ptr<Device> device;
  Job job;
  std::vector<std::int64_t> source_ids, target_ids;
  std::array<std::vector<double>, 7> sums;  ///< sums, in the order of NativeParticles
};

/// With equal ids each target is also a source and excluded once; otherwise no pair is excluded.
/// Positions serve as velocities: vx is y, vy is z, vz is x.
std::shared_ptr<Jerks> jerks(const std::shared_ptr<Device>& device, const char* kernel,
                             const Sphere& sphere, std::size_t n, bool equal_ids) {
  auto run =
      std::make_shared<Jerks>(Jerks{device, device->job(Kernel::builtin(kernel)), {}, {}, {}});
  run->source_ids.resize(n);
  run->target_ids.resize(n);
  std::iota(run->source_ids.begin(), run->source_ids.end(), std::int64_t{1});
  const auto first = static_cast<std::int64_t>(equal_ids ? 1 : n + 1);
  std::iota(run->target_ids.begin(), run->target_ids.end(), first);
  for (auto& s : run->sums) s.resize(n);
  const auto column = [&](int k) {
    return ConstArray(sphere.position.data() + k, 3 * sizeof(double));
  };
  run->job.set("eps2", force_eps * force_eps);
  run->job.sources(n, {{"xj", column(0)},
                       {"yj", column(1)},
                       {"zj", column(2)},
                       {"mj", sphere.mass.data()},
                       {"vxj", column(1)},
                       {"vyj", column(2)},
                       {"vzj", column(0)},
                       {"idj", run->source_ids.data()}});
  run->job.targets(n, {{"xi", column(0)},
                       {"yi", column(1)},
                       {"zi", column(2)},
                       {"vxi", column(1)},
                       {"vyi", column(2)},
                       {"vzi", column(0)},
                       {"idi", run->target_ids.data()}});
  return run;
}

TimedWork timed(const std::shared_ptr<Jerks>& jerks) {
  return TimedWork([jerks] {
    constexpr std::array<const char*, 7> names{"ax", "ay", "az", "jx", "jy", "jz", "pot"};
    std::vector<NamedResult> results;
    for (std::size_t k = 0; k < names.size(); ++k)
      results.push_back({names[k], jerks->sums[k].data()});
    jerks->job.run(results);
  });
}

/// The largest difference of two columns of sums, as a fraction of the largest number.
double difference(const std::vector<double>& a, const std::vector<double>& b, std::size_t n) {
  double largest = 0, apart = 0;
  for (std::size_t i = 0; i < n; ++i) {
    largest = std::max(largest, std::abs(b[i]));
    apart = std::max(apart, std::abs(a[i] - b[i]));
  }
  return apart / largest;
}

/// Fast numerics of a long kernel relative to the fastest native loop.
void add_jerk_ratio(const Context& context, Isa isa, const Sphere& sphere,
                    std::vector<Measurement>& list) {
  auto native = native_particles<double>(sphere);
  const auto device = open(context, "native", isa, context.threads);
  const auto run = jerks(device, "gravity_jerk_long", sphere, sphere.size(), true);
  const TimedWork ours = timed(run);
  Comparison c;
  for (const NamedLoop<double>& named : existing(native_loops(isa).jerk)) {
    const Comparison one =
        compare(ours, native_work(named, native, context.threads), context.repetitions);
    if (c.ratio == 0 || one.ratio < c.ratio) c = one;
  }
  if (c.ratio == 0) return;  // no native loop for this instruction set
  double apart = 0;
  for (std::size_t k = 0; k < 6; ++k)  // the native potential includes the particle itself
    apart = std::max(apart, difference(run->sums[k], native.sum[k], sphere.size()));
  const auto pairs = static_cast<double>(sphere.size()) * static_cast<double>(sphere.size());
  list.push_back({fmt::format("fast double, gravity_jerk_long, {}", isa_name(isa)), c.ratio,
                  "of the native loop's rate",
                  fmt::format("{:.4g} million interactions/s, sums {:.2g} apart",
                              pairs / c.seconds * 1e-6, apart),
                  0.9});
}

/// Excluded pairs must not slow down the other pairs.
void add_equal_ids(const Context& context, Isa isa, const Sphere& sphere,
                   std::vector<Measurement>& list) {
  for (const std::size_t n : {std::size_t{1024}, std::size_t{4096}}) {
    const auto device = open(context, "vector", isa, context.threads);
    const auto apart = open(context, "vector", isa, context.threads);
    const Comparison c = compare(timed(jerks(device, "gravity_jerk", sphere, n, true)),
                                 timed(jerks(apart, "gravity_jerk", sphere, n, false)),
                                 std::max(16U, context.repetitions));
    const Statistics s = device->statistics();
    list.push_back(
        {fmt::format("exact gravity_jerk with equal ids, {} x {}, {}", n, n, isa_name(isa)),
         c.ratio, "of the rate without equal ids",
         fmt::format("{} of {} block runs on integers", s.fallback_runs,
                     s.fast_runs + s.fallback_runs),
         0.95});
  }
}

/// The example snapshot of n particles; outside of a source tree, a generated sphere of as many.
std::pair<std::string, Sphere> example_sphere(const Context& context, std::size_t n) {
  const std::string name = fmt::format("plummer_{}.hdf5", n);
  if (!has_examples(context))
    return {fmt::format("{} generated particles", n), plummer_sphere(n, context.seed)};
  const Snapshot snapshot = read_snapshot(data_file(context, name), Velocities::Ignored);
  return {name, {snapshot.position, snapshot.mass}};
}

/// Block runs that could not be verified in doubles, on the example snapshots.
void add_fallen_back(const Context& context, Isa isa, std::vector<Measurement>& list) {
  for (const std::size_t n : {1024, 4096}) {
    const auto [name, snapshot] = example_sphere(context, n);
    const auto device = open(context, "vector", isa, context.threads);
    Gravity gravity(*device);
    std::vector<double> acceleration(3 * snapshot.size()), potential(snapshot.size());
    gravity.compute(snapshot.size(), snapshot.position.data(), snapshot.mass.data(), force_eps,
                    acceleration.data(), potential.data());
    const Statistics s = device->statistics();
    list.push_back({fmt::format("blocks fallen back, {}", name),
                    static_cast<double>(s.fallback_runs), "block runs",
                    fmt::format("{} proved in doubles", s.fast_runs), 0.0, true});
  }
}

void add_first_call(const Context& context, Isa isa, std::vector<Measurement>& list) {
  const std::size_t n = 32;
  const Sphere sphere = plummer_sphere(n, context.seed);
  const auto device = open(context, "native", isa, 1);
  Gravity gravity(*device);
  std::vector<double> acceleration(3 * n), potential(n);
  const auto call = [&] {
    gravity.compute(n, sphere.position.data(), sphere.mass.data(), force_eps, acceleration.data(),
                    potential.data());
  };
  call();
  list.push_back({"first call, code generation", device->statistics().compile_seconds * 1e3,
                  "milliseconds", fmt::format("gravity, {}", isa_name(isa)), 10.0, true});
}

/// Fraction of the wall time of the program `gdr force` that is spent on forces.
void add_end_to_end(const Context& context, Isa isa, std::vector<Measurement>& list) {
  constexpr std::size_t n = 131072;
  const Sphere sphere = plummer_sphere(n, context.seed);
  Snapshot snapshot;
  snapshot.position = sphere.position;
  snapshot.velocity.assign(3 * n, 0.0);
  snapshot.mass = sphere.mass;
  snapshot.id.resize(n);
  std::iota(snapshot.id.begin(), snapshot.id.end(), std::uint64_t{1});
  snapshot.type_counts = {0, n, 0, 0, 0, 0};
  // A private folder, where no other user can place links.
  std::string folder = (std::filesystem::temp_directory_path() / "gdr-bench-XXXXXX").string();
  if (::mkdtemp(folder.data()) == nullptr)
    throw Error(ErrorCategory::Io, "cannot make a folder " + folder);
  const std::string in = folder + "/in.hdf5", out = folder + "/out.hdf5";
  write_snapshot(in, snapshot, SnapshotFormat::Hdf5);
  const std::string command = fmt::format(
      "'{}' force '{}' --eps 0.015625 -o '{}' --engine native --isa {} --threads {} --json",
      std::filesystem::read_symlink("/proc/self/exe").string(), in, out, isa_name(isa),
      context.threads);
  std::string text;
  const double wall = seconds_of([&] {
    const std::unique_ptr<FILE, int (*)(FILE*)> pipe(popen(command.c_str(), "r"), pclose);
    if (!pipe) throw Error(ErrorCategory::Io, "cannot start '" + command + "'");
    std::array<char, 4096> buffer{};
    for (std::size_t got; (got = fread(buffer.data(), 1, buffer.size(), pipe.get())) > 0;)
      text.append(buffer.data(), got);
  });
  std::filesystem::remove_all(folder);
  const auto json = nlohmann::json::parse(text, nullptr, false);
  if (json.is_discarded()) throw Error(ErrorCategory::Internal, "'" + command + "' failed");
  list.push_back({fmt::format("gdr force, {} particles: computing forces", n),
                  json["host_seconds"].get<double>() / wall, "of the wall time",
                  fmt::format("{:.4g} s", wall), 0.85});
}

}  // namespace

std::vector<Measurement> engine_table(const Context& context) {
  const Sphere sphere = plummer_sphere(force_particles, context.seed);
  std::vector<Measurement> list;
  std::vector<Isa> isas;
  for (const Isa isa : host_isas()) {
    if (context.device.isa.empty() ? isa != Isa::Portable : context.device.isa == isa_name(isa))
      isas.push_back(isa);
  }
  if (isas.empty()) isas.push_back(Isa::Portable);
  add_fallen_back(context, isas.front(), list);  // first: reports missing files at once
  add_first_call(context, isas.front(), list);
  for (const Isa isa : isas) add_ratios(context, isa, sphere, list);
  for (const Isa isa : isas) add_jerk_ratio(context, isa, sphere, list);
  for (const Isa isa : isas) add_equal_ids(context, isa, sphere, list);
  add_threads(context, isas.front(), sphere, list);
  add_small_blocks(context, isas.front(), sphere, list);
  add_end_to_end(context, isas.front(), list);
  return list;
}

}  // namespace gdr::bench
