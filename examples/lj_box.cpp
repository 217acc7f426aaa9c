// A periodic box of argon in reduced units: Lennard-Jones, velocity Verlet at constant energy. The
// kernel has no periodic boundary: images of particles near a wall are added as sources. While the
// lattice melts each particle gains ten neighbours within the cut-off, with an energy of -0.0055
// each, which explains the change of the total energy.
//   c++ -std=c++20 lj_box.cpp -lgdr
#include <cmath>
#include <cstdio>
#include <gdr/gdr.hpp>
#include <random>

namespace {

constexpr std::size_t side = 6, n = side * side * side;
constexpr double density = 0.8, cut = 3, dt = 0.004;
using Triples = std::vector<double>;  // x y z of each particle
constexpr std::ptrdiff_t step = 3 * sizeof(double);

/// The particles, and their images within the cut-off of the box.
Triples with_images(const Triples& x, double box) {
  Triples all = x;
  for (int image = 0; image < 27; ++image) {
    if (image == 13) continue;  // the box itself
    const double shift[] = {box * (image % 3 - 1), box * (image / 3 % 3 - 1),
                            box * (image / 9 - 1)};
    for (std::size_t i = 0; i < n; ++i) {
      bool near = true;
      double moved[3];
      for (std::size_t k = 0; k < 3; ++k) {
        moved[k] = x[3 * i + k] + shift[k];
        near = near && moved[k] > -cut && moved[k] < box + cut;
      }
      if (near) all.insert(all.end(), moved, moved + 3);
    }
  }
  return all;
}

}  // namespace

int main() try {
  const double box = std::cbrt(static_cast<double>(n) / density);
  Triples x(3 * n), v(3 * n), f(3 * n);
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
  gdr::Job job = device.job(gdr::Kernel::builtin("lennard_jones"));
  job.set("rc2", cut * cut);
  const auto forces = [&] {
    const Triples all = with_images(x, box);
    job.sources(all.size() / 3,
                {{"xj", {&all[0], step}}, {"yj", {&all[1], step}}, {"zj", {&all[2], step}}});
    job.targets(n, {{"xi", {&x[0], step}}, {"yi", {&x[1], step}}, {"zi", {&x[2], step}}});
    job.run({{"fx", {&f[0], step}},
             {"fy", {&f[1], step}},
             {"fz", {&f[2], step}},
             {"u", u},
             {"virial", virial}});
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
