// How fast matrix products are emulated: exact, and fast beside the host's BLAS.
#include <fmt/format.h>

#include <cmath>
#include <memory>
#include <random>
#include <utility>
#include <vector>

#include "emulator/engine/engine.hpp"
#include "gdr/matrix.hpp"
#include "libgdr/cli/bench/figure.hpp"
#include "libgdr/cli/bench/host_blas.hpp"
#include "libgdr/cli/bench/turns.hpp"

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
Timed emulated(const Context& context, std::string_view engine, Isa isa, MatrixPrecision precision,
               Matrices& x) {
  struct Run {
    Device device;
    MatrixProduct product;
    Run(Device opened, MatrixPrecision wanted)
        : device(std::move(opened)), product(device, wanted) {}
  };
  cli::DeviceChoice choice = context.device;
  choice.engine = engine;
  choice.isa = isa_name(isa);
  choice.threads = context.threads;
  const auto run = std::make_shared<Run>(cli::open_device(choice), precision);
  return Timed([run, &x] {
    run->product.compute(x.n, x.n, x.n, 1, {x.a.data(), x.n}, {x.b.data(), x.n}, 0,
                         {x.c.data(), x.n});
  });
}

/// Seconds at its quietest.
double quietest(const Timed& work, unsigned repetitions) {
  double best = work.seconds();
  for (unsigned k = 1; k < repetitions; ++k) best = std::min(best, work.seconds());
  return best;
}

void add_exact(const Context& context, std::vector<Figure>& list) {
  Matrices x(1024, context.seed);
  for (const Isa isa : host_isas()) {
    if (isa == Isa::Portable) continue;
    for (const bool full : {false, true}) {
      const Timed work =
          emulated(context, "vector", isa, full ? MatrixPrecision::Full : MatrixPrecision::Chip, x);
      Figure figure{fmt::format("exact product, {}{}", isa_name(isa), full ? ", full" : ""),
                    x.flops() / quietest(work, context.repetitions) * 1e-9,
                    "Gflops",
                    fmt::format("{0} x {0} by {0} x {0}, {1} threads", x.n, context.threads),
                    {},
                    false,
                    {}};
      if (!full && context.threads == 2) figure.required = isa == Isa::Avx512 ? 10.0 : 4.0;
      list.push_back(figure);
    }
  }
}

void add_fast(const Context& context, std::vector<Figure>& list) {
  constexpr std::size_t n = 2048;
  Matrices x(n, context.seed);
  const auto blas = best_openblas(context.threads);
  const Timed work = emulated(context, "native", host_isas().front(), MatrixPrecision::Full, x);
  const double flops = x.flops() * 1e-9;
  if (!blas) {
    list.push_back({"fast product",
                    flops / quietest(work, context.repetitions),
                    "Gflops",
                    "OpenBLAS is not here to compare with (package libopenblas0)",
                    {},
                    false,
                    {}});
    return;
  }
  const Timed host(
      [&] { blas->multiply(static_cast<int>(n), x.a.data(), x.b.data(), x.c.data()); });
  const Compared c = compare(work, host, std::max(16U, context.repetitions));
  list.push_back(
      {"fast product",
       c.ratio,
       "of the host's BLAS",
       fmt::format("{:.3g} Gflops, {} {:.3g}; {} x {} by {} x {}, {} threads", flops / c.seconds,
                   blas->name, flops / c.seconds / c.ratio, n, n, n, n, context.threads),
       0.7,
       false,
       {}});
}

}  // namespace

std::vector<Figure> matrix_rates(const Context& context) {
  std::vector<Figure> figures;
  add_fast(context, figures);  // before anything else has threads: it tries kernels in processes
  if (host_isas().front() != Isa::Portable) add_exact(context, figures);
  return figures;
}

}  // namespace gdr::bench
