// Test particles: a star cluster and a perturbed crystal.
#include <cmath>
#include <random>

#include "bench/laws/laws.hpp"

namespace gdr::bench {
namespace {

/// Random numbers that are the same with every standard library.
class Random {
 public:
  explicit Random(std::uint64_t seed) : bits_(seed) {}
  double uniform() { return (static_cast<double>(bits_() >> 12) + 0.5) * 0x1p-52; }
  double normal() {
    const double radius = std::sqrt(-2 * std::log(uniform()));
    return radius * std::cos(2 * 3.14159265358979323846 * uniform());
  }

 private:
  std::mt19937_64 bits_;
};

}  // namespace

Sample cluster(std::size_t n, std::uint64_t seed) {
  Random random(seed);
  Sample s{n, {}};
  for (const char* name : {"x", "y", "z"})
    for (std::size_t k = 0; k < n; ++k) s.columns[name].push_back(random.normal());
  for (const char* name : {"vx", "vy", "vz", "ax", "ay", "az"})
    for (std::size_t k = 0; k < n; ++k) s.columns[name].push_back(0.5 * random.normal());
  for (std::size_t k = 0; k < n; ++k) {
    s.columns["m"].push_back(std::pow(100, random.uniform()) / static_cast<double>(n));
    s.columns["q"].push_back(random.uniform() < 0.5 ? -1 : 1.5);
    s.columns["id"].push_back(static_cast<double>(k));
    s.columns["hi2"].push_back(0.05 + 0.2 * random.uniform());
  }
  for (std::size_t k = 0; k < n; ++k) {
    s.columns["e2"].push_back(0x1p-12 * (0.5 + random.uniform()));
    s.columns["h2"].push_back(s.columns["hi2"][k]);
    s.columns["dt"].push_back(0.2 * random.uniform());
    s.columns["slot"].push_back(static_cast<double>(3 * k + 1));
    s.columns["t"].push_back(0.1 * random.uniform());
    for (const char* name : {"a2x", "a2y", "a2z", "j6x", "j6y", "j6z", "s18x", "s18y", "s18z"})
      s.columns[name].push_back(random.normal());
  }
  return s;
}

Sample crystal(std::size_t n, std::uint64_t seed) {
  Random random(seed);
  Sample s{n, {}};
  const auto side = static_cast<std::size_t>(std::ceil(std::cbrt(static_cast<double>(n)) - 1e-9));
  constexpr double spacing = 1.1;
  for (std::size_t k = 0; k < n; ++k) {
    const std::size_t place[] = {k % side, k / side % side, k / (side * side)};
    const char* names[] = {"x", "y", "z"};
    for (int axis = 0; axis < 3; ++axis)
      s.columns[names[axis]].push_back(spacing * static_cast<double>(place[axis]) +
                                       0.06 * random.normal());
    for (const char* name : {"vx", "vy", "vz"}) s.columns[name].push_back(0.3 * random.normal());
    const bool large = random.uniform() < 0.3;
    s.columns["s"].push_back(large ? 1.1 : 0.9);
    s.columns["e"].push_back(large ? 1.2 : 0.9);
    s.columns["q"].push_back(random.uniform() < 0.5 ? -1 : 1);
    s.columns["m"].push_back(1 + 0.2 * random.uniform());
    s.columns["id"].push_back(static_cast<double>(k));
    s.columns["h"].push_back(spacing * (1.2 + 0.2 * random.uniform()));
    s.columns["c"].push_back(1 + 0.1 * random.uniform());
    s.columns["rho"].push_back(0.8 + 0.1 * random.uniform());
    s.columns["p"].push_back(0.7 + 0.2 * random.uniform());
  }
  return s;
}

}  // namespace gdr::bench
