// Plummer spheres, direct sums in long double, and runs of the gravity kernel.
#include "kernels/particles.hpp"

#include <algorithm>
#include <cmath>
#include <random>

namespace kernel_test {

void Particles::add(double px, double py, double pz, double mass) {
  id.push_back(static_cast<std::int64_t>(size()));
  x.push_back(px);
  y.push_back(py);
  z.push_back(pz);
  m.push_back(mass);
}

Particles Particles::first(std::size_t n) const {
  Particles part = *this;
  for (auto* v : {&part.x, &part.y, &part.z, &part.m}) v->resize(n);
  part.id.resize(n);
  return part;
}

Particles plummer(std::size_t n, double mass_ratio, unsigned seed) {
  std::mt19937_64 bits(seed);
  // Own conversion: the standard's distributions differ from one library to another.
  const auto uniform = [&bits] { return (static_cast<double>(bits() >> 12) + 0.5) * 0x1p-52; };
  Particles p;
  double total = 0;
  for (std::size_t i = 0; i < n; ++i) {
    const double radius = 1 / std::sqrt(std::pow(0.99 * uniform(), -2.0 / 3) - 1);
    const double cosine = 2 * uniform() - 1, angle = 2 * 3.14159265358979323846 * uniform();
    const double ring = radius * std::sqrt(1 - cosine * cosine);
    const double mass = std::pow(mass_ratio, uniform());
    total += mass;
    p.add(ring * std::cos(angle), ring * std::sin(angle), radius * cosine, mass);
  }
  for (double& mass : p.m) mass /= total;
  return p;
}

Forces direct_sum(const Particles& targets, const Particles& sources, double eps2) {
  Forces f(targets.size());
  for (std::size_t i = 0; i < targets.size(); ++i) {
    long double ax = 0, ay = 0, az = 0, pot = 0;
    for (std::size_t j = 0; j < sources.size(); ++j) {
      const long double dx = static_cast<long double>(sources.x[j]) - targets.x[i];
      const long double dy = static_cast<long double>(sources.y[j]) - targets.y[i];
      const long double dz = static_cast<long double>(sources.z[j]) - targets.z[i];
      const long double r2 = dx * dx + dy * dy + dz * dz + eps2;
      if (sources.id[j] == targets.id[i] || r2 == 0) continue;
      const long double m_over_r = sources.m[j] / std::sqrt(r2), factor = m_over_r / r2;
      ax += factor * dx;
      ay += factor * dy;
      az += factor * dz;
      pot -= m_over_r;
    }
    f.ax[i] = static_cast<double>(ax);
    f.ay[i] = static_cast<double>(ay);
    f.az[i] = static_cast<double>(az);
    f.pot[i] = static_cast<double>(pot);
  }
  return f;
}

Forces run_kernel(gdr::Device& device, const Particles& targets, const Particles& sources,
                  double eps2) {
  gdr::Job job = device.job(gdr::Kernel::builtin("gravity"));
  job.set("eps2", eps2);
  job.sources(sources.size(), {{"xj", sources.x},
                               {"yj", sources.y},
                               {"zj", sources.z},
                               {"mj", sources.m},
                               {"idj", sources.id.data()}});
  job.targets(
      targets.size(),
      {{"xi", targets.x}, {"yi", targets.y}, {"zi", targets.z}, {"idi", targets.id.data()}});
  Forces f(targets.size());
  job.run({{"ax", f.ax}, {"ay", f.ay}, {"az", f.az}, {"pot", f.pot}});
  return f;
}

Forces run_kernel(const std::string& device, const Particles& targets, const Particles& sources,
                  double eps2) {
  gdr::Device open = gdr::Device::open(device);
  return run_kernel(open, targets, sources, eps2);
}

Errors compare(const Forces& got, const Forces& expected) {
  Errors e;
  const std::size_t n = expected.pot.size();
  for (std::size_t i = 0; i < n; ++i) {
    const double difference = std::hypot(got.ax[i] - expected.ax[i], got.ay[i] - expected.ay[i],
                                         got.az[i] - expected.az[i]);
    const double a = difference / std::hypot(expected.ax[i], expected.ay[i], expected.az[i]);
    const double p = std::abs(got.pot[i] / expected.pot[i] - 1);
    // The comparison propagates a NaN to the maximum.
    e.largest = a <= e.largest ? e.largest : a;
    e.potential_largest = p <= e.potential_largest ? e.potential_largest : p;
    e.rms += a * a;
    e.potential_rms += p * p;
  }
  e.rms = std::sqrt(e.rms / static_cast<double>(n));
  e.potential_rms = std::sqrt(e.potential_rms / static_cast<double>(n));
  return e;
}

}  // namespace kernel_test
