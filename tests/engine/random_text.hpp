// Random choices among pieces of kernel text.
#pragma once

#include <cstdint>
#include <random>
#include <string>
#include <vector>

namespace gdr::test {

class RandomText {
 public:
  explicit RandomText(std::uint64_t seed) : random_(seed) {}

 protected:
  /// A number from 0 to n - 1.
  unsigned below(unsigned n) { return static_cast<unsigned>(random_() % n); }
  template <typename... Text>
  std::string one_of(const Text&... texts) {
    const std::vector<std::string> all{texts...};
    return all[below(static_cast<unsigned>(all.size()))];
  }

 private:
  std::mt19937_64 random_;
};

}  // namespace gdr::test
