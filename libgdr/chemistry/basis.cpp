#include "libgdr/chemistry/basis.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numbers>
#include <string_view>

#include "gdr/error.hpp"

namespace gdr::chemistry {
namespace {

/// A monomial of an angular function with its coefficient.
struct Monomial {
  Order order;
  double factor;
};
using AngularFunction = std::vector<Monomial>;

/// The angular functions of a shell, in PySCF's order.
const std::vector<AngularFunction>& angular_functions(unsigned l, bool spherical) {
  constexpr double pi = std::numbers::pi;
  static const double s = std::sqrt(1 / (4 * pi)), p = std::sqrt(3 / (4 * pi));
  static const double xy = std::sqrt(15 / (4 * pi)), zz = std::sqrt(5 / (16 * pi));
  static const std::vector<AngularFunction> s_functions{{{{0, 0, 0}, s}}};
  static const std::vector<AngularFunction> p_functions{
      {{{1, 0, 0}, p}}, {{{0, 1, 0}, p}}, {{{0, 0, 1}, p}}};
  static const std::vector<AngularFunction> d_functions{
      {{{1, 1, 0}, xy}},
      {{{0, 1, 1}, xy}},
      {{{0, 0, 2}, 2 * zz}, {{2, 0, 0}, -zz}, {{0, 2, 0}, -zz}},
      {{{1, 0, 1}, xy}},
      {{{2, 0, 0}, xy / 2}, {{0, 2, 0}, -xy / 2}}};
  static const std::vector<AngularFunction> cartesian_d{{{{2, 0, 0}, 1}}, {{{1, 1, 0}, 1}},
                                                        {{{1, 0, 1}, 1}}, {{{0, 2, 0}, 1}},
                                                        {{{0, 1, 1}, 1}}, {{{0, 0, 2}, 1}}};
  if (l == 0) return s_functions;
  if (l == 1) return p_functions;
  return spherical ? d_functions : cartesian_d;
}

/// The name of shells of an angular momentum: s, p, d, f, g, h, i, then k without j.
std::string letter_of(unsigned l) {
  constexpr std::string_view letters = "spdfghiklmnoqrtuv";
  return l < letters.size() ? std::string(1, letters[l]) : "higher";
}

void check(const Shell& shell, std::size_t number) {
  const auto fail = [&](ErrorCategory category, const std::string& what) {
    throw Error(category, fmt::format("shell {}: {}", number, what));
  };
  if (shell.l > max_shell)
    fail(ErrorCategory::Unsupported,
         fmt::format("{} shells (angular momentum {}) are not supported; s, p and d shells (0, 1, "
                     "2) are",
                     letter_of(shell.l), shell.l));
  if (shell.exponents.empty()) fail(ErrorCategory::Input, "it has no primitives");
  if (shell.coefficients.empty() || shell.coefficients.size() % shell.exponents.size() != 0)
    fail(ErrorCategory::Input, fmt::format("{} coefficients are not a multiple of {} primitives",
                                           shell.coefficients.size(), shell.exponents.size()));
  for (const double a : shell.exponents)
    if (!(a > 0) || !std::isfinite(a))
      fail(ErrorCategory::Input, fmt::format("the exponent {} is not positive and finite", a));
  for (const double c : shell.coefficients)
    if (!std::isfinite(c)) fail(ErrorCategory::Input, "a coefficient is not finite");
  for (const double x : shell.centre)
    if (!std::isfinite(x)) fail(ErrorCategory::Input, "a coordinate of its centre is not finite");
}

Centre& centre_at(std::vector<Centre>& centres, const Point& position) {
  const auto found = std::ranges::find(centres, position, &Centre::position);
  if (found != centres.end()) return *found;
  return centres.emplace_back(Centre{position, {}, {}});
}

Site& site_at(Centre& centre, double exponent) {
  const auto found = std::ranges::find(centre.sites, exponent, &Site::exponent);
  if (found != centre.sites.end()) return *found;
  return centre.sites.emplace_back(Site{exponent, 0, {}, {}});
}

/// Number of functions of a shell.
std::size_t functions_of(const Shell& shell) {
  return shell.coefficients.size() / shell.exponents.size() *
         angular_functions(shell.l, shell.spherical).size();
}

/// Adds the functions of a shell, the first of which is `first` in the centre.
void add_shell(Centre& centre, const Shell& shell, std::size_t first) {
  const auto& angular = angular_functions(shell.l, shell.spherical);
  const std::size_t primitives = shell.exponents.size();
  const std::size_t contractions = shell.coefficients.size() / primitives;
  for (std::size_t k = 0; k < primitives; ++k) {
    Site& site = site_at(centre, shell.exponents[k]);
    const std::size_t width = site.monomials();
    for (std::size_t c = 0; c < contractions; ++c) {
      const double coefficient = shell.coefficients[c * primitives + k];
      if (coefficient == 0) continue;
      for (std::size_t m = 0; m < angular.size(); ++m) {
        site.functions.push_back(first + c * angular.size() + m);
        site.transform.resize(site.transform.size() + width, 0.0);
        double* row = site.transform.data() + site.transform.size() - width;
        for (const auto& [order, factor] : angular[m])
          row[hermite_index(order[0], order[1], order[2])] += coefficient * factor;
      }
    }
  }
}

}  // namespace

double radial_norm(unsigned l, double exponent) {
  return std::sqrt(2 * std::pow(2 * exponent, l + 1.5) / std::tgamma(l + 1.5));
}

std::size_t function_count(std::span<const Shell> shells) {
  std::size_t count = 0;
  for (const Shell& shell : shells) count += functions_of(shell);
  return count;
}

std::vector<Centre> make_centres(std::span<const Shell> shells) {
  std::vector<Centre> centres;
  std::size_t first = 0, number = 0;
  // Sites get their angular momentum first, because it determines the width of their rows.
  for (const Shell& shell : shells) {
    check(shell, number++);
    for (const double a : shell.exponents) {
      Site& site = site_at(centre_at(centres, shell.centre), a);
      site.l = std::max(site.l, shell.l);
    }
  }
  for (const Shell& shell : shells) {
    Centre& centre = centre_at(centres, shell.centre);
    add_shell(centre, shell, centre.functions.size());
    for (std::size_t f = 0; f < functions_of(shell); ++f) centre.functions.push_back(first++);
  }
  for (Centre& centre : centres)
    std::ranges::stable_sort(centre.sites, std::ranges::greater{}, &Site::exponent);
  return centres;
}

}  // namespace gdr::chemistry
