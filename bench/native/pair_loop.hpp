// The loop over pairs of particles, for any vector type and pair law.
//
// A vector type V has Real, Register, lanes and the functions set, load, store, sub, mul,
// fma (a b + c), fnma (c - a b); for mixed precision also add and add_to_doubles; for tables also
// Indices, min, indices (truncated), number (of indices) and gather. It lies in an
// unnamed namespace, so that every file that includes this has functions of its own, compiled for
// its own instruction set.
#pragma once

#include <cstddef>

#include "bench/native/loops.hpp"

namespace gdr::bench {

/// One Newton step towards 1 / sqrt(x) from the estimate y: twice as many bits.
template <typename V>
inline typename V::Register newton_step(typename V::Register x, typename V::Register y) {
  const auto half = V::mul(V::set(typename V::Real(0.5)), x);
  return V::mul(y, V::fnma(half, V::mul(y, y), V::set(typename V::Real(1.5))));
}

/// Coefficients of (1 - e)^(-1/2) from e upwards.
template <typename Real>
constexpr Real rsqrt_series[] = {Real(0.5), Real(0.375), Real(0.3125), Real(35.0 / 128)};

/// One step of the given order (3 to 5) towards 1 / sqrt(x) from the estimate y: with
/// e = 1 - x y^2, the result y (1 + e/2 + 3 e^2/8 + ...) has an error of e^order.
template <typename V, int order>
inline typename V::Register high_order_step(typename V::Register x, typename V::Register y) {
  constexpr auto& series = rsqrt_series<typename V::Real>;
  const auto e = V::fnma(x, V::mul(y, y), V::set(1));
  auto p = V::set(series[order - 2]);
  for (int k = order - 3; k >= 0; --k) p = V::fma(p, e, V::set(series[k]));
  return V::fma(V::mul(p, e), y, y);
}

/// Softened gravity: acceleration and potential.
struct GravityLaw {
  static constexpr std::size_t coordinates = 3, sums = 4;

  template <typename V, typename Root>
  static void add(const typename V::Register (&d)[coordinates], typename V::Register mass,
                  typename V::Register eps2, typename V::Register (&s)[sums]) {
    const auto r2 = V::fma(d[2], d[2], V::fma(d[1], d[1], V::fma(d[0], d[0], eps2)));
    const auto inverse = Root::rsqrt(r2);
    const auto potential = V::mul(mass, inverse);
    const auto factor = V::mul(potential, V::mul(inverse, inverse));
    for (std::size_t k = 0; k < 3; ++k) s[k] = V::fma(factor, d[k], s[k]);
    s[3] = V::sub(s[3], potential);
  }
};

/// The same with the time derivative of the acceleration.
struct JerkLaw {
  static constexpr std::size_t coordinates = 6, sums = 7;

  template <typename V, typename Root>
  static void add(const typename V::Register (&d)[coordinates], typename V::Register mass,
                  typename V::Register eps2, typename V::Register (&s)[sums]) {
    const auto r2 = V::fma(d[2], d[2], V::fma(d[1], d[1], V::fma(d[0], d[0], eps2)));
    const auto rv = V::fma(d[2], d[5], V::fma(d[1], d[4], V::mul(d[0], d[3])));
    const auto inverse = Root::rsqrt(r2);
    const auto square = V::mul(inverse, inverse);
    const auto potential = V::mul(mass, inverse);
    const auto factor = V::mul(potential, square);
    const auto alpha = V::mul(V::mul(V::set(3), rv), square);
    for (std::size_t k = 0; k < 3; ++k) s[k] = V::fma(factor, d[k], s[k]);
    for (std::size_t k = 0; k < 3; ++k)
      s[3 + k] = V::fma(factor, V::fnma(alpha, d[k], d[3 + k]), s[3 + k]);
    s[6] = V::sub(s[6], potential);
  }
};

/// Lennard-Jones forces, energies and virials within the cut-off radius, whose square is in place
/// of that of the softening length, but for constant factors. The vector type has where_between.
struct LennardJonesLaw {
  static constexpr std::size_t coordinates = 3, sums = 5;

  template <typename V, typename Root>
  static void add(const typename V::Register (&d)[coordinates], typename V::Register,
                  typename V::Register cutoff2, typename V::Register (&s)[sums]) {
    const auto r2 = V::fma(d[2], d[2], V::fma(d[1], d[1], V::mul(d[0], d[0])));
    const auto inverse = V::where_between(r2, cutoff2, Root::recip(r2));
    const auto sixth = V::mul(inverse, V::mul(inverse, inverse));
    const auto energy = V::mul(sixth, V::sub(sixth, V::set(1)));
    const auto virial = V::fma(sixth, sixth, energy);
    const auto factor = V::mul(virial, inverse);
    for (std::size_t k = 0; k < 3; ++k) s[k] = V::fnma(factor, d[k], s[k]);
    s[3] = V::add(s[3], energy);
    s[4] = V::add(s[4], virial);
  }
};

/// The loop with so many vectors of targets side by side, which hide one another's latencies.
template <typename V, typename Root, typename Law, std::size_t vectors>
void pair_loop(const LoopArrays<typename V::Real>& arrays, std::size_t first, std::size_t last,
               typename V::Real eps2) {
  using Register = typename V::Register;
  const LoopArrays<typename V::Real> p = arrays;
  const Register softening = V::set(eps2);
  for (std::size_t i = first; i < last; i += V::lanes * vectors) {
    Register sums[vectors][Law::sums];
    for (auto& sums_of_vector : sums)
      for (Register& sum : sums_of_vector) sum = V::set(0);
    for (std::size_t j = 0; j < p.n; ++j) {
      for (std::size_t k = 0; k < vectors; ++k) {
        Register d[Law::coordinates];
        for (std::size_t c = 0; c < Law::coordinates; ++c)
          d[c] = V::sub(V::set(p.coordinate[c][j]), V::load(p.coordinate[c] + i + V::lanes * k));
        Law::template add<V, Root>(d, V::set(p.mass[j]), softening, sums[k]);
      }
    }
    for (std::size_t k = 0; k < vectors; ++k)
      for (std::size_t s = 0; s < Law::sums; ++s) V::store(p.sum[s] + i + V::lanes * k, sums[k][s]);
  }
}

/// Accelerations by a linearly interpolated table.
template <typename V, std::size_t vectors>
void table_loop(const LoopArrays<typename V::Real>& arrays,
                const ForceTable<typename V::Real>& table, std::size_t first, std::size_t last) {
  using Register = typename V::Register;
  const LoopArrays<typename V::Real> p = arrays;
  const auto* const values = table.values;
  const Register scale = V::set(table.scale), limit = V::set(table.last);
  for (std::size_t i = first; i < last; i += V::lanes * vectors) {
    Register sums[vectors][3];
    for (auto& sums_of_vector : sums)
      for (Register& sum : sums_of_vector) sum = V::set(0);
    for (std::size_t j = 0; j < p.n; ++j) {
      for (std::size_t k = 0; k < vectors; ++k) {
        Register d[3];
        for (std::size_t c = 0; c < 3; ++c)
          d[c] = V::sub(V::set(p.coordinate[c][j]), V::load(p.coordinate[c] + i + V::lanes * k));
        const auto r2 = V::fma(d[2], d[2], V::fma(d[1], d[1], V::mul(d[0], d[0])));
        const auto at = V::min(V::mul(r2, scale), limit);
        const auto index = V::indices(at);
        const auto value = V::gather(values, index), next = V::gather(values + 1, index);
        const auto rest = V::sub(at, V::number(index));
        const auto factor = V::mul(V::set(p.mass[j]), V::fma(rest, V::sub(next, value), value));
        for (std::size_t c = 0; c < 3; ++c) sums[k][c] = V::fma(factor, d[c], sums[k][c]);
      }
    }
    for (std::size_t k = 0; k < vectors; ++k)
      for (std::size_t s = 0; s < 3; ++s) V::store(p.sum[s] + i + V::lanes * k, sums[k][s]);
  }
}

/// Distances of a mixed loop from pairs of floats.
template <typename V>
struct FromPairs {
  static typename V::Register distance(const MixedArrays& p, std::size_t c, std::size_t j,
                                       std::size_t i) {
    const auto high = V::sub(V::set(p.high[c][j]), V::load(p.high[c] + i));
    return V::add(high, V::sub(V::set(p.rest[c][j]), V::load(p.rest[c] + i)));
  }
};

/// JerkLaw in floats with accurate distances. Partial sums of 64 sources are added to doubles.
template <typename V, typename Root, typename Distance, std::size_t vectors>
void mixed_loop(const MixedArrays& arrays, std::size_t first, std::size_t last, float eps2) {
  using Register = typename V::Register;
  constexpr std::size_t block = 64, sums = JerkLaw::sums;
  const MixedArrays p = arrays;
  const Register softening = V::set(eps2);
  for (std::size_t i = first; i < last; i += V::lanes * vectors) {
    for (std::size_t s = 0; s < sums; ++s)
      for (std::size_t k = 0; k < V::lanes * vectors; ++k) p.sum[s][i + k] = 0;
    for (std::size_t begin = 0; begin < p.n; begin += block) {
      Register partial[vectors][sums];
      for (auto& of_vector : partial)
        for (Register& sum : of_vector) sum = V::set(0);
      const std::size_t end = begin + block < p.n ? begin + block : p.n;
      for (std::size_t j = begin; j < end; ++j) {
        for (std::size_t k = 0; k < vectors; ++k) {
          const std::size_t at = i + V::lanes * k;
          Register d[JerkLaw::coordinates];
          for (std::size_t c = 0; c < 3; ++c) {
            d[c] = Distance::distance(p, c, j, at);
            d[3 + c] = V::sub(V::set(p.velocity[c][j]), V::load(p.velocity[c] + at));
          }
          JerkLaw::add<V, Root>(d, V::set(p.mass[j]), softening, partial[k]);
        }
      }
      for (std::size_t k = 0; k < vectors; ++k)
        for (std::size_t s = 0; s < sums; ++s)
          V::add_to_doubles(p.sum[s] + i + V::lanes * k, partial[k][s]);
    }
  }
}

}  // namespace gdr::bench
