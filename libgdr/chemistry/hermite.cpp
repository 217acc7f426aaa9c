#include "libgdr/chemistry/hermite.hpp"

namespace gdr::chemistry {

const std::vector<Order>& hermite_orders() {
  static const std::vector<Order> orders = [] {
    std::vector<Order> made;
    for (unsigned total = 0; total <= max_total; ++total)
      for (unsigned t = total + 1; t-- > 0;)
        for (unsigned u = total - t + 1; u-- > 0;) made.push_back({t, u, total - t - u});
    return made;
  }();
  return orders;
}

std::size_t hermite_index(unsigned t, unsigned u, unsigned v) {
  const unsigned total = t + u + v, rest = u + v;
  const std::size_t before = std::size_t{total} * (total + 1) * (total + 2) / 6;
  return before + std::size_t{rest} * (rest + 1) / 2 + v;
}

}  // namespace gdr::chemistry
