// Generation of particles, assembly text and lines of arithmetic.
#include "bench/workload.hpp"

#include <fmt/format.h>

#include <cmath>
#include <iterator>
#include <numbers>

namespace gdr::bench {

std::uint64_t Random::bits() noexcept {
  std::uint64_t z = (state_ += 0x9e3779b97f4a7c15U);
  z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9U;
  z = (z ^ (z >> 27)) * 0x94d049bb133111ebU;
  return z ^ (z >> 31);
}

double Random::uniform() noexcept { return (static_cast<double>(bits() >> 12) + 0.5) * 0x1p-52; }

Sphere plummer_sphere(std::size_t n, std::uint64_t seed) {
  constexpr double scale = 3 * std::numbers::pi / 16;
  constexpr double largest_radius = 20 * scale;  // the few beyond carry hardly any mass
  Random random(seed);
  Sphere sphere;
  while (sphere.size() < n) {
    // Enclosed mass u = (1 + (a/r)^2)^(-3/2), turned round.
    const double radius = scale / std::sqrt(std::pow(random.uniform(), -2.0 / 3.0) - 1);
    const double z = 2 * random.uniform() - 1;
    const double angle = 2 * std::numbers::pi * random.uniform();
    if (radius > largest_radius) continue;
    const double across = std::sqrt(1 - z * z);
    sphere.position.insert(sphere.position.end(), {radius * across * std::cos(angle),
                                                   radius * across * std::sin(angle), radius * z});
    sphere.mass.push_back(1.0 / static_cast<double>(n));
  }
  return sphere;
}

std::string assembly_text(std::size_t lines, std::uint64_t seed) {
  // Each template takes three short vector registers (multiples of four).
  constexpr std::string_view templates[] = {
      "    fmul $r{0}v $r{1}v $r{2}v ; fadd $t $r{1}v $r{2}v",
      "    fsub $lr{0}v $lr{1}v $r{2}v",
      "    fadd $r{0}v $r{1}v 1.5          # an immediate",
      "    fmul $r{0}v $r{1}v $t ; ipass $lm{2}v $lr{1}v",
      "    isub $r{0}v 0x5f3759df0 $r{1}v",
      "    ishr $r{0}v $r{1}v 1",
      "    bget $lr{0}v $lb{1}v",
      "    [m1] fmax $r{0}v:m2.neg $r{1}v $r{2}v",
      "    dmul $lr{0}v $lr{1}v $lr{2}v ; fadd $t $lr{1}v $r{2}v",
      "    fcvt $r{0}v $lr{1}v",
  };
  Random random(seed);
  std::string text = ".kernel generated\n.body\n";
  for (std::size_t k = 0; k < lines; ++k) {
    const auto line = templates[random.below(std::size(templates))];
    // Eight-register vectors at the multiples of 8 below 56 stay inside the register file.
    const std::uint64_t a = 8 * random.below(7), b = 8 * random.below(7), c = 8 * random.below(7);
    text += fmt::format(fmt::runtime(line), a, b, c);
    text += '\n';
  }
  return text;
}

std::string fp_text(std::size_t lines, std::uint64_t seed) {
  constexpr std::string_view ops[] = {"fadd", "fsub", "fmul", "dmul", "fmax", "fmin"};
  Random random(seed);
  // Similar exponents, so that both operands contribute to a sum.
  const auto word = [&](bool is_long) {
    const std::uint64_t exponent = 1000 + random.below(48);
    const std::uint64_t upper = (random.below(2) << 35) | (exponent << 24) | (random.bits() >> 40);
    return is_long ? fmt::format("{:09x}{:09x}", upper, random.bits() >> 28)
                   : fmt::format("{:09x}", upper);
  };
  std::string text;
  for (std::size_t k = 0; k < lines; ++k) {
    const bool is_long = random.below(2) != 0;
    const std::string_view op = ops[random.below(std::size(ops))];
    text += fmt::format("{}.{} {} {}\n", op, is_long ? 'l' : 's', word(random.below(2) != 0),
                        word(random.below(2) != 0));
  }
  return text;
}

}  // namespace gdr::bench
