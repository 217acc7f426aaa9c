// Radii of clusters for walks: larger for clusters whose charges have larger errors.
#include "libgdr/tree/opening.hpp"

#include <cmath>

#include "libgdr/tree/legendre.hpp"
#include "support/catch.hpp"
#include "tree/bodies.hpp"

using namespace tree_test;
using namespace gdr::tree;

namespace {

/// The root of the squared sum of a cluster's charges plus the sum of their squares.
double plain_weight(const Cluster& c, const std::vector<double>& charge) {
  double sum = 0, squares = 0;
  for (std::size_t k = c.first; k < c.first + c.count; ++k) {
    sum += charge[k];
    squares += charge[k] * charge[k];
  }
  return std::sqrt(sum * sum + squares);
}

/// A random sign for each number.
double sign(std::size_t k) {
  return std::sin(12.9898 * static_cast<double>(k * k + 1)) < 0 ? -1 : 1;
}

}  // namespace

TEST_CASE("clusters of charges of mean 0 are not opened as those of one sign") {
  constexpr unsigned degree = 4;
  const Bodies b = cube(20000);
  const Octree tree(b.size(), b.x.data(), 20, 2);
  const std::vector<Moments> boxes = boxes_of(tree);
  for (const bool signs : {false, true}) {
    std::vector<double> charge(b.size());
    for (std::size_t k = 0; k < b.size(); ++k) charge[k] = (signs ? sign(k) : 1) * 1e199;
    std::vector<double>* const given = &charge;
    const Opening opening(tree, boxes, {&given, 1});
    const std::vector<Moments> scaled = opening.boxes_for(0.05, degree, 1, 0.8);
    const auto factor = [&](std::size_t q) { return scaled[q].radius / boxes[q].radius; };
    for (std::size_t k = 0; k < b.size(); ++k) charge[k] /= 1e199;
    const Cluster& root = tree.clusters()[0];
    const double of_root = plain_weight(root, charge);
    double mean = 0;
    std::size_t count = 0;
    for (std::size_t q = 1; q < boxes.size(); ++q) {
      const Cluster& c = tree.clusters()[q];
      if (c.count < 2) continue;
      const double error =
          plain_weight(c, charge) / of_root * std::pow(boxes[0].radius / boxes[q].radius, 2);
      CHECK(factor(q) / factor(0) == Approx(std::pow(error, 1.0 / (degree + 3))));
      mean += factor(q) / factor(0);
      ++count;
    }
    mean /= static_cast<double>(count);
    // A small cluster of one sign may be nearer than a large one, relative to its radius; with
    // random signs it is the other way round.
    if (signs)
      CHECK(mean > 1.1);
    else
      CHECK(mean < 0.8);
  }
}
