// The choice of functions, and fast matrix products for any machine, on vectors of the compiler.
#include <cstdint>
#include <limits>

#include "emulator/engine/matmul/cpu/fast.hpp"

namespace gdr {
namespace {

/// Two doubles: every 64-bit machine has such registers, most of them 16 or more.
struct Portable {
  static constexpr std::size_t width = 2, mr = 8, nr = 2;
  using V [[gnu::vector_size(16), gnu::may_alias]] = double;
  using Bits [[gnu::vector_size(16)]] = std::int64_t;

  static V load(const double* p) {
    V x;
    __builtin_memcpy(&x, p, sizeof x);
    return x;
  }
  static void store(double* p, V x) { __builtin_memcpy(p, &x, sizeof x); }
  static V all(double x) { return V{x, x}; }
  static V add(V a, V b) { return a + b; }
  /// Two roundings: a machine without the instruction would compute one by a function.
  static V fma(V a, V b, V c) { return a * b + c; }
  static V bits_of(V a, V b) {
    return reinterpret_cast<V>(reinterpret_cast<Bits>(a) | reinterpret_cast<Bits>(b));
  }
  static bool has_bits(V x) {
    const Bits bits = reinterpret_cast<Bits>(x);
    return (bits[0] | bits[1]) != 0;
  }
  static void transpose(V (&x)[width]) {
    const V a = x[0], b = x[1];
    x[0] = V{a[0], b[0]};
    x[1] = V{a[1], b[1]};
  }
  static V canonical(V x) { return x == x ? x : all(std::numeric_limits<double>::quiet_NaN()); }
};

}  // namespace

const MatmulFunctions* exact_matmul_of([[maybe_unused]] Isa isa) noexcept {
#if defined(__x86_64__)
  if (isa == Isa::Avx512) return &exact_matmul_avx512();
  if (isa == Isa::Avx2) return &exact_matmul_avx2();
#elif defined(__aarch64__)
  if (isa == Isa::Neon) return &exact_matmul_neon();
#endif
  return nullptr;
}

const FastMatmulFunctions& fast_matmul_of([[maybe_unused]] Isa isa) noexcept {
#if defined(__x86_64__)
  if (isa == Isa::Avx512) return fast_matmul_avx512();
  if (isa == Isa::Avx2) return fast_matmul_avx2();
#elif defined(__aarch64__)
  if (isa == Isa::Neon) return fast_matmul_neon();
#endif
  return fast_matmul_portable();
}

const FastMatmulFunctions& fast_matmul_portable() noexcept {
  static constexpr FastMatmulFunctions functions{FastMatmul<Portable>::pack,
                                                 FastMatmul<Portable>::loop_jr};
  return functions;
}

}  // namespace gdr
