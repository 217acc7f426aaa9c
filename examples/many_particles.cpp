// Gravity of 100000 particles with a tree, to an accuracy that is measured.
//   c++ -std=c++20 many_particles.cpp -lgdr
#include <cmath>
#include <cstdio>
#include <gdr/gdr.hpp>
#include <random>
#include <vector>

int main() {
  const std::size_t n = 100000;
  std::vector<double> x, m(n, 1.0 / n), acc(3 * n), pot(n);
  std::mt19937_64 random(1);
  std::normal_distribution<double> normal;
  for (std::size_t i = 0; i < n; ++i) {  // denser in the middle; replace with your particles
    const double spread = std::exp(normal(random));
    for (int k = 0; k < 3; ++k) x.push_back(spread * normal(random));
  }
  try {
    gdr::Device device = gdr::Device::open();  // GDR_DEVICE, or an emulated board by default
    gdr::Gravity gravity(device);
    gdr::TreeOptions options;
    options.accuracy = 1e-3;
    const gdr::TreeReport found = gravity.compute(n, x, m, 0.01, acc, pot, options);
    std::printf("%.0f sums for each particle, of %zu with direct sums\n", found.sources_per_target,
                n);
    std::printf("error of accelerations %.1e (rms), largest %.1e, of %zu particles\n", found.error,
                found.largest_error, found.samples);

    // The next step of a simulation has nearly the same particles: it keeps the choice as long as
    // its error is small enough.
    gdr::TreeOptions same = options;
    same.earlier = &found;
    for (double& coordinate : x) coordinate *= 1.001;
    const gdr::TreeReport next = gravity.compute(n, x, m, 0.01, acc, pot, same);
    const auto seconds = [](const gdr::TreeReport& r) {
      return r.build_seconds + r.choice_seconds + r.list_seconds + r.force_seconds;
    };
    std::printf("next step: error %.1e, %.0f %% of the time\n", next.error,
                100 * seconds(next) / seconds(found));
    return next.error <= options.accuracy ? 0 : 1;
  } catch (const gdr::Error& error) {
    std::fprintf(stderr, "%s\n", error.what());
    return 1;
  }
}
