// Choosing native loops, and running them on several threads.
#include "bench/native/native.hpp"

#include <algorithm>

namespace gdr::bench {

template <typename Real>
NativeParticles<Real>::NativeParticles(std::size_t count, const double* position,
                                       const double* particle_mass)
    : n((count + padding - 1) / padding * padding) {
  for (std::size_t c = 0; c < 6; ++c) {
    coordinate[c].assign(n, Real(0));
    const std::size_t axis = c < 3 ? c : (c - 2) % 3;
    for (std::size_t i = 0; i < count; ++i)
      coordinate[c][i] = static_cast<Real>(position[3 * i + axis]);
  }
  mass.assign(n, Real(0));
  std::transform(particle_mass, particle_mass + count, mass.begin(),
                 [](double m) { return static_cast<Real>(m); });
  for (std::vector<Real>& values : sum) values.resize(n);
}

const LoopSet& native_loops(Isa isa) noexcept {
#if defined(__x86_64__)
  if (isa == Isa::Avx512) return avx512_loops;
  if (isa == Isa::Avx2) return avx2_loops;
#elif defined(__aarch64__)
  if (isa == Isa::Neon) return neon_loops;
#endif
  (void)isa;
  return portable_loops;
}

MixedParticles::MixedParticles(std::size_t count, const double* positions,
                               const double* particle_mass) {
  const NativeParticles<double> all(count, positions, particle_mass);
  n = all.n;
  for (std::size_t c = 0; c < 3; ++c) {
    position[c] = all.coordinate[c];
    for (std::size_t i = 0; i < n; ++i) {
      high[c].push_back(static_cast<float>(position[c][i]));
      rest[c].push_back(static_cast<float>(position[c][i] - double{high[c][i]}));
      velocity[c].push_back(static_cast<float>(all.coordinate[3 + c][i]));
    }
  }
  for (const double m : all.mass) mass.push_back(static_cast<float>(m));
  for (std::vector<double>& values : sum) values.resize(n);
}

namespace {

/// Calls run(first, last) for small slices of n particles, distributed evenly: the last thread has
/// hardly more to do than the others.
template <typename Run>
void for_slices(std::size_t n, unsigned threads, const Run& run) {
  constexpr std::size_t slice = 4 * padding;
  const auto slices = static_cast<std::ptrdiff_t>((n + slice - 1) / slice);
#pragma omp parallel for num_threads(static_cast <int>(std::max(1U, threads))) schedule(static)
  for (std::ptrdiff_t k = 0; k < slices; ++k) {
    const std::size_t first = static_cast<std::size_t>(k) * slice;
    run(first, std::min(first + slice, n));
  }
}

template <typename Real>
LoopArrays<Real> arrays_of(NativeParticles<Real>& particles) {
  LoopArrays<Real> arrays{.n = particles.n, .mass = particles.mass.data()};
  for (std::size_t c = 0; c < 6; ++c) arrays.coordinate[c] = particles.coordinate[c].data();
  for (std::size_t s = 0; s < 7; ++s) arrays.sum[s] = particles.sum[s].data();
  return arrays;
}

}  // namespace

template <typename Real>
void run_native(Loop<Real> loop, NativeParticles<Real>& particles, double eps2, unsigned threads) {
  const LoopArrays<Real> arrays = arrays_of(particles);
  for_slices(particles.n, threads, [&](std::size_t first, std::size_t last) {
    loop(arrays, first, last, static_cast<Real>(eps2));
  });
}

template <typename Real>
void run_native(TableLoop<Real> loop, NativeParticles<Real>& particles,
                const ForceTable<Real>& table, unsigned threads) {
  const LoopArrays<Real> arrays = arrays_of(particles);
  for_slices(particles.n, threads,
             [&](std::size_t first, std::size_t last) { loop(arrays, table, first, last); });
}

void run_native(MixedLoop loop, MixedParticles& particles, double eps2, unsigned threads) {
  MixedArrays arrays{.n = particles.n, .mass = particles.mass.data()};
  for (std::size_t c = 0; c < 3; ++c) {
    arrays.position[c] = particles.position[c].data();
    arrays.high[c] = particles.high[c].data();
    arrays.rest[c] = particles.rest[c].data();
    arrays.velocity[c] = particles.velocity[c].data();
  }
  for (std::size_t s = 0; s < 7; ++s) arrays.sum[s] = particles.sum[s].data();
  for_slices(particles.n, threads, [&](std::size_t first, std::size_t last) {
    loop(arrays, first, last, static_cast<float>(eps2));
  });
}

template struct NativeParticles<double>;
template struct NativeParticles<float>;
template void run_native(Loop<double>, NativeParticles<double>&, double, unsigned);
template void run_native(Loop<float>, NativeParticles<float>&, double, unsigned);
template void run_native(TableLoop<double>, NativeParticles<double>&, const ForceTable<double>&,
                         unsigned);
template void run_native(TableLoop<float>, NativeParticles<float>&, const ForceTable<float>&,
                         unsigned);

}  // namespace gdr::bench
