#include "libgdr/compat/grape/g6_targets.hpp"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <string>

#include "gdr/error.hpp"
#include "libgdr/compat/grape/calls.hpp"

namespace gdr::compat::grape {
namespace {

constexpr std::ptrdiff_t triple_bytes = 3 * sizeof(double);

void require_softening(const Targets& targets, std::size_t n) {
  for (std::size_t i = 0; i < (targets.one_eps2 ? std::min<std::size_t>(n, 1) : n); ++i)
    if (const double eps2 = targets.eps2[i]; !(eps2 >= 0 && std::isfinite(eps2)))
      throw Error(ErrorCategory::Usage,
                  "eps2" + (targets.one_eps2 ? "" : " of i-particle " + std::to_string(i)) +
                      " is " + number_text(eps2) + "; it must be finite and not negative");
}

}  // namespace

std::size_t checked_targets(const Targets& targets) {
  const std::size_t n = checked_count(targets.count, "i-particles");
  if (n > 0 && (targets.x == nullptr || targets.v == nullptr || targets.index == nullptr ||
                targets.eps2 == nullptr))
    throw Error(ErrorCategory::Usage, "index, xi, vi or eps2 is a null pointer");
  require_softening(targets, n);
  return n;
}

void KeptTargets::keep(const Targets& targets, std::size_t n) {
  // No pointer to an empty array is null.
  const std::size_t size = std::max<std::size_t>(n, 1);
  x_.resize(size);
  v_.resize(size);
  id_.resize(size);
  eps2_.resize(size);
  if (n > 0) {
    std::memcpy(x_.data(), targets.x, n * sizeof(Row));
    std::memcpy(v_.data(), targets.v, n * sizeof(Row));
  }
  for (std::size_t i = 0; i < n; ++i) {
    id_[i] = targets.index[i];
    eps2_[i] = targets.eps2[targets.one_eps2 ? 0 : i];
  }
  if (targets.h2 != nullptr) h2_.assign(targets.h2, targets.h2 + n);
  count_ = n;
}

void KeptTargets::clear() noexcept {
  count_ = 0;
  h2_.clear();
}

void KeptTargets::add_inputs(std::vector<NamedInput>& to) const {
  const double *const x = x_.data()->data(), *const v = v_.data()->data();
  to.insert(to.end(), {{"xi", {x, triple_bytes}},
                       {"yi", {x + 1, triple_bytes}},
                       {"zi", {x + 2, triple_bytes}},
                       {"vxi", {v, triple_bytes}},
                       {"vyi", {v + 1, triple_bytes}},
                       {"vzi", {v + 2, triple_bytes}},
                       {"idi", id_.data()}});
}

}  // namespace gdr::compat::grape
