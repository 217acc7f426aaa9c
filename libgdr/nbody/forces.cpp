// Forces computed by a device, or by direct summation in double on the host, and predicted costs.
#include "libgdr/nbody/forces.hpp"

#include <fmt/format.h>

#include <cmath>
#include <cstdlib>
#include <functional>
#include <memory>

#include "emulator/host/parallel.hpp"
#include "emulator/host/stopwatch.hpp"
#include "gdr/error.hpp"
#include "gdr/gravity.hpp"
#include "libgdr/device/names.hpp"
#include "libgdr/particle/overflow_diagnosis.hpp"
#include "libgdr/ranks/ranks.hpp"

namespace gdr {
namespace {

/// Sources as separate arrays, which the compiler turns into SIMD lanes.
struct Sources {
  std::vector<double> x, y, z, m;
};

Sources separate(std::span<const double> position, std::span<const double> mass) {
  const std::size_t n = mass.size();
  Sources s{std::vector<double>(n),
            std::vector<double>(n),
            std::vector<double>(n),
            {mass.begin(), mass.end()}};
  for (std::size_t i = 0; i < n; ++i) {
    s.x[i] = position[3 * i];
    s.y[i] = position[3 * i + 1];
    s.z[i] = position[3 * i + 2];
  }
  return s;
}

struct Force {
  double x = 0, y = 0, z = 0, potential = 0;
};

/// Sum over all sources but `self`. The pair of a particle with itself is left out by its distance
/// where there is no softening; where there is, it adds nothing to the acceleration, and the caller
/// takes it out of the potential.
Force sum_on(const Sources& s, std::size_t self, double eps2) {
  const double xi = s.x[self], yi = s.y[self], zi = s.z[self];
  const double *x = s.x.data(), *y = s.y.data(), *z = s.z.data(), *m = s.m.data();
  double ax = 0, ay = 0, az = 0, phi = 0;
  const std::size_t n = s.m.size();
#pragma omp simd reduction(+ : ax, ay, az, phi)
  for (std::size_t j = 0; j < n; ++j) {
    const double dx = x[j] - xi, dy = y[j] - yi, dz = z[j] - zi;
    const double r2 = dx * dx + dy * dy + dz * dz + eps2;
    const double inverse = r2 > 0 ? 1.0 / std::sqrt(r2) : 0.0;
    const double phi_j = m[j] * inverse;
    const double f = phi_j * inverse * inverse;
    ax += f * dx;
    ay += f * dy;
    az += f * dz;
    phi -= phi_j;
  }
  return {ax, ay, az, phi};
}

/// Masses times the gravitational constant; the kernels assume G = 1.
std::vector<double> scaled(std::span<const double> mass, double gravity) {
  std::vector<double> result(mass.begin(), mass.end());
  for (double& m : result) m *= gravity;
  return result;
}

/// The particles of a rank, and where their forces go.
struct Part {
  std::size_t n;
  const double *position, *mass;
  double *acceleration, *potential;
};

/// The law whose forces `compute(Gravity&, const Part&)` computes. What it returns is called when
/// all ranks have them: ranks may fail on the way, and the remaining ones compute again.
template <typename Compute>
ForceLaw forces_on(Device& device, double gravity, Compute compute) {
  auto kernel = std::make_shared<Gravity>(device);
  return [&device, kernel, gravity, compute](auto position, auto mass, auto acceleration,
                                             auto potential) {
    const std::vector<double> gm = scaled(mass, gravity);
    std::function<void()> keep;
    // The part of a rank grows when other ranks fail.
    device.retry_on_rank_failure([&] {
      RankGroup* const ranks = DeviceRanks::group(device);
      const auto [first, end] = part_of_rank(ranks, gm.size());
      keep = compute(*kernel, Part{end - first, position.data() + 3 * first, gm.data() + first,
                                   acceleration.data() + 3 * first, potential.data() + first});
      if (ranks != nullptr) {
        gather_parts(*ranks, acceleration.data(), gm.size(), 3);
        gather_parts(*ranks, potential.data(), gm.size(), 1);
      }
      collectively(ranks, [&] { check_forces(position, acceleration, potential); });
    });
    keep();
  };
}

/// With the choice of the request as long as its error is small enough, else with a new one, which
/// the request gets. `made`: the choice with which it was computed.
TreeReport compute_with_tree(Gravity& kernel, const Part& p, double eps, TreeRequest& request,
                             TreeChoice& made) {
  made = request.choice;
  TreeReport earlier;
  TreeOptions options;
  options.accuracy = request.accuracy;
  options.calls = TreeRequest::steps_of_choice;
  if (made.method != TreeMethod::Auto) {
    earlier.method = made.method;
    earlier.degree = made.degree;
    earlier.theta = made.theta;
    options.earlier = &earlier;
  }
  const TreeReport report =
      kernel.compute(p.n, p.position, p.mass, eps, p.acceleration, p.potential, options);
  const TreeChoice used{report.method, report.degree, report.theta};
  if (used == made) return report;
  made = {};
  request.choice = used;
  return report;
}

/// The name that Device::open uses for an empty one.
std::string full_name(const std::string& device_name) {
  if (!device_name.empty()) return device_name;
  const char* variable = std::getenv("GDR_DEVICE");
  return variable != nullptr && *variable != '\0' ? variable : "emulator";
}

}  // namespace

void direct_sum(std::span<const double> position, std::span<const double> mass, double eps,
                std::span<double> acceleration, std::span<double> potential) {
  const Sources sources = separate(position, mass);
  const double eps2 = eps * eps;
  parallel_items(mass.size(), 0, [&](std::size_t target) {
    const Force force = sum_on(sources, target, eps2);
    acceleration[3 * target] = force.x;
    acceleration[3 * target + 1] = force.y;
    acceleration[3 * target + 2] = force.z;
    const double own = eps2 > 0 ? mass[target] * (1.0 / std::sqrt(eps2)) : 0.0;
    potential[target] = force.potential + own;
  });
}

ForceLaw device_forces(Device& device, double eps, double gravity) {
  return forces_on(device, gravity, [eps](Gravity& kernel, const Part& p) {
    kernel.compute(p.n, p.position, p.mass, eps, p.acceleration, p.potential);
    return [] {};
  });
}

ForceLaw tree_forces(Device& device, double eps, double gravity, const TreeRequest& request,
                     TreeUse& use) {
  const auto state = std::make_shared<TreeRequest>(request);
  return forces_on(device, gravity, [eps, state, &use](Gravity& kernel, const Part& p) {
    const Stopwatch watch;
    TreeRequest next = *state;
    TreeChoice made;
    const TreeReport report = compute_with_tree(kernel, p, eps, next, made);
    const double seconds = watch.seconds();
    ++next.step;
    if (next.step % TreeRequest::steps_of_choice == 0) next.choice = {};
    return [state, &use, next, made, report, seconds] {
      *state = next;
      use.latest = made;
      use.add(report, seconds);
    };
  });
}

ForceLaw host_forces(double eps, double gravity) {
  return [eps, gravity](auto position, auto mass, auto acceleration, auto potential) {
    direct_sum(position, scaled(mass, gravity), eps, acceleration, potential);
    check_forces(position, acceleration, potential);
  };
}

std::pair<std::size_t, std::size_t> part_of_rank(RankGroup* ranks, std::size_t n) {
  if (ranks == nullptr) return {0, n};
  return {part_begin(n, ranks->rank(), ranks->size()),
          part_begin(n, ranks->rank() + 1, ranks->size())};
}

void check_forces(std::span<const double> position, std::span<const double> acceleration,
                  std::span<const double> potential) {
  for (std::size_t i = 0; i < potential.size(); ++i) {
    const double* a = acceleration.data() + 3 * i;
    if (std::isfinite(a[0]) && std::isfinite(a[1]) && std::isfinite(a[2]) &&
        std::isfinite(potential[i]))
      continue;
    if (const std::string far = describe_overflow("particle", position); !far.empty())
      throw Error(ErrorCategory::Input, "the forces are not finite: " + far);
    throw Error(
        ErrorCategory::Input,
        fmt::format("the force on particle {} is not finite ({} {} {}, potential {}): values "
                    "out of range, or particles too close for this softening; use units in "
                    "which positions and masses are near 1, or a larger eps",
                    i, a[0], a[1], a[2], potential[i]));
  }
}

ForceCost force_cost(const Statistics& statistics) {
  if (statistics.runs == 0) return {};
  const auto runs = static_cast<double>(statistics.runs);
  return {statistics.chip_clocks / statistics.runs, statistics.predicted_seconds / runs,
          statistics.flops / runs};
}

bool is_default_board(const std::string& device_name) {
  const std::string name = full_name(device_name);
  return parse_device_name(name, {}).kind == "emulator" &&
         name.find("chips=") == std::string::npos && name.find("boards=") == std::string::npos;
}

ForceCost predict_force_cost(const std::string& device_name, const DeviceOptions& options,
                             unsigned chips, std::span<const double> position,
                             std::span<const double> mass, double eps) {
  // The geometry of remote boards is fixed; the emulator has the same clocks. The last value of a
  // repeated option counts.
  std::string name = full_name(device_name);
  if (parse_device_name(name, {}).kind != "emulator") name = "emulator";
  const char separator = name.find(':') == std::string::npos ? ':' : ',';
  Device device =
      Device::open(name + separator + "boards=1,chips=" + std::to_string(chips), options);
  Gravity gravity(device);
  std::vector<double> acceleration(3 * mass.size()), potential(mass.size());
  gravity.compute(mass.size(), position.data(), mass.data(), eps, acceleration.data(),
                  potential.data());
  return force_cost(device.statistics());
}

}  // namespace gdr
