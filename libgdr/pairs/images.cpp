#include "libgdr/pairs/images.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <atomic>
#include <cmath>
#include <limits>
#include <utility>

#include "emulator/host/divide_up.hpp"
#include "emulator/host/for_blocks.hpp"
#include "gdr/error.hpp"

namespace gdr {
namespace {

/// Memory of a source: its place, its position, its variables and those of the device.
constexpr double bytes_a_source = 200;
/// Coordinates in units of periodic vectors are computed with rounding.
constexpr double fraction_rounding = 1e-9, reach_rounding = 1e-12;

Point point_at(std::span<const double> x, std::size_t k) noexcept {
  return {x[3 * k], x[3 * k + 1], x[3 * k + 2]};
}

/// Moves a position into the box, and finds the shift of that; false if it is too far away.
bool wrap(const Lattice& lattice, Point& x, Shift& shift) noexcept {
  const Point edges = lattice.wrap(x);
  for (std::size_t k = 0; k < 3; ++k) {
    if (!(std::abs(edges[k]) < Lattice::max_edges)) return false;
    shift[k] = -static_cast<std::int32_t>(edges[k]);
  }
  return true;
}

/// The least and the largest coordinates of the region of images, in units of periodic vectors.
class Region {
 public:
  Region(const Lattice& lattice, const SeenRegion& seen, unsigned threads)
      : lattice_(lattice), source_radii_(seen.source_radii) {
    std::vector<Range> parts(divide_up(seen.targets.size(), particle_block));
    for_particles(seen.targets.size(), threads, [&](std::size_t first, std::size_t end) {
      Range part;
      for (std::size_t t = first; t < end; ++t)
        for (std::size_t k = 0; k < lattice.dimensions(); ++k)
          part.include(k, lattice.fraction(k, seen.targets[t].x));
      parts[first / particle_block] = part;
    });
    for (const Range& part : parts)
      for (std::size_t k = 0; k < 3; ++k) {
        range_.include(k, part.low[k]);
        range_.include(k, part.high[k]);
      }
    for (std::size_t k = 0; k < lattice.dimensions(); ++k) {
      const double margin = margin_of(seen.reach, k) + fraction_rounding;
      range_.low[k] -= margin;
      range_.high[k] += margin;
    }
  }

  /// The first and the last image of a source, and how many there are.
  struct Images {
    Point first{}, last{};
    double count = 1;
  };
  Images images_of(const NumberedPoint& source) const noexcept {
    Images images;
    for (std::size_t k = 0; k < lattice_.dimensions(); ++k) {
      const double at = lattice_.fraction(k, source.x);
      const double more = source_radii_.empty() ? 0 : margin_of(source_radii_[source.number], k);
      images.first[k] = std::ceil(range_.low[k] - more - at);
      images.last[k] = std::floor(range_.high[k] + more - at);
      images.count *= std::max(0.0, images.last[k] - images.first[k] + 1);
    }
    return images;
  }

 private:
  struct Range {
    static constexpr double infinite = std::numeric_limits<double>::infinity();
    Point low{infinite, infinite, infinite}, high{-infinite, -infinite, -infinite};
    void include(std::size_t k, double at) noexcept {
      low[k] = std::min(low[k], at);
      high[k] = std::max(high[k], at);
    }
  };

  /// A length in units of the distance of the box's faces.
  double margin_of(double length, std::size_t k) const noexcept {
    return length / lattice_.height(k) * (1 + reach_rounding);
  }

  const Lattice& lattice_;
  std::span<const double> source_radii_;
  Range range_;
};

/// Calls add(shift) for each image.
template <typename Add>
void for_each_image(const Region::Images& images, const Add& add) {
  if (images.count == 0) return;
  Shift first{}, last{};
  for (std::size_t k = 0; k < 3; ++k) {
    first[k] = static_cast<std::int32_t>(images.first[k]);
    last[k] = static_cast<std::int32_t>(images.last[k]);
  }
  for (std::int32_t a = first[0]; a <= last[0]; ++a)
    for (std::int32_t b = first[1]; b <= last[1]; ++b)
      for (std::int32_t c = first[2]; c <= last[2]; ++c) add(Shift{a, b, c});
}

[[noreturn]] void too_many_images(double images, std::size_t sources, double memory) {
  throw Error(
      ErrorCategory::Input,
      fmt::format("the cut-off reaches {:.3g} images of {} sources, which take {:.3g} GB of "
                  "memory, of which {:.3g} GB may be used; use a smaller cut-off",
                  images, sources, 1e-9 * bytes_a_source * images, 1e-9 * memory));
}

/// The number of images before each block of sources, and of all.
std::vector<std::size_t> count_images(const InBox& sources, const Region& region, double memory,
                                      unsigned threads) {
  const std::size_t n = sources.points.size();
  std::vector<double> counts(divide_up(n, particle_block));
  for_particles(n, threads, [&](std::size_t first, std::size_t end) {
    double count = 0;
    for (std::size_t k = first; k < end; ++k) count += region.images_of(sources.points[k]).count;
    counts[first / particle_block] = count;
  });
  constexpr double most = std::numeric_limits<std::int32_t>::max();
  double total = 0;
  for (const double count : counts) total += count;
  if (!(total * bytes_a_source <= memory && total <= most)) too_many_images(total, n, memory);
  std::vector<std::size_t> before{0};
  for (const double count : counts)
    before.push_back(before.back() + static_cast<std::size_t>(count));
  return before;
}

}  // namespace

InBox::InBox(std::span<const double> x, const Lattice& lattice, const char* name,
             unsigned threads) {
  const std::size_t n = x.size() / 3;
  points.resize(n);
  shifts.resize(n);
  std::atomic<bool> all_near = true;
  for_particles(n, threads, [&](std::size_t first, std::size_t end) {
    bool near = true;
    for (std::size_t k = first; k < end; ++k) {
      points[k] = {point_at(x, k), static_cast<std::uint32_t>(k)};
      near &= wrap(lattice, points[k].x, shifts[k]);
    }
    if (!near) all_near = false;
  });
  for (std::size_t k = 0; k < n && !all_near; ++k) {
    Point at = point_at(x, k);
    if (!wrap(lattice, at, shifts[k])) refuse_far_position(name, k);
  }
}

PlacedImages images_seen(const InBox& sources, std::span<const double> x, const Lattice& lattice,
                         const SeenRegion& region, double memory, unsigned threads) {
  const Region seen(lattice, region, threads);
  const std::vector<std::size_t> before = count_images(sources, seen, memory, threads);
  PlacedImages all;
  all.points.resize(before.back());
  all.placed.resize(before.back());
  for_particles(sources.points.size(), threads, [&](std::size_t first, std::size_t end) {
    std::size_t at = before[first / particle_block];
    for (std::size_t k = first; k < end; ++k)
      for_each_image(seen.images_of(sources.points[k]), [&](const Shift& image) {
        Shift shift = sources.shifts[k];
        for (std::size_t c = 0; c < 3; ++c) shift[c] += image[c];
        all.points[at] = {lattice.moved(point_at(x, k), shift), static_cast<std::uint32_t>(at)};
        all.placed[at] = {static_cast<std::uint32_t>(k), shift, image == Shift{}};
        ++at;
      });
  });
  return all;
}

}  // namespace gdr
