#include "emulator/engine/vector/gpu/self_test.hpp"

#include <fmt/format.h>

#include <array>
#include <bit>
#include <cmath>
#include <cstdint>
#include <map>
#include <mutex>
#include <random>
#include <vector>

namespace gdr {
namespace {

constexpr std::size_t operands = std::size_t{1} << 18;
constexpr std::array names{"sum", "product", "fused product", "rounding to 25 bits"};

constexpr const char* text = R"(#pragma OPENCL EXTENSION cl_khr_fp64 : enable
#pragma OPENCL FP_CONTRACT OFF
__kernel void run(__global const double* restrict x, __global double* restrict results,
                  ulong count) {
  const ulong n = get_global_id(0);
  if (n >= count) return;
  const double a = x[3 * n], b = x[3 * n + 1], c = x[3 * n + 2];
  results[4 * n] = a + b;
  results[4 * n + 1] = a * b;
  results[4 * n + 2] = fma(a, b, -c);
  results[4 * n + 3] = fma(a, 0x1p28, -fma(a, 0x1p28, -a));
}
)";

/// Three numbers: sums cancel in part, and c is often the rounded product, so that the fused
/// product is its error.
std::array<double, 3> random_operands(std::mt19937_64& random) {
  const auto number = [&](int exponents) {
    const double significand = 1 + static_cast<double>(random() >> 12) * 0x1p-52;
    const int exponent =
        static_cast<int>(random() % static_cast<unsigned>(2 * exponents)) - exponents;
    return std::ldexp(random() % 2 == 0 ? significand : -significand, exponent);
  };
  const double a = number(200);
  double b = number(200);
  if (random() % 2 == 0) b = -a * (1 + std::ldexp(number(1), -static_cast<int>(random() % 60)));
  const double c = random() % 2 == 0 ? a * b : number(400);
  return {a, b, c};
}

std::string tested(gpu::Device& device) {
  if (!device.info().has_doubles) return "it has no doubles";
  std::mt19937_64 random(20260314);
  std::vector<double> x;
  for (std::size_t n = 0; n < operands; ++n)
    for (const double value : random_operands(random)) x.push_back(value);
  std::vector<double> results(names.size() * operands);
  const auto kernel = device.compile(text);
  const auto in = device.allocate(x.size() * sizeof(double));
  const auto out = device.allocate(results.size() * sizeof(double));
  device.write(*in, 0, x.data(), x.size() * sizeof(double));
  device.run(*kernel, {{in.get()}, {out.get()}, {nullptr, operands}}, operands, 128);
  device.read(*out, 0, results.data(), results.size() * sizeof(double));
  std::array<std::size_t, names.size()> wrong{};
  for (std::size_t n = 0; n < operands; ++n) {
    const double a = x[3 * n], b = x[3 * n + 1], c = x[3 * n + 2];
    const std::array right{a + b, a * b, std::fma(a, b, -c),
                           std::fma(a, 0x1p28, -std::fma(a, 0x1p28, -a))};
    for (std::size_t k = 0; k < right.size(); ++k)
      if (std::bit_cast<std::uint64_t>(right[k]) !=
          std::bit_cast<std::uint64_t>(results[right.size() * n + k]))
        ++wrong[k];
  }
  for (std::size_t k = 0; k < wrong.size(); ++k)
    if (wrong[k] != 0)
      return fmt::format("{} of {} results of the operation \"{}\" differ from this host's",
                         wrong[k], operands, names[k]);
  return {};
}

}  // namespace

std::string exactness_failure(gpu::Device& device) {
  static std::mutex mutex;
  static auto* const known = new std::map<gpu::Device*, std::string>;
  const std::scoped_lock lock(mutex);
  const auto [at, is_new] = known->try_emplace(&device);
  if (is_new) at->second = tested(device);
  return at->second;
}

}  // namespace gdr
