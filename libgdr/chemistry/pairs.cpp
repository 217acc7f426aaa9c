#include "libgdr/chemistry/pairs.hpp"

#include <algorithm>
#include <cmath>

#include "emulator/host/parallel.hpp"
#include "libgdr/chemistry/derivatives.hpp"

namespace gdr::chemistry {
namespace {

/// exp of minus this is negligible.
constexpr double negligible_exponent = 60;

/// Rough time for the Hermite coefficients of a pair of sites.
constexpr double ns_a_pair = 300;

/// Largest number of primitives of a function of a centre.
std::size_t largest_contraction_of(const Centre& centre) {
  std::vector<std::size_t> primitives(centre.functions.size(), 0);
  for (const Site& site : centre.sites) {
    std::vector<std::size_t> own = site.functions;
    std::ranges::sort(own);
    own.erase(std::unique(own.begin(), own.end()), own.end());
    for (const std::size_t f : own) ++primitives[f];
  }
  return primitives.empty() ? 1 : *std::ranges::max_element(primitives);
}

constexpr std::size_t most_monomials = hermite_count(max_shell);

/// Whether a pair consists of one site: products of its functions appear in both orders.
bool same_site(const CentrePair& c, const Pair& p) { return c.a == c.b && p.site_a == p.site_b; }

}  // namespace

PairList::PairList(std::span<const Shell> shells, unsigned threads)
    : centres_(make_centres(shells)), threads_(threads), functions_(function_count(shells)) {
  std::size_t most = 1;
  for (const Centre& centre : centres_) most = std::max(most, largest_contraction_of(centre));
  contraction_ = most * most;
  for (std::uint32_t a = 0; a < centres_.size(); ++a) {
    for (std::uint32_t b = 0; b <= a; ++b) {
      const Centre &ca = centres_[a], &cb = centres_[b];
      CentrePair& made = centre_pairs_.emplace_back(CentrePair{a, b, pairs_.size(), 0});
      for (std::uint32_t i = 0; i < ca.sites.size(); ++i) {
        for (std::uint32_t j = 0; j < (a == b ? i + 1 : cb.sites.size()); ++j) {
          const Site &si = ca.sites[i], &sj = cb.sites[j];
          if (overlap_exponent(ca.position, si.exponent, cb.position, sj.exponent) >
              negligible_exponent)
            continue;
          const Expansion x(ca.position, si, cb.position, sj);
          pairs_.push_back({i, j, x.l(), coefficients_, x.p, x.centre, 0});
          coefficients_ += hermite_count(x.l());
        }
      }
      made.end = pairs_.size();
    }
  }
  find_bounds();
}

void PairList::for_centre_pairs(const std::function<void(const CentrePair&)>& work) const {
  const Phase phase{centre_pairs_.size(), [&](std::size_t n) { work(centre_pairs_[n]); }};
  const double estimate = ns_a_pair * static_cast<double>(pairs_.size());
  run_phases({&phase, 1}, threads_for(estimate, threads_));
}

void PairList::find_bounds() {
  for_centre_pairs([&](const CentrePair& c) {
    for (std::size_t k = c.begin; k < c.end; ++k) {
      Pair& pair = pairs_[k];
      const Expansion x = expansion(c, pair);
      const Site &a = site_a(c, pair), &b = site_b(c, pair);
      const std::size_t na = a.monomials(), nb = b.monomials();
      for (std::size_t f = 0; f < a.functions.size(); ++f) {
        for (std::size_t g = 0; g < b.functions.size(); ++g) {
          double charge[most_monomials * most_monomials], hermite[hermite_count(max_pair)] = {};
          for (std::size_t i = 0; i < na; ++i)
            for (std::size_t j = 0; j < nb; ++j)
              charge[i * nb + j] = a.transform[f * na + i] * b.transform[g * nb + j];
          x.to_hermite(charge, hermite);
          pair.bound = std::max(pair.bound, self_interaction(pair.l, pair.p, hermite));
        }
      }
      pair.bound = std::sqrt(pair.bound);
    }
  });
}

std::vector<double> PairList::hermite_density(const double* density) const {
  std::vector<double> hermite(coefficients_, 0.0);
  for_centre_pairs([&](const CentrePair& c) {
    const auto &own_a = centres_[c.a].functions, &own_b = centres_[c.b].functions;
    for (std::size_t k = c.begin; k < c.end; ++k) {
      const Pair& pair = pairs_[k];
      const Site &a = site_a(c, pair), &b = site_b(c, pair);
      const std::size_t na = a.monomials(), nb = b.monomials();
      double charge[most_monomials * most_monomials] = {};
      for (std::size_t f = 0; f < a.functions.size(); ++f) {
        const std::size_t row = own_a[a.functions[f]];
        double half[most_monomials] = {};
        for (std::size_t g = 0; g < b.functions.size(); ++g) {
          const std::size_t column = own_b[b.functions[g]];
          const double d =
              (density[row * functions_ + column] + density[column * functions_ + row]) *
              (same_site(c, pair) ? 0.5 : 1);
          for (std::size_t j = 0; j < nb; ++j) half[j] += d * b.transform[g * nb + j];
        }
        for (std::size_t i = 0; i < na; ++i)
          for (std::size_t j = 0; j < nb; ++j)
            charge[i * nb + j] += a.transform[f * na + i] * half[j];
      }
      expansion(c, pair).to_hermite(charge, hermite.data() + pair.hermite);
    }
  });
  return hermite;
}

void PairList::contract(std::span<const double> potential, double* matrix) const {
  std::fill_n(matrix, functions_ * functions_, 0.0);
  for_centre_pairs([&](const CentrePair& c) {
    const auto &own_a = centres_[c.a].functions, &own_b = centres_[c.b].functions;
    // A sum for each product of functions of both centres, in the order of the pairs.
    std::vector<double> block(own_a.size() * own_b.size(), 0.0);
    for (std::size_t k = c.begin; k < c.end; ++k) {
      const Pair& pair = pairs_[k];
      const Site &a = site_a(c, pair), &b = site_b(c, pair);
      const std::size_t na = a.monomials(), nb = b.monomials();
      double products[most_monomials * most_monomials] = {};
      expansion(c, pair).from_hermite(potential.data() + pair.hermite, products);
      for (std::size_t f = 0; f < a.functions.size(); ++f) {
        double half[most_monomials] = {};
        for (std::size_t i = 0; i < na; ++i)
          for (std::size_t j = 0; j < nb; ++j)
            half[j] += a.transform[f * na + i] * products[i * nb + j];
        for (std::size_t g = 0; g < b.functions.size(); ++g) {
          double sum = 0;
          for (std::size_t j = 0; j < nb; ++j) sum += half[j] * b.transform[g * nb + j];
          const std::size_t row = a.functions[f], column = b.functions[g];
          block[row * own_b.size() + column] += sum;
          // The product of the other order on one centre, from the pair (b, a) that is not listed.
          if (c.a == c.b && !same_site(c, pair)) block[column * own_b.size() + row] += sum;
        }
      }
    }
    for (std::size_t f = 0; f < own_a.size(); ++f) {
      for (std::size_t g = 0; g < (c.a == c.b ? f + 1 : own_b.size()); ++g) {
        matrix[own_a[f] * functions_ + own_b[g]] = block[f * own_b.size() + g];
        matrix[own_b[g] * functions_ + own_a[f]] = block[f * own_b.size() + g];
      }
    }
  });
}

}  // namespace gdr::chemistry
