#include "libgdr/particle/neighbour_search.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "emulator/host/for_each_isa.hpp"

namespace gdr {
namespace {

/// Sources whose distances are computed in one vectorised loop before they are compared.
constexpr std::size_t block = 256;

/// Squares of distances of n sources; returns the smallest.
GDR_FOR_EACH_ISA double distances(const double* x, const double* y, const double* z, std::size_t n,
                                  double xi, double yi, double zi, double e2, double* d2) {
  double least = std::numeric_limits<double>::infinity();
#pragma omp simd reduction(min : least)
  for (std::size_t j = 0; j < n; ++j) {
    const double dx = x[j] - xi, dy = y[j] - yi, dz = z[j] - zi;
    d2[j] = dx * dx + dy * dy + dz * dz + e2;
    least = std::min(least, d2[j]);
  }
  return least;
}

/// Squares of distances of n sources with shifts of their own.
GDR_FOR_EACH_ISA void shifted_distances(const double* x, const double* y, const double* z,
                                        const double* sx, const double* sy, const double* sz,
                                        std::size_t n, const double* i, double* d2) {
#pragma omp simd
  for (std::size_t j = 0; j < n; ++j) {
    const double dx = (x[j] - i[0]) + sx[j], dy = (y[j] - i[1]) + sy[j], dz = (z[j] - i[2]) + sz[j];
    d2[j] = dx * dx + dy * dy + dz * dz;
  }
}

/// At most the squares of the distances of n sources to the points of a box.
GDR_FOR_EACH_ISA void box_distances(const double* x, const double* y, const double* z,
                                    std::size_t n, const double* low, const double* high,
                                    double* d2) {
#pragma omp simd
  for (std::size_t j = 0; j < n; ++j) {
    const double dx = std::max(std::max(x[j] - high[0], low[0] - x[j]), 0.0),
                 dy = std::max(std::max(y[j] - high[1], low[1] - y[j]), 0.0),
                 dz = std::max(std::max(z[j] - high[2], low[2] - z[j]), 0.0);
    d2[j] = dx * dx + dy * dy + dz * dz;
  }
}

/// Writes first + j for those below the limit; returns how many.
std::size_t write_below(const double* d2, std::size_t n, double h2, std::size_t first,
                        std::uint32_t* found) {
  std::size_t count = 0;
  for (std::size_t j = 0; j < n; ++j) {  // without branches
    found[count] = static_cast<std::uint32_t>(first + j);
    count += d2[j] < h2 ? 1 : 0;
  }
  return count;
}

/// The smaller of two squares of distances: now, and after dt on straight lines.
GDR_FOR_EACH_ISA double distances_soon(const double* x, const double* y, const double* z,
                                       const double* vx, const double* vy, const double* vz,
                                       std::size_t n, const double* i, double dt, double* d2) {
  double least = std::numeric_limits<double>::infinity();
#pragma omp simd reduction(min : least)
  for (std::size_t j = 0; j < n; ++j) {
    const double dx = x[j] - i[0], dy = y[j] - i[1], dz = z[j] - i[2];
    const double px = dx + dt * (vx[j] - i[3]), py = dy + dt * (vy[j] - i[4]),
                 pz = dz + dt * (vz[j] - i[5]);
    d2[j] = std::min(dx * dx + dy * dy + dz * dz, px * px + py * py + pz * pz);
    least = std::min(least, d2[j]);
  }
  return least;
}

}  // namespace

void find_within(const Coordinates& sources, std::size_t n, const std::array<double, 3>& x,
                 double e2, double h2, std::vector<std::uint32_t>& found) {
  std::array<double, block> d2;
  for (std::size_t first = 0; first < n; first += block) {
    const std::size_t some = std::min(block, n - first);
    const double least = distances(sources[0] + first, sources[1] + first, sources[2] + first, some,
                                   x[0], x[1], x[2], e2, d2.data());
    if (!(least < h2)) continue;
    for (std::size_t j = 0; j < some; ++j)
      if (d2[j] < h2) found.push_back(static_cast<std::uint32_t>(first + j));
  }
}

std::size_t choose_near(const Coordinates& sources, std::size_t first, std::size_t n,
                        const std::array<double, 3>& low, const std::array<double, 3>& high,
                        double h2, std::uint32_t* near) {
  std::array<double, block> d2;
  std::size_t count = 0;
  for (std::size_t at = first, end = first + n; at < end; at += block) {
    const std::size_t some = std::min(block, end - at);
    box_distances(sources[0] + at, sources[1] + at, sources[2] + at, some, low.data(), high.data(),
                  d2.data());
    count += write_below(d2.data(), some, h2, at, near + count);
  }
  return count;
}

void find_shifted(const Coordinates& sources, const Coordinates& shifts, std::size_t n,
                  const std::array<double, 3>& x, double h2, std::vector<std::uint32_t>& found) {
  std::array<double, block> d2;
  std::array<std::uint32_t, block> near;
  for (std::size_t first = 0; first < n; first += block) {
    const std::size_t some = std::min(block, n - first);
    shifted_distances(sources[0] + first, sources[1] + first, sources[2] + first, shifts[0] + first,
                      shifts[1] + first, shifts[2] + first, some, x.data(), d2.data());
    const std::size_t count = write_below(d2.data(), some, h2, first, near.data());
    found.insert(found.end(), near.data(), near.data() + count);
  }
}

void choose_within(const Coordinates& sources, std::span<const std::int64_t> candidates,
                   const std::array<double, 3>& x, double e2, double h2,
                   std::vector<std::uint32_t>& found) {
  std::array<std::array<double, block>, 3> at;
  std::array<double, block> d2;
  while (!candidates.empty()) {
    const std::size_t some = std::min(block, candidates.size());
    for (std::size_t k = 0; k < some; ++k)
      for (std::size_t c = 0; c < 3; ++c) at[c][k] = sources[c][candidates[k]];
    distances(at[0].data(), at[1].data(), at[2].data(), some, x[0], x[1], x[2], e2, d2.data());
    for (std::size_t k = 0; k < some; ++k)
      if (d2[k] < h2) found.push_back(static_cast<std::uint32_t>(candidates[k]));
    candidates = candidates.subspan(some);
  }
}

// Floats have the largest errors. Let u = 2^-24 be their unit roundoff, r the radius, X the largest
// coordinate of the target. A source within the sphere has coordinates of at most X + r. A device
// rounds both to floats, and their difference to a float: its error is at most
// u (X + r) + u X + u r (1 + 2u) < 2.01 u (X + r), so that of the distance is less than
// sqrt(3) 2.01 u (X + r) < g = 2^-22 (X + r). Its square takes three roundings and is at most
// (r + g)^2 (1 + 4u). The radius here is r + 4g >= (r + g) (1 + 11u), as g >= 4u r; its square,
// rounded to a float, exceeds (r + g)^2 (1 + 4u), also by the roundings of doubles here and in the
// list's definition. Below the smallest normal numbers errors are absolute: what doubles lose is
// less than `underflow`; among floats, a run with an underflow is repeated in doubles.
double device_radius2(const std::array<double, 3>& x, double h2) {
  constexpr double largest = 1e300, underflow = 1e-290;
  if (!(h2 > 0)) return 0;
  const double r = std::sqrt(h2);
  const double reach = r + std::max({std::abs(x[0]), std::abs(x[1]), std::abs(x[2])});
  const double outer = r + 0x1p-20 * reach;
  const double outer2 = outer * outer + underflow;
  return outer2 < largest ? outer2 : -1;
}

double distance2_soon(const Coordinates& sources, const Coordinates& velocities, std::size_t j,
                      const std::array<double, 3>& x, const std::array<double, 3>& v, double dt) {
  double d2 = 0;
  const double i[] = {x[0], x[1], x[2], v[0], v[1], v[2]};
  distances_soon(sources[0] + j, sources[1] + j, sources[2] + j, velocities[0] + j,
                 velocities[1] + j, velocities[2] + j, 1, i, dt, &d2);
  return d2;
}

namespace {

/// The part of find_within_soon for sources with scales, numbered from `first` on.
void choose_scaled(std::size_t first, std::size_t n, const double* d2, const double* scale,
                   double h2, std::vector<std::uint32_t>& found, Gap& gap) {
  for (std::size_t j = 0; j < n; ++j) {
    const bool is_found = d2[j] < scale[j] * h2;
    if (is_found) found.push_back(static_cast<std::uint32_t>(first + j));
    if (!(scale[j] > 0)) continue;  // beyond every radius
    double& bound = is_found ? gap.inside : gap.outside;
    bound = is_found ? std::max(bound, d2[j] / scale[j]) : std::min(bound, d2[j] / scale[j]);
  }
}

}  // namespace

Gap find_within_soon(const Coordinates& sources, const Coordinates& velocities, std::size_t n,
                     const std::array<double, 3>& x, const std::array<double, 3>& v, double dt,
                     double h2, std::vector<std::uint32_t>& found, const double* scale) {
  Gap gap{0, std::numeric_limits<double>::infinity()};
  std::array<double, block> d2;
  const double i[] = {x[0], x[1], x[2], v[0], v[1], v[2]};
  for (std::size_t first = 0; first < n; first += block) {
    const std::size_t some = std::min(block, n - first);
    const double least = distances_soon(sources[0] + first, sources[1] + first, sources[2] + first,
                                        velocities[0] + first, velocities[1] + first,
                                        velocities[2] + first, some, i, dt, d2.data());
    if (scale != nullptr) {
      choose_scaled(first, some, d2.data(), scale + first, h2, found, gap);
      continue;
    }
    if (!(least < h2)) {
      gap.outside = std::min(gap.outside, least);
      continue;
    }
    for (std::size_t j = 0; j < some; ++j) {
      if (d2[j] < h2) {
        found.push_back(static_cast<std::uint32_t>(first + j));
        gap.inside = std::max(gap.inside, d2[j]);
      } else {
        gap.outside = std::min(gap.outside, d2[j]);
      }
    }
  }
  return gap;
}

}  // namespace gdr
