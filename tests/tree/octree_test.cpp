// Octrees: clusters have all particles once, boxes contain them, threads change nothing.
#include "libgdr/tree/octree.hpp"

#include <algorithm>
#include <numeric>

#include "support/catch.hpp"
#include "tree/bodies.hpp"

using namespace tree_test;
using gdr::tree::Cluster;
using gdr::tree::Octree;

namespace {

void check_tree(const Octree& tree, const std::vector<double>& x, std::size_t leaf) {
  const std::size_t n = x.size() / 3;
  std::vector<std::uint32_t> sorted(tree.order().begin(), tree.order().end());
  std::ranges::sort(sorted);
  std::vector<std::uint32_t> all(n);
  std::iota(all.begin(), all.end(), 0U);
  REQUIRE(sorted == all);
  const auto clusters = tree.clusters();
  REQUIRE(clusters.empty() == (n == 0));
  if (n == 0) return;
  CHECK(clusters[0].count == n);
  bool right = true, inside = true;
  for (const Cluster& c : clusters) {
    std::size_t first = c.first;
    for (std::size_t k = c.child; k < c.child + c.children; ++k) {
      right &= clusters[k].first == first && clusters[k].count > 0;
      first += clusters[k].count;
    }
    right &= c.children == 0 || (c.children > 1 && first == c.first + c.count);
    for (std::size_t k = c.first; k < c.first + c.count; ++k)
      for (std::size_t axis = 0; axis < 3; ++axis) {
        right &= tree.at(axis)[k] == x[3 * tree.order()[k] + axis];
        inside &= c.box.low[axis] <= tree.at(axis)[k] && tree.at(axis)[k] <= c.box.high[axis];
      }
    if (c.children == 0 && c.count > leaf) right &= c.box.low == c.box.high;
  }
  CHECK(right);
  CHECK(inside);
}

}  // namespace

TEST_CASE("an octree has all particles once, in boxes that contain them") {
  for (const std::size_t n : {0, 1, 2, 9, 1000})
    for (const char* name : {"plummer", "cube", "two clusters"}) {
      const Bodies b = bodies_named(name, n);
      check_tree(Octree(n, b.x.data(), 8, 2), b.x, 8);
    }
}

TEST_CASE("an octree divides particles at distances of many orders of magnitude") {
  std::vector<double> x;
  for (int k = 0; k < 600; ++k)
    for (int c = 0; c < 3; ++c) x.push_back(std::ldexp(1 + c, -k - 200) - (k % 2 == 0 ? 0 : 1e140));
  check_tree(Octree(600, x.data(), 4, 1), x, 4);
}

TEST_CASE("particles at one place are one leaf") {
  const std::vector<double> x(3 * 5000, -2.5);
  const Octree tree(5000, x.data(), 16, 2);
  CHECK(tree.clusters().size() == 1);
  check_tree(tree, x, 16);
}

TEST_CASE("an octree does not depend on the number of threads") {
  Bodies b = plummer(70'000);
  std::copy_n(b.x.begin(), 90'000, b.x.begin() + 90'000);  // coincident particles
  const Octree one(b.size(), b.x.data(), 16, 1), three(b.size(), b.x.data(), 16, 3);
  CHECK(std::ranges::equal(one.order(), three.order()));
  REQUIRE(one.clusters().size() == three.clusters().size());
  CHECK(std::ranges::equal(one.clusters(), three.clusters(), {}, &Cluster::first, &Cluster::first));
}

TEST_CASE("groups have all particles once, in order, within their boxes") {
  const Bodies b = plummer(3000);
  for (const std::size_t leaf : {4, 16, 500}) {
    const Octree tree(b.size(), b.x.data(), leaf, 1);
    std::size_t next = 0;
    bool inside = true;
    for (const gdr::tree::Group& group : tree.groups(100)) {
      CHECK(group.first == next);
      CHECK(group.count <= std::max<std::size_t>(100, leaf));
      for (std::size_t k = group.first; k < group.first + group.count; ++k)
        inside &= group.box.distance2(tree.point(k)) == 0;
      next += group.count;
    }
    CHECK(next == 3000);
    CHECK(inside);
  }
}
