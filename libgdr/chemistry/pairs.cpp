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

/// Largest number of doubles for the matrices of all pairs; of larger systems they are computed in
/// every call, which takes little of its time.
constexpr std::size_t max_stored = std::size_t{1} << 23;

constexpr std::size_t max_monomials = hermite_count(max_shell);

/// Whether a pair consists of one site: products of its functions appear in both orders.
bool same_site(const CentrePair& c, const Pair& p) { return c.a == c.b && p.site_a == p.site_b; }

}  // namespace

PairList::PairList(std::span<const Shell> shells, unsigned threads)
    : centres_(make_centres(shells)), threads_(threads), functions_(function_count(shells)) {
  std::size_t most = 1;
  for (const Centre& centre : centres_) most = std::max(most, largest_contraction_of(centre));
  contraction_ = most * most;
  centre_of_.resize(functions_);
  for (std::uint32_t a = 0; a < centres_.size(); ++a)
    for (const std::size_t f : centres_[a].functions) centre_of_[f] = a;
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
          pairs_.push_back({i, j, x.l(), coefficients_, 0, x.p, x.centre, 0});
          coefficients_ += hermite_count(x.l());
        }
      }
      made.end = pairs_.size();
    }
  }
  make_matrices();
}

void PairList::for_centre_pairs(const std::function<void(const CentrePair&)>& work) const {
  const Phase phase{centre_pairs_.size(), [&](std::size_t n) { work(centre_pairs_[n]); }};
  const double estimate = ns_a_pair * static_cast<double>(pairs_.size());
  run_phases({&phase, 1}, threads_for(estimate, threads_));
}

void PairList::make_matrices() {
  std::size_t total = 0;
  for (const CentrePair& c : centre_pairs_) {
    for (std::size_t k = c.begin; k < c.end; ++k) {
      pairs_[k].matrix = total;
      total += matrix_size(c, pairs_[k]);
    }
  }
  if (total <= max_stored) matrices_.resize(total);
  for_centre_pairs([&](const CentrePair& c) {
    std::vector<double> scratch;
    for (std::size_t k = c.begin; k < c.end; ++k) {
      Pair& pair = pairs_[k];
      const std::size_t size = matrix_size(c, pair), each = hermite_count(pair.l);
      scratch.resize(size);
      double* const matrix = matrices_.empty() ? scratch.data() : matrices_.data() + pair.matrix;
      compute_matrix(c, pair, matrix);
      double most = 0;
      for (std::size_t product = 0; product < size; product += each)
        most = std::max(most, self_interaction(pair.l, pair.p, matrix + product));
      pair.bound = std::sqrt(most);
    }
  });
}

void PairList::compute_matrix(const CentrePair& c, const Pair& pair, double* matrix) const {
  const Site &a = site_a(c, pair), &b = site_b(c, pair);
  const std::size_t na = a.monomials(), nb = b.monomials(), each = hermite_count(pair.l);
  std::fill_n(matrix, matrix_size(c, pair), 0.0);
  // Most functions have one monomial.
  double products[max_monomials * max_monomials * hermite_count(max_pair)] = {};
  expansion(c, pair).of_monomials(products);
  for (std::size_t f = 0; f < a.functions.size(); ++f) {
    for (std::size_t g = 0; g < b.functions.size(); ++g, matrix += each) {
      for (std::size_t i = 0; i < na; ++i) {
        for (std::size_t j = 0; j < nb; ++j) {
          const double factor = a.transform[f * na + i] * b.transform[g * nb + j];
          if (factor == 0) continue;
          const double* const product = products + (i * nb + j) * each;
          for (std::size_t h = 0; h < each; ++h) matrix[h] += factor * product[h];
        }
      }
    }
  }
}

const double* PairList::matrix_of(const CentrePair& c, const Pair& pair,
                                  std::vector<double>& scratch) const {
  if (!matrices_.empty()) return matrices_.data() + pair.matrix;
  const std::size_t size = matrix_size(c, pair);
  if (scratch.size() < size) scratch.resize(size);
  compute_matrix(c, pair, scratch.data());
  return scratch.data();
}

void PairList::set_hermite_density(const CentrePair& c, const double* density,
                                   double* hermite) const {
  const auto &own_a = centres_[c.a].functions, &own_b = centres_[c.b].functions;
  std::vector<double> scratch;
  for (std::size_t k = c.begin; k < c.end; ++k) {
    const Pair& pair = pairs_[k];
    const Site &a = site_a(c, pair), &b = site_b(c, pair);
    const std::size_t each = hermite_count(pair.l);
    const double* matrix = matrix_of(c, pair, scratch);
    const double weight = same_site(c, pair) ? 0.5 : 1;
    double* const sum = hermite + pair.hermite;
    std::fill_n(sum, each, 0.0);
    for (const std::size_t f : a.functions) {
      const std::size_t row = own_a[f];
      for (const std::size_t g : b.functions) {
        const std::size_t column = own_b[g];
        const double d =
            weight * (density[row * functions_ + column] + density[column * functions_ + row]);
        if (d != 0)
          for (std::size_t h = 0; h < each; ++h) sum[h] += d * matrix[h];
        matrix += each;
      }
    }
  }
}

std::vector<double> PairList::hermite_density(const double* density) const {
  std::vector<double> hermite(coefficients_, 0.0);
  for_centre_pairs([&](const CentrePair& c) { set_hermite_density(c, density, hermite.data()); });
  return hermite;
}

void PairList::contract(std::span<const double> potential, double* matrix) const {
  std::fill_n(matrix, functions_ * functions_, 0.0);
  for_centre_pairs([&](const CentrePair& c) {
    const auto &own_a = centres_[c.a].functions, &own_b = centres_[c.b].functions;
    // A sum for each product of functions of both centres, in the order of the pairs.
    std::vector<double> block(own_a.size() * own_b.size(), 0.0), scratch;
    for (std::size_t k = c.begin; k < c.end; ++k) {
      const Pair& pair = pairs_[k];
      const Site &a = site_a(c, pair), &b = site_b(c, pair);
      const std::size_t each = hermite_count(pair.l);
      const double* products = matrix_of(c, pair, scratch);
      const double* const at = potential.data() + pair.hermite;
      for (const std::size_t row : a.functions) {
        for (const std::size_t column : b.functions) {
          double sum = 0;
          for (std::size_t h = 0; h < each; ++h) sum += products[h] * at[h];
          products += each;
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
