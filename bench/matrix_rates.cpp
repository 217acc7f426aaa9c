// Rates of emulated matrix products: exact, and fast relative to the host's BLAS.
#include <fmt/format.h>

#include <cmath>
#include <memory>
#include <random>
#include <utility>
#include <vector>

#include "bench/host_blas.hpp"
#include "bench/measurement.hpp"
#include "bench/timing.hpp"
#include "emulator/engine/api/engine.hpp"
#include "gdr/matrix.hpp"

namespace gdr::bench {
namespace {

struct Matrices {
  std::size_t n;
  std::vector<double> a, b, c;

  Matrices(std::size_t size, std::uint64_t seed)
      : n(size), a(size * size), b(size * size), c(size * size) {
    std::mt19937_64 random(seed);
    std::uniform_real_distribution<> number(-1, 1);
    for (double& x : a) x = number(random);
    for (double& x : b) x = number(random);
  }
  double flops() const { return 2 * std::pow(static_cast<double>(n), 3); }
};

/// An engine's product, all bits of the factors.
TimedWork emulated(const Context& context, std::string_view engine, Isa isa,
                   MatrixPrecision precision, Matrices& x) {
  struct Run {
    Device device;
    MatrixProduct product;
    Run(Device opened, MatrixPrecision wanted)
        : device(std::move(opened)), product(device, wanted) {}
  };
  const auto run = std::make_shared<Run>(open_device(context, engine, isa_name(isa)), precision);
  return TimedWork([run, &x] {
    run->product.compute(x.n, x.n, x.n, 1, {x.a.data(), x.n}, {x.b.data(), x.n}, 0,
                         {x.c.data(), x.n});
  });
}

/// Least seconds of the repetitions.
double min_seconds(const TimedWork& work, unsigned repetitions) {
  double best = work.seconds();
  for (unsigned k = 1; k < repetitions; ++k) best = std::min(best, work.seconds());
  return best;
}

void add_exact(const Context& context, std::vector<Measurement>& list) {
  Matrices x(1024, context.seed);
  for (const Isa isa : host_isas()) {
    if (isa == Isa::Portable) continue;
    for (const bool full : {false, true}) {
      const TimedWork work =
          emulated(context, "vector", isa, full ? MatrixPrecision::Full : MatrixPrecision::Chip, x);
      Measurement measurement{
          fmt::format("exact product, {}{}", isa_name(isa), full ? ", full" : ""),
          x.flops() / min_seconds(work, context.repetitions) * 1e-9, "Gflops",
          fmt::format("{0} x {0} by {0} x {0}, {1} threads", x.n, context.threads)};
      if (!full && context.threads == 2) measurement.required = isa == Isa::Avx512 ? 10.0 : 4.0;
      list.push_back(measurement);
    }
  }
}

/// Elements of very different size: in A they fall along rows and columns, in B along columns only.
void grade(Matrices& x) {
  for (std::size_t k = 0; k < x.n; ++k) {
    for (std::size_t i = 0; i < x.n; ++i) {
      const int inner = static_cast<int>(k), outer = static_cast<int>(i);
      x.a[i + k * x.n] = std::ldexp(x.a[i + k * x.n], -(outer + inner) / 8);
      x.b[k + i * x.n] = std::ldexp(x.b[k + i * x.n], inner / 16 - outer / 8);
    }
  }
}

/// The largest error of a sample of elements of C, relative to the sum of the magnitudes of their
/// products. The reference has twice the precision of a double: products by fma, sums by two-sum.
double largest_error(const Matrices& x) {
  double worst = 0;
  for (std::size_t column = 0; column < x.n; column += 7) {
    for (std::size_t row = column % 5; row < x.n; row += 5) {
      double high = 0, low = 0, magnitude = 0;
      for (std::size_t k = 0; k < x.n; ++k) {
        const double a = x.a[row + k * x.n], b = x.b[k + column * x.n];
        const double product = a * b, rest = std::fma(a, b, -product);
        const double sum = high + product, part = sum - high;
        low += (high - (sum - part)) + (product - part) + rest;
        high = sum;
        magnitude += std::abs(product);
      }
      const double error = std::abs((x.c[row + column * x.n] - high) - low);
      worst = std::max(worst, error / magnitude);
    }
  }
  return worst;
}

/// Errors of exact numerics with all bits of the factors, relative to those of the host's BLAS.
void add_errors(const Context& context, const HostBlas& blas, std::vector<Measurement>& list) {
  for (const bool graded : {false, true}) {
    Matrices x(512, context.seed + 1);
    if (graded) grade(x);
    emulated(context, "vector", host_isas().front(), MatrixPrecision::Full, x).seconds();
    const double ours = largest_error(x);
    blas.multiply(static_cast<int>(x.n), x.a.data(), x.b.data(), x.c.data());
    const double theirs = largest_error(x);
    list.push_back({fmt::format("largest error, full, {}", graded ? "graded" : "random"),
                    ours / theirs, "of the host's BLAS",
                    fmt::format("{:.2g} and {:.2g} of the sum of magnitudes, {} x {} by {} x {}",
                                ours, theirs, x.n, x.n, x.n, x.n),
                    1.0, true});
  }
}

void add_fast(const Context& context, std::vector<Measurement>& list) {
  constexpr std::size_t n = 2048;
  Matrices x(n, context.seed);
  const auto blas = best_openblas(context.threads);
  const TimedWork work = emulated(context, "native", host_isas().front(), MatrixPrecision::Full, x);
  const double flops = x.flops() * 1e-9;
  if (!blas) {
    list.push_back({"fast product", flops / min_seconds(work, context.repetitions), "Gflops",
                    "OpenBLAS is not here to compare with (package libopenblas0)"});
    return;
  }
  const TimedWork host(
      [&] { blas->multiply(static_cast<int>(n), x.a.data(), x.b.data(), x.c.data()); });
  const Comparison c = compare(work, host, std::max(16U, context.repetitions));
  list.push_back(
      {"fast product", c.ratio, "of the host's BLAS",
       fmt::format("{:.3g} Gflops, {} {:.3g}; {} x {} by {} x {}, {} threads", flops / c.seconds,
                   blas->name, flops / c.seconds / c.ratio, n, n, n, n, context.threads),
       0.95});
  add_errors(context, *blas, list);
}

}  // namespace

std::vector<Measurement> matrix_rates(const Context& context) {
  std::vector<Measurement> list;
  add_fast(context, list);  // first: it forks before any threads exist
  if (host_isas().front() != Isa::Portable) add_exact(context, list);
  return list;
}

}  // namespace gdr::bench
