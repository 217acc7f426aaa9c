#include "libgdr/tree/legendre.hpp"

#include <cmath>
#include <numbers>

#include "gdr/error.hpp"

namespace gdr::tree {
namespace {

constexpr std::size_t max_nodes = max_legendre_degree + 1;

/// Points along the three directions.
struct Grid {
  std::array<const LegendrePoints*, 3> axes = {};
  std::size_t nodes(std::size_t c) const noexcept { return axes[c]->size(); }
  std::size_t size() const noexcept { return nodes(0) * nodes(1) * nodes(2); }
};

/// The grids of degrees 0 to max_legendre_degree; 0 is one point.
Grid grid_of(const Octree& tree, unsigned degree) {
  static const std::vector<LegendrePoints> all = [] {
    std::vector<LegendrePoints> made;
    for (unsigned d = 0; d <= max_legendre_degree; ++d) made.emplace_back(d);
    return made;
  }();
  Grid grid;
  const Box& box = tree.clusters()[0].box;
  for (std::size_t c = 0; c < 3; ++c) grid.axes[c] = &all.at(box.high[c] > box.low[c] ? degree : 0);
  return grid;
}

/// A direction of a box, as the interval from -1 to 1.
struct Interval {
  double centre, half;
  explicit Interval(const Box& box, std::size_t c)
      : centre(0.5 * box.low[c] + 0.5 * box.high[c]), half(0.5 * box.high[c] - 0.5 * box.low[c]) {}
};

/// The values at x of the polynomials of a direction. In a flat box all particles are at the first
/// point.
void values_at(const LegendrePoints& points, const Interval& side, double x, double* out) {
  const bool flat = !(side.half > 0);
  const double at = flat ? points.x()[0] : (x - side.centre) / side.half;
  points.values(std::clamp(at, -1.0, 1.0), out);
}

/// For each point of one direction of a grid, the values of another grid's polynomials.
struct AxisTransfer {
  std::size_t from = 0, to = 0;
  std::array<double, max_nodes * max_nodes> factor;  ///< [to][from]
};

AxisTransfer transfer(const LegendrePoints& from, const Interval& source, const LegendrePoints& to,
                      const Interval& target) {
  AxisTransfer t;
  t.from = from.size();
  t.to = to.size();
  std::array<double, max_nodes> values;
  for (std::size_t k = 0; k < t.from; ++k) {
    values_at(to, target, source.centre + source.half * from.x()[k], values.data());
    for (std::size_t m = 0; m < t.to; ++m) t.factor[m * t.from + k] = values[m];
  }
  return t;
}

using Transfer = std::array<AxisTransfer, 3>;
using GridValues = std::array<double, max_nodes * max_nodes * max_nodes>;

/// out[m][rest] += sum of factor[m][k] in[k][rest], for `before` blocks.
void transfer_axis(const AxisTransfer& t, std::size_t before, std::size_t rest, const double* in,
                   double* out) {
  for (std::size_t b = 0; b < before; ++b, in += t.from * rest, out += t.to * rest)
    for (std::size_t m = 0; m < t.to; ++m)
      for (std::size_t k = 0; k < t.from; ++k) {
        const double f = t.factor[m * t.from + k];
        for (std::size_t r = 0; r < rest; ++r) out[m * rest + r] += f * in[k * rest + r];
      }
}

/// Adds charges of one grid to those of another.
void add_transferred(const Transfer& t, const double* in, double* out) {
  GridValues first, second;
  std::fill_n(first.begin(), t[0].to * t[1].from * t[2].from, 0.0);
  std::fill_n(second.begin(), t[0].to * t[1].to * t[2].from, 0.0);
  transfer_axis(t[0], 1, t[1].from * t[2].from, in, first.data());
  transfer_axis(t[1], t[0].to, t[2].from, first.data(), second.data());
  transfer_axis(t[2], t[0].to * t[1].to, 1, second.data(), out);
}

/// The proxies of one degree.
class Interpolation {
 public:
  Interpolation(const Octree& tree, const Grid& grid, const ChargedParticles& particles,
                const Proxies& proxies)
      : tree_(tree), grid_(grid), particles_(particles), proxies_(proxies) {}

  bool has(std::size_t cluster) const { return proxies_.first[cluster] != Proxies::none; }

  /// From the children's proxies, or from particles.
  void make(std::size_t q) const {
    if (!has(q)) return;
    place(q);
    const Cluster& c = tree_.clusters()[q];
    if (c.children == 0) return add_particles(q, c.first, c.count);
    for (std::size_t k = c.child; k < c.child + c.children; ++k)
      if (has(k))
        add_proxies(q, *this, k);
      else
        add_particles(q, tree_.clusters()[k].first, tree_.clusters()[k].count);
  }
  /// From proxies of a larger degree of the same cluster, or from particles.
  void make_from(const Interpolation& larger, std::size_t q) const {
    if (!has(q)) return;
    place(q);
    const Cluster& c = tree_.clusters()[q];
    if (larger.has(q))
      add_proxies(q, larger, q);
    else
      add_particles(q, c.first, c.count);
  }
  /// Divides products of carried variables by their charges. `largest` has the largest absolute
  /// value of each variable: a proxy whose charge is far smaller than a product gets a charge that
  /// is as good as none, so that the quotient is a number, and of moderate size.
  void divide(std::size_t q, std::span<const double> largest) const {
    if (!has(q)) return;
    constexpr double most = 0x1p40;
    for (std::size_t v = 0; v < largest.size(); ++v)
      for (std::size_t k = 0; k < grid_.size(); ++k) {
        double& charge = charge_that_carries(v)[proxies_.first[q] + k];
        const double product = std::abs((*particles_.carried[v].array)[proxies_.first[q] + k]);
        if (product > most * largest[v] * std::abs(charge))
          charge = std::copysign(product / (most * largest[v]), charge);
      }
    for (std::size_t v = 0; v < largest.size(); ++v)
      for (std::size_t k = 0; k < grid_.size(); ++k) {
        double& product = (*particles_.carried[v].array)[proxies_.first[q] + k];
        if (product != 0) product /= charge_that_carries(v)[proxies_.first[q] + k];
      }
  }

 private:
  std::size_t channels() const { return particles_.charges.size() + particles_.carried.size(); }
  double* channel(std::size_t k, std::size_t at) const {
    const std::size_t n = particles_.charges.size();
    return &(k < n ? *particles_.charges[k] : *particles_.carried[k - n].array)[at];
  }
  NumberArray& charge_that_carries(std::size_t v) const {
    return *particles_.charges[particles_.carried[v].charge];
  }
  Interval side(std::size_t q, std::size_t c) const { return Interval(tree_.clusters()[q].box, c); }

  /// The positions of a cluster's proxies.
  void place(std::size_t q) const {
    std::size_t next = proxies_.first[q];
    std::array<std::array<double, max_nodes>, 3> x;
    for (std::size_t c = 0; c < 3; ++c) {
      const Interval s = side(q, c);
      for (std::size_t k = 0; k < grid_.nodes(c); ++k)
        x[c][k] = s.centre + s.half * grid_.axes[c]->x()[k];
    }
    for (std::size_t a = 0; a < grid_.nodes(0); ++a)
      for (std::size_t b = 0; b < grid_.nodes(1); ++b)
        for (std::size_t c = 0; c < grid_.nodes(2); ++c, ++next) {
          (*particles_.position[0])[next] = x[0][a];
          (*particles_.position[1])[next] = x[1][b];
          (*particles_.position[2])[next] = x[2][c];
        }
  }

  void add_proxies(std::size_t q, const Interpolation& from, std::size_t cluster) const {
    Transfer t;
    for (std::size_t c = 0; c < 3; ++c)
      t[c] = transfer(*from.grid_.axes[c], side(cluster, c), *grid_.axes[c], side(q, c));
    for (std::size_t k = 0; k < channels(); ++k)
      add_transferred(t, channel(k, from.proxies_.first[cluster]), channel(k, proxies_.first[q]));
  }

  void add_particles(std::size_t q, std::size_t first, std::size_t count) const {
    const std::array<Interval, 3> sides{side(q, 0), side(q, 1), side(q, 2)};
    std::array<std::array<double, max_nodes>, 3> values;
    for (std::size_t j = first; j < first + count; ++j) {
      for (std::size_t c = 0; c < 3; ++c)
        values_at(*grid_.axes[c], sides[c], tree_.at(c)[j], values[c].data());
      for (std::size_t k = 0; k < channels(); ++k)
        add_product(values, charge_of(k, j), channel(k, proxies_.first[q]));
    }
  }
  double charge_of(std::size_t k, std::size_t particle) const {
    const std::size_t n = particles_.charges.size();
    if (k < n) return (*particles_.charges[k])[particle];
    const ChargedParticles::Carried& v = particles_.carried[k - n];
    return (*v.array)[particle] * (*particles_.charges[v.charge])[particle];
  }
  void add_product(const std::array<std::array<double, max_nodes>, 3>& values, double charge,
                   double* out) const {
    const std::size_t n2 = grid_.nodes(2);
    for (std::size_t a = 0; a < grid_.nodes(0); ++a)
      for (std::size_t b = 0; b < grid_.nodes(1); ++b, out += n2) {
        const double f = charge * values[0][a] * values[1][b];
        for (std::size_t c = 0; c < n2; ++c) out[c] += f * values[2][c];
      }
  }

  const Octree& tree_;
  Grid grid_;
  const ChargedParticles& particles_;
  const Proxies& proxies_;
};

/// Numbers the proxies of clusters with more particles than points, from `next` on.
Proxies numbered(const Octree& tree, unsigned degree, std::size_t& next) {
  Proxies proxies;
  proxies.degree = degree;
  proxies.points = static_cast<unsigned>(legendre_size(tree, degree));
  proxies.first.assign(tree.clusters().size(), Proxies::none);
  for (std::size_t q = 0; q < proxies.first.size(); ++q) {
    if (tree.clusters()[q].count <= proxies.points) continue;
    proxies.first[q] = static_cast<std::uint32_t>(next);
    next += proxies.points;
    if (next > std::size_t{std::numeric_limits<std::int32_t>::max()})
      throw Error(ErrorCategory::Unsupported,
                  "a tree has at most 2^31 - 1 particles and proxies; use larger leaves or a "
                  "smaller degree");
  }
  return proxies;
}

/// The largest absolute value of each carried variable of n particles.
std::vector<double> largest_carried(const ChargedParticles& particles, std::size_t n) {
  std::vector<double> largest;
  for (const ChargedParticles::Carried& v : particles.carried) {
    largest.push_back(0);
    for (std::size_t k = 0; k < n; ++k)
      largest.back() = std::max(largest.back(), std::abs((*v.array)[k]));
  }
  return largest;
}

}  // namespace

namespace {

/// A root of the Legendre polynomial of degree n, by Newton's method from a value close to it.
double legendre_root(unsigned n, double x) {
  for (unsigned step = 0; step < 8; ++step) {
    double before = 1, now = x;
    for (unsigned l = 1; l < n; ++l) {
      const double next = ((2 * l + 1) * x * now - l * before) / (l + 1);
      before = now;
      now = next;
    }
    x -= now * (1 - x * x) / (n * (before - x * now));
  }
  return x;
}

}  // namespace

LegendrePoints::LegendrePoints(unsigned degree) {
  const unsigned n = degree + 1;
  x_.resize(n);
  // Symmetric, with an exact zero.
  for (unsigned k = 0; k < n / 2; ++k) {
    x_[k] = legendre_root(n, std::cos(std::numbers::pi * (k + 0.75) / (n + 0.5)));
    x_[n - 1 - k] = -x_[k];
  }
  for (unsigned k = 0; k < n; ++k) {
    double product = 1;
    for (unsigned j = 0; j < n; ++j)
      if (j != k) product *= x_[k] - x_[j];
    weight_.push_back(1 / product);
  }
}

void LegendrePoints::values(double t, double* out) const noexcept {
  const std::size_t n = size();
  double sum = 0;
  for (std::size_t k = 0; k < n; ++k) {
    const double d = t - x_[k];
    if (std::abs(d) < 0x1p-1000 || n == 1) {
      std::fill_n(out, n, 0.0);
      out[k] = 1;
      return;
    }
    out[k] = weight_[k] / d;
    sum += out[k];
  }
  for (std::size_t k = 0; k < n; ++k) out[k] /= sum;
}

std::vector<Moments> boxes_of(const Octree& tree) {
  std::vector<Moments> all(tree.clusters().size());
  tree.upwards([&](std::size_t q) {
    const Cluster& c = tree.clusters()[q];
    Moments& m = all[q];
    double half2 = 0;
    for (std::size_t k = 0; k < 3; ++k) {
      const Interval side(c.box, k);
      m.centre[k] = side.centre;
      half2 += side.half * side.half;
    }
    for (std::size_t k = c.child; k < c.child + c.children; ++k)
      m.radius =
          std::max(m.radius, all[k].radius + std::sqrt(square_distance(all[k].centre, m.centre)));
    if (c.children == 0)
      for (std::size_t k = c.first; k < c.first + c.count; ++k)
        m.radius = std::max(m.radius, std::sqrt(square_distance(tree.point(k), m.centre)));
    m.radius = std::min(m.radius, std::sqrt(half2));
  });
  return all;
}

std::size_t legendre_size(const Octree& tree, unsigned degree) {
  return tree.clusters().empty() ? 1 : grid_of(tree, degree).size();
}

std::vector<Proxies> plan_legendre(const Octree& tree, unsigned least, unsigned degree) {
  std::vector<Proxies> all;
  std::size_t next = tree.size();
  if (!tree.clusters().empty())
    for (unsigned d = least; d <= degree; ++d) all.push_back(numbered(tree, d, next));
  return all;
}

std::vector<Proxies> add_legendre(const Octree& tree, unsigned least, unsigned degree,
                                  const ChargedParticles& particles) {
  std::vector<Proxies> all;
  if (tree.clusters().empty()) return all;
  const std::size_t n = tree.size();
  std::size_t next = n;
  for (unsigned d = least; d <= degree; ++d) all.push_back(numbered(tree, d, next));
  for (NumberArray* const x : particles.position) x->resize(next);
  for (NumberArray* const a : particles.charges) a->resize(next);
  for (const ChargedParticles::Carried& v : particles.carried) v.array->resize(next);

  const Interpolation largest(tree, grid_of(tree, degree), particles, all.back());
  tree.upwards([&](std::size_t q) { largest.make(q); });
  std::vector<Interpolation> kinds;
  for (unsigned d = least; d < degree; ++d)
    kinds.emplace_back(tree, grid_of(tree, d), particles, all[d - least]);
  tree.upwards([&](std::size_t q) {
    for (const Interpolation& kind : kinds) kind.make_from(largest, q);
  });
  kinds.push_back(largest);
  const std::vector<double> largest_values = largest_carried(particles, n);
  if (!particles.carried.empty())
    tree.upwards([&](std::size_t q) {
      for (const Interpolation& kind : kinds) kind.divide(q, largest_values);
    });
  return all;
}

}  // namespace gdr::tree
