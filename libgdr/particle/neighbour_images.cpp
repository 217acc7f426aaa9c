#include "libgdr/particle/neighbour_images.hpp"

#include <algorithm>
#include <cmath>

namespace gdr {

WrappedParticles::WrappedParticles(const char* name, std::span<const double> given,
                                   const Lattice& box)
    : given_(given) {
  if (!box.is_periodic()) return;
  wrapped_.assign(given.begin(), given.end());
  edges_.resize(given.size());
  for (std::size_t k = 0; k < given.size() / 3; ++k) {
    Point x = this->given(k);
    for (const double one : x) largest_ = std::max(largest_, std::abs(one));
    const Point n = box.wrap(x);
    for (std::size_t c = 0; c < 3; ++c) {
      if (!(std::abs(n[c]) <= Lattice::max_edges)) refuse_far_position(name, k);
      max_edges_ = std::max(max_edges_, std::abs(n[c]));
      wrapped_[3 * k + c] = x[c];
      edges_[3 * k + c] = n[c];
    }
    const Point f = box.in_edges(x);
    if (k == 0) in_edges_ = {f, f};
    in_edges_.include(f);
  }
}

Point ImageCodes::image(std::uint32_t code) const noexcept {
  const auto a = static_cast<std::uint32_t>(count_[1]), b = static_cast<std::uint32_t>(count_[2]);
  const std::uint32_t i = code / b / a, j = code / b % a, k = code % b;
  return {first_[0] + i, first_[1] + j, first_[2] + k};
}

}  // namespace gdr
