// A run in the background: the host computes while the board does. An update transfers only the
// sources that changed.
//   c++ -std=c++20 background.cpp -lgdr
#include <cmath>
#include <cstdio>
#include <gdr/gdr.hpp>
#include <vector>

int main() {
  const std::size_t n = 512, half = n / 2;
  std::vector<double> x(n), y(n), z(n), m(n, 1.0 / n), ax(n), pot(n);
  std::vector<std::int64_t> id(n);
  for (std::size_t i = 0; i < n; ++i) {
    x[i] = std::cos(1.3 * static_cast<double>(i));
    y[i] = std::sin(2.1 * static_cast<double>(i));
    z[i] = std::sin(0.7 * static_cast<double>(i));
    id[i] = static_cast<std::int64_t>(i);
  }
  try {
    gdr::Device device = gdr::Device::open();
    const gdr::Kernel kernel = gdr::Kernel::builtin("gravity");
    gdr::Job job = device.job(kernel);
    job.set("eps2", 1e-4);
    job.sources(n, {{"xj", x}, {"yj", y}, {"zj", z}, {"mj", m}, {"idj", id.data()}});
    double centre = 0;
    for (std::size_t first = 0; first < n; first += half) {
      const double *tx = x.data() + first, *ty = y.data() + first, *tz = z.data() + first;
      job.targets(half, {{"xi", tx}, {"yi", ty}, {"zi", tz}, {"idi", id.data() + first}});
      job.start({{"ax", ax.data() + first}, {"pot", pot.data() + first}});
      for (std::size_t i = first; i < first + half; ++i) centre += m[i] * x[i];  // overlaps
      job.wait();  // throws the error of the run
    }
    const double before = pot[0];
    const double heavier = 2 * m[7];
    job.update_sources(7, 1, {{"mj", &heavier}});  // transfers one source
    job.run({{"pot", pot.data() + half}});
    std::printf("%s, a kernel with %.1f clocks per interaction\n", device.description().c_str(),
                kernel.clocks_per_interaction());
    std::printf("potential of particle 0: %.9f, centre of mass at x = %.6f\n", before, centre);
    return before < 0 ? 0 : 1;
  } catch (const gdr::Error& error) {
    std::fprintf(stderr, "%s\n", error.what());
    return 1;
  }
}
