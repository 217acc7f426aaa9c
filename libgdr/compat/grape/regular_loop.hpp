// The loop of regular_sums.hpp, for any vector type.
//
// A vector type V has Register, Mask, lanes and the functions set, load, store, add, sub, mul,
// fma (a b + c), fnma (c - a b), min, less, and_not (b without a), bits, keep (0 elsewhere) and
// rsqrt. It lies in an unnamed namespace, so that every file that includes this has functions of
// its own, compiled for its own instruction set; no other function may be called. Files are
// compiled with -ffp-contract=off: distances are the same with all of them.
#pragma once

#include "libgdr/compat/grape/regular_sums.hpp"

namespace gdr::compat::grape {

template <typename V>
struct Vector3 {
  typename V::Register x, y, z;
};

template <typename V>
inline Vector3<V> difference(const double* const (&column)[3], std::size_t j,
                             const Vector3<V>& from) {
  return {V::sub(V::load(column[0] + j), from.x), V::sub(V::load(column[1] + j), from.y),
          V::sub(V::load(column[2] + j), from.z)};
}

/// Rounded like the plain sum of squares in C.
template <typename V>
inline typename V::Register square(const Vector3<V>& d) {
  return V::add(V::add(V::mul(d.x, d.x), V::mul(d.y, d.y)), V::mul(d.z, d.z));
}

template <typename V>
inline void append(NearList& near, std::size_t first, unsigned bits) {
  for (; bits != 0; bits &= bits - 1) {
    if (near.count < near.capacity)
      near.numbers[near.count] = static_cast<int>(first) + __builtin_ctz(bits);
    ++near.count;
  }
}

template <typename V, bool is_by_mass>
void regular_loop(const RegularSources& sources, std::size_t first, std::size_t last,
                  const RegularTarget& target, PartialSums& sums, NearList& near) {
  using Register = typename V::Register;
  const Vector3<V> xi{V::set(target.x[0]), V::set(target.x[1]), V::set(target.x[2])};
  const Vector3<V> vi{V::set(target.v[0]), V::set(target.v[1]), V::set(target.v[2])};
  const Register h2 = V::set(target.h2), dt = V::set(target.dt), three = V::set(3);
  const Register least = V::set(2.2250738585072014e-308);  // normal number
  Register sum[7];
  for (std::size_t k = 0; k < 7; ++k) sum[k] = V::load(sums.lane[k]);
  for (std::size_t j = first; j < last; j += V::lanes) {
    const Vector3<V> d = difference<V>(sources.x, j, xi), w = difference<V>(sources.v, j, vi);
    const Vector3<V> p{V::add(d.x, V::mul(dt, w.x)), V::add(d.y, V::mul(dt, w.y)),
                       V::add(d.z, V::mul(dt, w.z))};
    const Register mass = V::load(sources.mass + j), r2 = square<V>(d);
    const auto is_near = V::less(V::min(r2, square<V>(p)), is_by_mass ? V::mul(mass, h2) : h2);
    if (const unsigned bits = V::bits(is_near); bits != 0) append<V>(near, j, bits);
    const auto is_summed = V::and_not(is_near, V::less(least, r2));
    const Register inverse = V::keep(is_summed, V::rsqrt(r2));
    const Register inverse2 = V::mul(inverse, inverse), potential = V::mul(mass, inverse);
    const Register factor = V::mul(potential, inverse2);
    const Register rv = V::fma(d.z, w.z, V::fma(d.y, w.y, V::mul(d.x, w.x)));
    const Register alpha = V::mul(V::mul(three, rv), inverse2);
    sum[0] = V::fma(factor, d.x, sum[0]);
    sum[1] = V::fma(factor, d.y, sum[1]);
    sum[2] = V::fma(factor, d.z, sum[2]);
    sum[3] = V::fma(factor, V::fnma(alpha, d.x, w.x), sum[3]);
    sum[4] = V::fma(factor, V::fnma(alpha, d.y, w.y), sum[4]);
    sum[5] = V::fma(factor, V::fnma(alpha, d.z, w.z), sum[5]);
    sum[6] = V::add(sum[6], potential);
  }
  for (std::size_t k = 0; k < 7; ++k) V::store(sums.lane[k], sum[k]);
}

}  // namespace gdr::compat::grape
