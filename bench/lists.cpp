// Kernels that collect neighbour lists: their rate as a fraction of that of the same kernel without
// the list. The lists are read, too.
#include <fmt/format.h>

#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <numbers>
#include <optional>
#include <string>
#include <vector>

#include "bench/measurement.hpp"
#include "bench/timing.hpp"
#include "bench/workload.hpp"
#include "gdr/device.hpp"
#include "gdr/kernel.hpp"

namespace gdr::bench {
namespace {

struct ListCase {
  const char* engine;
  std::size_t targets, sources;
  double neighbours;  ///< mean number of neighbours of a target
  std::size_t capacity;
  /// Acceleration, its time derivative and potential; otherwise the neighbours alone, beside their
  /// number alone.
  bool jerk = true;
  std::optional<double> required = {};
};
constexpr ListCase list_cases[] = {
    {"native", 4096, 16384, 10, 32, true, 0.5},
    {"native", 4096, 16384, 30, 64, true, 0.5},
    {"native", 4096, 16384, 50, 128, true, 0.5},
    {"native", 4096, 16384, 500, 128},
    {"native-float", 4096, 16384, 30, 64, true, 0.5},
    {"native", 4096, 16384, 30, 64, false},
    {"native", 48, 1024, 10, 32},
};

std::string text_of(const ListCase& c, bool list) {
  std::string text = "VARI xi, yi, zi, vxi, vyi, vzi; VARJ xj, yj, zj, vxj, vyj, vzj, mj;\n";
  if (list || !c.jerk) text += "VARI hi2; VARJ int idj;\n";
  text += "dx = xj - xi; dy = yj - yi; dz = zj - zi;\nr2 = dx*dx + dy*dy + dz*dz;\n";
  if (list) {
    text += fmt::format("VARF list near[{}];\nif (r2 < hi2) {{ near append= idj; }}\n", c.capacity);
  } else if (!c.jerk) {
    text += "VARF int near;\nnear += r2 < hi2 ? 1 : 0;\n";
  }
  if (!c.jerk) return text;
  return text +
         "VARF ax, ay, az, jx, jy, jz, pot;\n"
         "dvx = vxj - vxi; dvy = vyj - vyi; dvz = vzj - vzi;\n"
         "rv = dx*dvx + dy*dvy + dz*dvz; rinv = rsqrt(r2 + 1e-4); r2inv = rinv*rinv;\n"
         "mr = mj*rinv; f = mr*r2inv; al = 3*rv*r2inv;\n"
         "ax += f*dx; ay += f*dy; az += f*dz;\n"
         "jx += f*(dvx - al*dx); jy += f*(dvy - al*dy); jz += f*(dvz - al*dz); pot -= mr;\n";
}

/// Particles in a cube of side one.
struct ListParticles {
  explicit ListParticles(std::uint64_t seed, std::size_t n) : id(n) {
    Random random(seed);
    for (auto* column : {&x, &y, &z, &vx, &vy, &vz})
      for (std::size_t k = 0; k < n; ++k) column->push_back(random.uniform() - 0.5);
    mass.assign(n, 1.0 / static_cast<double>(n));
    for (std::size_t k = 0; k < n; ++k) id[k] = static_cast<std::int64_t>(k);
  }
  std::vector<double> x, y, z, vx, vy, vz, mass;
  std::vector<std::int64_t> id;
};

/// A job of a case with new targets for each call.
class ListCalls {
 public:
  ListCalls(const Context& context, const ListParticles& p, const ListCase& c, bool list)
      : particles_(p),
        case_(c),
        list_(list),
        device_(open_device(context, c.engine)),
        job_(device_.job(Kernel::compile(text_of(c, list), "lists.gdk"))),
        count_(c.targets),
        ids_(c.targets * c.capacity) {
    const double volume = c.neighbours / static_cast<double>(c.sources);
    const double radius = std::cbrt(volume * 3 / (4 * std::numbers::pi));
    radius2_.assign(c.targets, radius * radius);
    for (auto& sum : sums_) sum.resize(c.targets);
    std::vector<NamedInput> sources{{"xj", ConstArray(p.x)},   {"yj", ConstArray(p.y)},
                                    {"zj", ConstArray(p.z)},   {"vxj", ConstArray(p.vx)},
                                    {"vyj", ConstArray(p.vy)}, {"vzj", ConstArray(p.vz)},
                                    {"mj", ConstArray(p.mass)}};
    if (uses_radius()) sources.push_back({"idj", ConstArray(p.id.data())});
    job_.sources(c.sources, sources);
  }

  void call() {
    const ListParticles& p = particles_;
    std::vector<NamedInput> targets{{"xi", ConstArray(p.x)},   {"yi", ConstArray(p.y)},
                                    {"zi", ConstArray(p.z)},   {"vxi", ConstArray(p.vx)},
                                    {"vyi", ConstArray(p.vy)}, {"vzi", ConstArray(p.vz)}};
    if (uses_radius()) targets.push_back({"hi2", ConstArray(radius2_)});
    job_.targets(case_.targets, targets);
    std::vector<NamedResult> results;
    constexpr const char* names[] = {"ax", "ay", "az", "jx", "jy", "jz", "pot"};
    for (std::size_t k = 0; case_.jerk && k < sums_.size(); ++k)
      results.push_back({names[k], MutableArray(sums_[k])});
    if (uses_radius()) results.push_back({"near", count_.data()});
    if (list_) results.push_back({"near[]", ids_.data()});
    job_.run(results);
  }

  double mean_count() const {
    double sum = 0;
    for (const std::int64_t n : count_) sum += static_cast<double>(n);
    return sum / static_cast<double>(case_.targets);
  }

 private:
  bool uses_radius() const { return list_ || !case_.jerk; }

  const ListParticles& particles_;
  const ListCase case_;
  const bool list_;
  Device device_;
  Job job_;
  std::vector<double> radius2_;
  std::array<std::vector<double>, 7> sums_;
  std::vector<std::int64_t> count_, ids_;
};

}  // namespace

std::vector<Measurement> neighbour_lists(const Context& context) {
  std::vector<Measurement> list;
  for (const ListCase& c : list_cases) {
    const ListParticles particles(context.seed, c.sources);
    ListCalls with(context, particles, c, true), without(context, particles, c, false);
    const Comparison times = compare(TimedWork([&] { with.call(); }),
                                     TimedWork([&] { without.call(); }), context.repetitions);
    const double pairs = static_cast<double>(c.targets) * static_cast<double>(c.sources);
    list.push_back(
        {fmt::format("{}, {} x {}, {}, {:.0f} neighbours", c.engine, c.targets, c.sources,
                     c.jerk ? "gravity with jerk" : "lists alone", with.mean_count()),
         times.ratio, c.jerk ? "of the rate without lists" : "of the rate of counting",
         fmt::format("{:.2e} pairs/s", pairs / times.seconds), c.required});
  }
  return list;
}

}  // namespace gdr::bench
