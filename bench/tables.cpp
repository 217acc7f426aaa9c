// Gravity by a table of the force in r^2 that is interpolated linearly: the rate of the kernel as a
// fraction of that of a native loop with the host's gather.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "bench/measurement.hpp"
#include "bench/native/native.hpp"
#include "bench/timing.hpp"
#include "bench/workload.hpp"
#include "gdr/device.hpp"
#include "gdr/error.hpp"
#include "gdr/kernel.hpp"
#include "kernels/compiler/compiler.hpp"

namespace gdr::bench {
namespace {

constexpr std::size_t table_bodies = 16384;
constexpr double table_softening2 = 0.01;
/// Range of the table, in r^2. Particles are in a cube of side one.
constexpr double range = 3;

struct TableCase {
  const char* engine;
  /// 256 elements fit in the chip's local memory. For more the machine has a larger one.
  std::size_t elements;
  std::optional<double> required = {};
};
constexpr TableCase table_cases[] = {{"native", 256, 0.9},
                                     {"native", 1024, 0.9},
                                     {"native-float", 256, 0.9},
                                     {"native-float", 1024, 0.9}};

Isa isa_of(const Context& context) {
  if (context.device.isa.empty()) return host_isas().front();
  return find_isa(context.device.isa).value_or(Isa::Portable);
}

std::string text_of(const TableCase& c) {
  return fmt::format(
      "CONST short table force[{}]; CONST scale;\n"
      "VARI xi, yi, zi; VARJ xj, yj, zj, mj; VARF ax, ay, az;\n"
      "dx = xj - xi; dy = yj - yi; dz = zj - zi;\n"
      "y = min((dx*dx + dy*dy + dz*dz)*scale, {});\n"
      "k = int(y); r = y - k;\n"
      "f = mj*(force[k] + r*(force[k + 1] - force[k]));\n"
      "ax += f*dx; ay += f*dy; az += f*dz;\n",
      c.elements, static_cast<double>(c.elements) - 1.25);
}

struct TableParticles {
  explicit TableParticles(std::uint64_t seed) {
    Random random(seed);
    for (std::size_t k = 0; k < 3 * table_bodies; ++k) position.push_back(random.uniform() - 0.5);
    for (std::size_t k = 0; k < table_bodies; ++k) mass.push_back(random.uniform() / table_bodies);
    for (std::size_t c = 0; c < 3; ++c)
      for (std::size_t k = 0; k < table_bodies; ++k) axis[c].push_back(position[3 * k + c]);
  }
  std::vector<double> position, mass;  ///< positions as triples
  std::array<std::vector<double>, 3> axis;
};

/// The elements of a table and their number in r^2 of one.
struct Law {
  explicit Law(std::size_t elements) : scale(static_cast<double>(elements) / range) {
    for (std::size_t k = 0; k < elements; ++k)
      values.push_back(std::pow(static_cast<double>(k) / scale + table_softening2, -1.5));
  }
  double scale;
  std::vector<double> values;
};

class EmulatedTable {
 public:
  EmulatedTable(const Context& context, const TableParticles& p, const TableCase& c, const Law& law)
      : particles_(p), device_(open(context, c)), job_(device_.job(kernel_of(c))) {
    job_.set("scale", law.scale);
    for (std::size_t k = 0; k < law.values.size(); ++k)
      job_.set(fmt::format("force_{}", k), law.values[k]);
    for (auto& sum : sums) sum.resize(table_bodies);
  }
  void call() {
    const auto& [x, y, z] = particles_.axis;
    job_.targets(table_bodies,
                 {{"xi", ConstArray(x)}, {"yi", ConstArray(y)}, {"zi", ConstArray(z)}});
    job_.sources(table_bodies, {{"xj", ConstArray(x)},
                                {"yj", ConstArray(y)},
                                {"zj", ConstArray(z)},
                                {"mj", ConstArray(particles_.mass)}});
    job_.run({{"ax", MutableArray(sums[0])},
              {"ay", MutableArray(sums[1])},
              {"az", MutableArray(sums[2])}});
  }
  std::array<std::vector<double>, 3> sums;

 private:
  static std::uint32_t local_words(const TableCase& c) {
    return static_cast<std::uint32_t>(std::max<std::size_t>(256, c.elements));
  }
  static Device open(const Context& context, const TableCase& c) {
    Context on = context;
    on.device.device = fmt::format("emulator:local={}", local_words(c));
    return open_device(on, c.engine);
  }
  /// Without the search for a short loop, which does not make these engines faster.
  static Kernel kernel_of(const TableCase& c) {
    CompileOptions options;
    options.geometry.local_words = local_words(c);
    options.pipeline = false;
    const CompileResult made = compile_kernel(text_of(c), "table.gdk", options);
    if (!made.ok()) throw Error(ErrorCategory::Program, made.diagnostics.render());
    return Kernel(*made.program);
  }

  const TableParticles& particles_;
  Device device_;
  Job job_;
};

/// The native loops of an instruction set; the fastest is taken.
template <typename Real>
class NativeTable {
 public:
  NativeTable(const Context& context, const TableParticles& p, const Law& law)
      : particles(table_bodies, p.position.data(), p.mass.data()),
        threads_(context.threads),
        values_(law.values.begin(), law.values.end()) {
    table_ = {values_.data(), static_cast<Real>(law.scale),
              static_cast<Real>(law.values.size()) - Real(1.25)};
    double best = 0;
    for (const TableLoop<Real> loop : loops(native_loops(isa_of(context)))) {
      if (loop == nullptr) continue;
      loop_ = loop;
      const double seconds = std::min(seconds_of([&] { call(); }), seconds_of([&] { call(); }));
      if (best == 0 || seconds < best) {
        best = seconds;
        fastest_ = loop;
      }
    }
    loop_ = fastest_;
  }
  void call() { run_native(loop_, particles, table_, threads_); }

  NativeParticles<Real> particles;

 private:
  static auto& loops(const LoopSet& set) {
    if constexpr (sizeof(Real) == sizeof(float))
      return set.table_float;
    else
      return set.table;
  }

  unsigned threads_;
  std::vector<Real> values_;
  ForceTable<Real> table_;
  TableLoop<Real> loop_ = nullptr, fastest_ = nullptr;
};

/// Largest difference of accelerations relative to their largest component.
template <typename Real>
double difference(const EmulatedTable& a, const NativeTable<Real>& b) {
  double most = 0, size = 0;
  for (std::size_t c = 0; c < 3; ++c)
    for (std::size_t k = 0; k < table_bodies; ++k) {
      const auto other = static_cast<double>(b.particles.sum[c][k]);
      size = std::max(size, std::abs(other));
      most = std::max(most, std::abs(a.sums[c][k] - other));
    }
  return most / size;
}

template <typename Real>
Measurement measure(const Context& context, const TableParticles& particles, const TableCase& c) {
  const Law law(c.elements);
  EmulatedTable emulated(context, particles, c, law);
  NativeTable<Real> native(context, particles, law);
  const Comparison times = compare(TimedWork([&] { emulated.call(); }),
                                   TimedWork([&] { native.call(); }), context.repetitions);
  const double pairs = static_cast<double>(table_bodies) * static_cast<double>(table_bodies);
  return {fmt::format("{}, {} x {}, {} elements", c.engine, table_bodies, table_bodies, c.elements),
          times.ratio, "of the native loop's rate",
          fmt::format("{:.2e} pairs/s, difference {:.1e}", pairs / times.seconds,
                      difference(emulated, native)),
          // The portable path interprets.
          isa_of(context) == Isa::Portable ? std::nullopt : c.required};
}

}  // namespace

std::vector<Measurement> table_rates(const Context& context) {
  const TableParticles particles(context.seed);
  std::vector<Measurement> list;
  for (const TableCase& c : table_cases)
    list.push_back(std::string(c.engine) == "native" ? measure<double>(context, particles, c)
                                                     : measure<float>(context, particles, c));
  return list;
}

}  // namespace gdr::bench
