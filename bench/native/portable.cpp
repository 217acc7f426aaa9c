// The native loops for any host: vectors are arrays that the compiler maps to what there is.
#include <cmath>

#include "bench/native/pair_loop.hpp"

namespace gdr::bench {
namespace {

template <typename T, std::size_t size>
struct Lanes {
  using Real = T;
  struct Register {
    T x[size];
  };
  static constexpr std::size_t lanes = size;

  template <typename Operation>
  static Register each(const Operation& operation) {
    Register r;
    for (std::size_t k = 0; k < size; ++k) r.x[k] = operation(k);
    return r;
  }
  static Register set(T x) {
    return each([=](std::size_t) { return x; });
  }
  static Register load(const T* from) {
    return each([=](std::size_t k) { return from[k]; });
  }
  static void store(T* to, const Register& a) {
    for (std::size_t k = 0; k < size; ++k) to[k] = a.x[k];
  }
  static Register sub(const Register& a, const Register& b) {
    return each([&](std::size_t k) { return a.x[k] - b.x[k]; });
  }
  static Register mul(const Register& a, const Register& b) {
    return each([&](std::size_t k) { return a.x[k] * b.x[k]; });
  }
  static Register fma(const Register& a, const Register& b, const Register& c) {
    return each([&](std::size_t k) { return a.x[k] * b.x[k] + c.x[k]; });
  }
  struct Indices {
    int k[size];
  };
  static Register min(const Register& a, const Register& b) {
    return each([&](std::size_t k) { return a.x[k] < b.x[k] ? a.x[k] : b.x[k]; });
  }
  static Indices indices(const Register& a) {
    Indices r;
    for (std::size_t k = 0; k < size; ++k) r.k[k] = static_cast<int>(a.x[k]);
    return r;
  }
  static Register number(const Indices& a) {
    return each([&](std::size_t k) { return static_cast<T>(a.k[k]); });
  }
  static Register gather(const T* from, const Indices& a) {
    return each([&](std::size_t k) { return from[a.k[k]]; });
  }
  static Register rsqrt(const Register& a) {
    return each([&](std::size_t k) { return 1 / std::sqrt(a.x[k]); });
  }
};

using Double8 = Lanes<double, 8>;
using Float1 = Lanes<float, 1>;
constexpr const char* divide = "square root and division";

}  // namespace

constinit const LoopSet portable_loops = {
    {{divide, pair_loop<Double8, Double8, GravityLaw, 1>}, {}},
    {},
    {divide, pair_loop<Float1, Float1, GravityLaw, 1>},
    {divide, pair_loop<Float1, Float1, GravityLaw, 1>},
    {},
    {table_loop<Double8, 1>},
    {table_loop<Float1, 1>}};

}  // namespace gdr::bench
