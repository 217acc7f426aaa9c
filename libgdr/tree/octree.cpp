#include "libgdr/tree/octree.hpp"

#include <bit>
#include <limits>

namespace gdr::tree {
namespace {

constexpr int key_bits = 21;  ///< bits of a coordinate in a key
constexpr std::size_t particles_of_task = 1 << 14;
constexpr double infinite = std::numeric_limits<double>::infinity();

/// Two zeros after each of the lower 21 bits.
std::uint64_t spread(std::uint64_t v) {
  v = (v | v << 32) & 0x001f00000000ffff;
  v = (v | v << 16) & 0x001f0000ff0000ff;
  v = (v | v << 8) & 0x100f00f00f00f00f;
  v = (v | v << 4) & 0x10c30c30c30c30c3;
  return (v | v << 2) & 0x1249249249249249;
}

const Box empty_box{{infinite, infinite, infinite}, {-infinite, -infinite, -infinite}};

}  // namespace

Octree::Octree(std::size_t n, const double* position, std::size_t leaf_size, unsigned threads)
    : threads_(std::max(1U, threads)), keyed_(n), order_(n) {
  levels_ = {0};
  if (n == 0) return;
  sort_particles(n, position);
  make_clusters(position, leaf_size);
  for (LineVector<double>& x : at_) x.resize(n);
  for_blocks(n, particles_of_task, threads_, [&](std::size_t first, std::size_t last) {
    for (std::size_t k = first; k < last; ++k) {
      order_[k] = keyed_[k].number;
      for (std::size_t c = 0; c < 3; ++c) at_[c][k] = position[3 * std::size_t{order_[k]} + c];
    }
  });
  keyed_ = {};
  find_boxes();
}

bool Octree::make_keys(std::span<Keyed> some, const double* position, unsigned threads) {
  std::vector<Box> parts((some.size() + particles_of_task - 1) / particles_of_task, empty_box);
  const auto point = [&](const Keyed& k) {
    const double* x = position + 3 * std::size_t{k.number};
    return Point{x[0], x[1], x[2]};
  };
  for_blocks(some.size(), particles_of_task, threads, [&](std::size_t first, std::size_t last) {
    Box box = empty_box;
    for (std::size_t k = first; k < last; ++k) include(box, point(some[k]), point(some[k]));
    parts[first / particles_of_task] = box;
  });
  Box box = empty_box;
  for (const Box& part : parts) include(box, part.low, part.high);
  double side = 0;
  for (std::size_t c = 0; c < 3; ++c) side = std::max(side, box.high[c] - box.low[c]);
  if (side == 0) return false;
  for_blocks(some.size(), particles_of_task, threads, [&](std::size_t first, std::size_t last) {
    for (Keyed& keyed : some.subspan(first, last - first)) {
      const Point x = point(keyed);
      constexpr std::uint64_t cells = std::uint64_t{1} << key_bits;
      const auto cell = [&](std::size_t c) {
        const double part = (x[c] - box.low[c]) / side;
        return spread(
            std::min(static_cast<std::uint64_t>(part * static_cast<double>(cells)), cells - 1));
      };
      keyed.key = cell(0) << 2 | cell(1) << 1 | cell(2);
    }
  });
  return true;
}

void Octree::sort_particles(std::size_t n, const double* position) {
  for_blocks(n, particles_of_task, threads_, [&](std::size_t first, std::size_t last) {
    for (std::size_t k = first; k < last; ++k) keyed_[k] = {0, static_cast<std::uint32_t>(k)};
  });
  if (make_keys(keyed_, position, threads_)) sort_keys(keyed_, threads_);
}

void Octree::make_clusters(const double* position, std::size_t leaf_size) {
  clusters_.push_back({0, static_cast<std::uint32_t>(keyed_.size())});
  std::vector<Octants> octants;  // of the clusters of a level
  for (std::size_t q = 0; q < clusters_.size();) {
    const std::size_t begin = q, end = clusters_.size();
    levels_.push_back(end);
    octants.assign(end - begin, {});
    for_blocks(end - begin, 64, threads_, [&](std::size_t first, std::size_t last) {
      for (std::size_t k = first; k < last; ++k)
        if (const Cluster& c = clusters_[begin + k]; c.count > leaf_size)
          octants[k] = split(c, position);
    });
    for (; q < end; ++q) {
      std::uint32_t first = clusters_[q].first;
      const auto child = static_cast<std::uint32_t>(clusters_.size());
      for (const std::uint32_t count : octants[q - begin])
        if (count > 0) {
          clusters_.push_back({first, count});
          first += count;
        }
      if (const std::size_t children = clusters_.size() - child; children > 0) {
        clusters_[q].child = child;
        clusters_[q].children = static_cast<std::uint32_t>(children);
      }
    }
  }
}

/// Divides a cluster into octants, those of the first level at which there are several; none if its
/// particles are at one place. Particles with equal keys get others, of a finer grid.
Octree::Octants Octree::split(const Cluster& cluster, const double* position) {
  Octants counts = {};
  const std::span<Keyed> mine = std::span(keyed_).subspan(cluster.first, cluster.count);
  if (mine.front().key == mine.back().key) {
    if (!make_keys(mine, position, threads_)) return counts;
    sort_keys(mine, threads_);
  }
  const int highest = 63 - std::countl_zero(mine.front().key ^ mine.back().key);
  const int shift = highest / 3 * 3;
  for (std::size_t first = 0, octant = 0; first < mine.size(); ++octant) {
    const auto rest = mine.subspan(first);
    const auto past =
        std::ranges::upper_bound(rest, rest.front().key >> shift, {},
                                 [&](const Keyed& keyed) { return keyed.key >> shift; });
    counts[octant] = static_cast<std::uint32_t>(past - rest.begin());
    first += counts[octant];
  }
  return counts;
}

void Octree::find_boxes() {
  upwards([&](std::size_t q) {
    Cluster& c = clusters_[q];
    c.box = empty_box;
    for (std::size_t k = c.child; k < c.child + c.children; ++k)
      include(c.box, clusters_[k].box.low, clusters_[k].box.high);
    if (c.children > 0) return;
    for (std::size_t k = c.first; k < c.first + c.count; ++k) include(c.box, point(k), point(k));
  });
}

std::vector<Group> Octree::groups(std::size_t size) const {
  std::vector<Group> found;
  std::vector<std::uint32_t> stack;  // clusters of more than `size` particles, and their children
  std::uint32_t parent_end = 0;      // past the last child of the parent of the last group
  if (!clusters_.empty()) stack.push_back(0);
  while (!stack.empty()) {
    const std::uint32_t q = stack.back();
    stack.pop_back();
    const Cluster& c = clusters_[q];
    if (c.count > size && c.children > 0) {
      for (std::uint32_t k = c.children; k-- > 0;) stack.push_back(c.child + k);
      parent_end = 0;
      continue;
    }
    if (q < parent_end && found.back().count + c.count <= size) {
      found.back().count += c.count;
      include(found.back().box, c.box.low, c.box.high);
    } else {
      found.push_back({c.first, c.count, c.box});
    }
    parent_end = 0;
    // The next cluster of the stack is a sibling if it has the next number.
    if (!stack.empty() && stack.back() == q + 1) parent_end = q + 2;
  }
  return found;
}

}  // namespace gdr::tree
