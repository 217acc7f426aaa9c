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
#endif
  (void)isa;
  return portable_loops;
}

template <typename Real>
void run_native(Loop<Real> loop, NativeParticles<Real>& particles, double eps2, unsigned threads) {
  LoopArrays<Real> arrays{.n = particles.n, .mass = particles.mass.data()};
  for (std::size_t c = 0; c < 6; ++c) arrays.coordinate[c] = particles.coordinate[c].data();
  for (std::size_t s = 0; s < 7; ++s) arrays.sum[s] = particles.sum[s].data();
  // Small slices, distributed evenly: the last thread has hardly more to do than the others.
  constexpr std::size_t slice = 4 * padding;
  const auto slices = static_cast<std::ptrdiff_t>((particles.n + slice - 1) / slice);
#pragma omp parallel for num_threads(static_cast <int>(std::max(1U, threads))) schedule(static)
  for (std::ptrdiff_t k = 0; k < slices; ++k) {
    const std::size_t first = static_cast<std::size_t>(k) * slice;
    loop(arrays, first, std::min(first + slice, particles.n), static_cast<Real>(eps2));
  }
}

template struct NativeParticles<double>;
template struct NativeParticles<float>;
template void run_native(Loop<double>, NativeParticles<double>&, double, unsigned);
template void run_native(Loop<float>, NativeParticles<float>&, double, unsigned);

}  // namespace gdr::bench
