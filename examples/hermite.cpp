// A direct N-body code: the Hermite scheme of fourth order (Makino & Aarseth 1992) with a shared,
// variable step; accelerations and jerks come from the kernel "gravity_jerk".
//   c++ -std=c++20 hermite.cpp -lgdr
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <gdr/gdr.hpp>
#include <numeric>
#include <random>

int main() try {
  const std::size_t n = 128;
  const double eps2 = 1e-3, eta = 0.02, end = 0.125;
  std::vector<double> x[3], v[3], a[3], j[3], a1[3], j1[3], xp[3], vp[3], pot(n), m(n, 1.0 / n);
  std::vector<std::int64_t> id(n);
  std::iota(id.begin(), id.end(), 0);
  for (auto* set : {x, v, a, j, a1, j1, xp, vp})
    for (int k = 0; k < 3; ++k) set[k].resize(n);
  std::mt19937 random(1);  // a cold gaussian cloud; put your own particles here
  std::normal_distribution<double> normal;
  for (int k = 0; k < 3; ++k)
    for (std::size_t i = 0; i < n; ++i)
      x[k][i] = 0.6 * normal(random), v[k][i] = 0.2 * normal(random);

  gdr::Device device = gdr::Device::open();
  gdr::Job job = device.job(gdr::Kernel::builtin("gravity_jerk"));
  job.set("eps2", eps2);
  const auto forces = [&](auto& px, auto& pv, auto& acc, auto& jerk) {
    job.sources(n, {{"xj", px[0]},
                    {"yj", px[1]},
                    {"zj", px[2]},
                    {"mj", m},
                    {"vxj", pv[0]},
                    {"vyj", pv[1]},
                    {"vzj", pv[2]},
                    {"idj", id.data()}});
    job.targets(n, {{"xi", px[0]},
                    {"yi", px[1]},
                    {"zi", px[2]},
                    {"vxi", pv[0]},
                    {"vyi", pv[1]},
                    {"vzi", pv[2]},
                    {"idi", id.data()}});
    job.run({{"ax", acc[0]},
             {"ay", acc[1]},
             {"az", acc[2]},
             {"jx", jerk[0]},
             {"jy", jerk[1]},
             {"jz", jerk[2]},
             {"pot", pot}});
  };
  const auto energy = [&] {
    double e = 0;
    for (std::size_t i = 0; i < n; ++i)
      e += 0.5 * m[i] * (v[0][i] * v[0][i] + v[1][i] * v[1][i] + v[2][i] * v[2][i] + pot[i]);
    return e;
  };
  forces(x, v, a, j);
  const double start = energy();
  int steps = 0;
  for (double t = 0, dt = 0; t < end; t += dt, ++steps) {
    double shortest = 1;
    for (std::size_t i = 0; i < n; ++i)
      shortest = std::min(
          shortest, std::hypot(a[0][i], a[1][i], a[2][i]) / std::hypot(j[0][i], j[1][i], j[2][i]));
    dt = std::min(eta * shortest, end - t);
    for (int k = 0; k < 3; ++k)
      for (std::size_t i = 0; i < n; ++i) {
        xp[k][i] = x[k][i] + dt * (v[k][i] + dt / 2 * (a[k][i] + dt / 3 * j[k][i]));
        vp[k][i] = v[k][i] + dt * (a[k][i] + dt / 2 * j[k][i]);
      }
    forces(xp, vp, a1, j1);
    for (int k = 0; k < 3; ++k)
      for (std::size_t i = 0; i < n; ++i) {
        const double v0 = v[k][i];
        v[k][i] += dt / 2 * (a[k][i] + a1[k][i] + dt / 6 * (j[k][i] - j1[k][i]));
        x[k][i] += dt / 2 * (v0 + v[k][i] + dt / 6 * (a[k][i] - a1[k][i]));
        a[k][i] = a1[k][i], j[k][i] = j1[k][i];
      }
  }
  const double error = energy() / start - 1;
  std::printf("%s\n%d steps to t = %g: energy %.9f, relative change %.1e\n",
              device.description().c_str(), steps, end, energy(), error);
  return std::abs(error) < 1e-5 ? 0 : 1;
} catch (const gdr::Error& error) {
  std::fprintf(stderr, "%s\n", error.what());
  return 1;
}
