#include "libgdr/compat/grape/cutoff.hpp"

#include <algorithm>
#include <cmath>
#include <string>

#include "gdr/error.hpp"

namespace gdr::compat::grape {
namespace {

constexpr std::size_t steps = 4096;

}  // namespace

Tabulated::Tabulated(const std::function<double(double)>& f, double end) : end_(end) {
  if (!(end > 0) || !std::isfinite(end))
    throw Error(ErrorCategory::Usage,
                "the cut-off is at " + std::to_string(end) + "; it must be positive and finite");
  scale_ = static_cast<double>(steps) / end;
  values_.resize(steps + 4);
  // The function is only called where it is used; beyond the ends the values continue as cubics.
  double* const v = values_.data() + 1;
  for (std::size_t k = 0; k <= steps; ++k) {
    v[k] = f(end * static_cast<double>(k) / static_cast<double>(steps));
    if (!std::isfinite(v[k]))
      throw Error(ErrorCategory::Input,
                  "the cut-off function is not finite at R = " +
                      std::to_string(end * static_cast<double>(k) / static_cast<double>(steps)));
  }
  const auto next = [](double a, double b, double c, double d) {
    return a - 4 * b + 6 * c - 4 * d;
  };
  v[-1] = -next(v[3], v[2], v[1], v[0]);
  v[steps + 1] = -next(v[steps - 3], v[steps - 2], v[steps - 1], v[steps]);
  v[steps + 2] = -next(v[steps - 2], v[steps - 1], v[steps], v[steps + 1]);
}

double Tabulated::operator()(double r) const noexcept {
  if (!(r < end_)) return 0;
  const double at = r * scale_;
  const auto k = std::min(static_cast<std::size_t>(at), steps);
  const double t = at - static_cast<double>(k);
  const double* const v = values_.data() + 1 + k;
  // Lagrange's cubic through four values.
  return v[0] + t * ((v[1] - v[0]) + (t - 1) / 2 *
                                         ((v[1] - 2 * v[0] + v[-1]) +
                                          (t + 1) / 3 * (v[2] - 3 * v[1] + 3 * v[0] - v[-1])));
}

void add_with_cutoff(const Cutoff& cutoff, double eta, const CutoffParticles& sources,
                     const double x[3], double eps2, double acc[3], double& pot) {
  for (std::size_t j = 0; j < sources.x.size(); ++j) {
    const double d[] = {sources.x[j][0] - x[0], sources.x[j][1] - x[1], sources.x[j][2] - x[2]};
    const double r2 = d[0] * d[0] + d[1] * d[1] + d[2] * d[2] + eps2 + sources.eps2[j];
    if (r2 == 0) continue;
    const double r = std::sqrt(r2), mass = sources.mass[j];
    const double f = mass / (r2 * r) * cutoff.force(r / eta);
    for (std::size_t k = 0; k < 3; ++k) acc[k] += f * d[k];
    pot += mass / r * cutoff.potential(r / eta);
  }
}

}  // namespace gdr::compat::grape
