// A random number generator with the same results on every host and standard library.
#pragma once

#include <array>
#include <cstdint>
#include <initializer_list>
#include <random>

namespace gdr::selftest {

class Rng {
 public:
  explicit Rng(std::uint64_t seed) : engine_(seed) {}

  std::uint64_t bits() { return engine_(); }
  /// 0 to n - 1.
  std::uint32_t below(std::uint64_t n) { return static_cast<std::uint32_t>(bits() % n); }
  /// first to last, both possible.
  std::uint32_t between(std::uint32_t first, std::uint32_t last) {
    return first + below(std::uint64_t{last} - first + 1);
  }
  bool chance(unsigned percent) { return below(100) < percent; }

  template <typename T>
  T pick(std::initializer_list<T> choices) {
    return choices.begin()[below(choices.size())];
  }

 private:
  std::mt19937_64 engine_;
};

}  // namespace gdr::selftest
