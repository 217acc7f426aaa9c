#include "libgdr/tree/far_field.hpp"

#include <array>
#include <cmath>

namespace gdr::tree {
namespace {

/// Pairs that take as long as one translation, for a group: fewer are summed directly.
constexpr double pairs_of_translation = 500;

Frame frame_around(const Box& box) {
  Frame frame;
  double square = 0;
  for (std::size_t c = 0; c < 3; ++c) {
    const double half = 0.5 * (box.high[c] - box.low[c]);
    frame.centre[c] = box.low[c] + half;
    square += half * half;
  }
  frame.radius = std::sqrt(square);
  return frame;
}

ParticleArrays arrays_from(const Octree& tree, std::size_t first, std::size_t count,
                           const double* mass) {
  return {&tree.at(0)[first], &tree.at(1)[first], &tree.at(2)[first], mass, count};
}

/// Adds what softening changes in the potential of a cluster at its distance: m / sqrt(r^2 + e^2)
/// without m / r, and its gradient at a point.
void add_softening(const Moments& m, double square, const Point& at, FieldPoint& sum) {
  const double r2 = square_distance(at, m.centre), inverse = 1 / std::sqrt(r2);
  const double part = 1 / std::sqrt(1 + square / r2);  // of the potential
  const double potential = m.mass * inverse;
  const double slope = potential * inverse * (1 - part * part * part);
  sum.potential += potential * (part - 1);
  sum.x += slope * (inverse * (at[0] - m.centre[0]));
  sum.y += slope * (inverse * (at[1] - m.centre[1]));
  sum.z += slope * (inverse * (at[2] - m.centre[2]));
}

}  // namespace

FarField::FarField(const Octree& sources, std::span<const Moments> moments,
                   std::span<const double> mass, const SquareSoftening& softening,
                   const Octree& targets, std::size_t group_size)
    : sources_(sources), moments_(moments), mass_(mass), softening_(softening), targets_(targets) {
  make_nodes(group_size);
  close_.resize(nodes_.size());
  counts_.resize(nodes_.size());
  for (std::uint32_t k = 0; k < nodes_.size(); ++k)
    if (nodes_[k].group) node_of_group_.push_back(k);
  std::ranges::sort(node_of_group_, {}, [&](std::uint32_t k) { return nodes_[k].first; });
  for (const std::uint32_t k : node_of_group_) {
    const Node& node = nodes_[k];
    groups_.push_back({node.first, node.count, node.box, &close_[k], node.softening});
  }
}

void FarField::make_nodes(std::size_t group_size) {
  const std::span<const Cluster> clusters = targets_.clusters();
  std::vector<std::uint32_t> cluster;  // of a node with many targets
  const auto add = [&](std::uint32_t parent, std::uint32_t q, std::size_t count, const Box& box) {
    const bool group = count <= group_size || clusters[q].children == 0;
    Frame frame = frame_around(box);
    const double radius = frame.radius;
    if (radius == 0) frame.radius = nodes_.empty() ? 1 : nodes_[parent].frame.radius;
    nodes_.push_back({.first = clusters[q].first,
                      .count = count,
                      .radius = radius,
                      .frame = frame,
                      .parent = parent,
                      .box = box,
                      .softening = softening_.max_of_targets(clusters[q].first, count),
                      .group = group});
    cluster.push_back(q);
  };
  if (!clusters.empty()) add(0, 0, clusters[0].count, clusters[0].box);
  for (std::uint32_t k = 0; k < nodes_.size();) {
    const std::size_t end = nodes_.size();
    levels_.push_back(k);
    for (; k < end; ++k) {
      if (nodes_[k].group) continue;
      const Cluster& c = clusters[cluster[k]];
      for (std::uint32_t q = c.child, next = q; q < c.child + c.children; q = next) {
        // Consecutive children with few targets become one group.
        std::size_t count = clusters[q].count;
        Box box = clusters[q].box;
        for (next = q + 1; next < c.child + c.children; ++next) {
          if (count + clusters[next].count > group_size) break;
          count += clusters[next].count;
          include(box, clusters[next].box.low, clusters[next].box.high);
        }
        add(k, q, count, box);
      }
    }
  }
  levels_.push_back(nodes_.size());
}

void FarField::set_degree(unsigned degree) {
  degree_ = degree;
  for (Node& node : nodes_) node.made = false;
  const std::size_t size = expansion_size(degree);
  multipoles_.assign(sources_.clusters().size() * size, 0);
  local_.resize(nodes_.size() * expansion_size(max_local_degree()));
  sources_.upwards([&](std::size_t q) { make_multipole(q); });
}

void FarField::make_multipole(std::size_t q) {
  const Cluster& c = sources_.clusters()[q];
  const Moments& m = moments_[q];
  const Frame frame{m.centre, m.radius > 0 ? m.radius : 1};
  double* const to = &multipoles_[q * expansion_size(degree_)];
  if (c.children == 0) {
    add_particles(degree_, arrays_from(sources_, c.first, c.count, &mass_[c.first]), frame, to);
    return;
  }
  std::vector<Expansion> parts;
  for (std::uint32_t k = c.child; k < c.child + c.children; ++k) parts.push_back(multipole(k));
  add_multipoles_of(degree_, parts, frame, to);
}

unsigned FarField::degree_for(const Node& node, std::uint32_t cluster) const {
  const double size = node.radius + moments_[cluster].radius;
  const double d2 = square_distance(node.frame.centre, moments_[cluster].centre);
  if (node.radius == 0 || !(square_reach_ * softening_.most(cluster, node.softening) < d2))
    return 0;
  for (unsigned k = min_harmonics; k <= degree_; ++k)
    if (size * size < square_ratios_[k] * d2) return k;
  return 0;
}

unsigned FarField::max_local_degree() const {
  constexpr unsigned more = 5;
  return std::min(degree_ + more, max_harmonics);
}

bool FarField::is_coarse(const Node& node, std::span<const std::uint32_t> clusters) const {
  constexpr double coarse = 0.2;
  Point pull = {};
  double potential = 0;
  for (const std::uint32_t q : clusters) {
    const Moments& m = moments_[q];
    const double size = node.radius + m.radius;
    const double square = std::max(square_distance(node.frame.centre, m.centre), size * size);
    if (square == 0) continue;
    const double part = m.mass / std::sqrt(square);
    potential += std::abs(part);
    for (std::size_t c = 0; c < 3; ++c)
      pull[c] += part * (m.centre[c] - node.frame.centre[c]) / square;
  }
  const double size = std::sqrt(square_distance(pull, {}));
  return size * node.radius > coarse * potential;
}

void FarField::compute_node(std::size_t number) {
  Node& node = nodes_[number];
  const std::span<const Cluster> clusters = sources_.clusters();
  double* const local = local_of(number);
  std::fill(local, local + expansion_size(max_local_degree()), 0);
  std::vector<std::uint32_t>& close = close_[number];
  close.clear();
  std::vector<std::uint32_t> stack;
  if (number > 0)
    stack = close_[node.parent];
  else if (!clusters.empty())
    stack.push_back(0);
  node.degree = is_coarse(node, stack) ? max_local_degree() : degree_;
  if (number > 0) {
    const Node& parent = nodes_[node.parent];
    add_local(parent.degree, {parent.frame, local_of(node.parent)}, node.degree, node.frame, local);
  }
  std::array<std::vector<Expansion>, max_harmonics + 1> far;  // by degree
  counts_[number] = 0;
  FieldPoint softening;
  while (!stack.empty()) {
    const std::uint32_t q = stack.back();
    stack.pop_back();
    const Cluster& c = clusters[q];
    const double pairs = static_cast<double>(c.count) * static_cast<double>(node.count);
    const bool few = node.group && pairs < pairs_of_translation;
    if (const unsigned degree = few ? 0 : degree_for(node, q); degree > 0) {
      far[degree].push_back(multipole(q));
      if (softening_.all > 0)
        add_softening(moments_[q], softening_.all, node.frame.centre, softening);
      ++counts_[number];
    } else if (!few && c.children > 0 && (node.group || moments_[q].radius > node.radius)) {
      for (std::uint32_t k = c.children; k-- > 0;) stack.push_back(c.child + k);
    } else {
      close.push_back(q);
    }
  }
  for (unsigned degree = min_harmonics; degree <= degree_; ++degree)
    add_far_clusters(degree + node.degree - degree_, degree, far[degree], node.frame, local);
  add_linear_field(softening, node.frame, local);
}

void FarField::compute(const Separation& separation, std::span<const std::uint32_t> groups) {
  for (Node& node : nodes_) {
    node.needed = false;
    node.made = node.made && separation == separation_;
  }
  separation_ = separation;
  for (const std::uint32_t g : groups)
    for (std::uint32_t k = node_of_group_[g]; !nodes_[k].needed; k = nodes_[k].parent)
      nodes_[k].needed = true;
  translations = 0;
  square_reach_ = separation.square_reach;
  // Errors of all far clusters add up, so that smaller degrees get a share of the largest one.
  constexpr double share = 0.2;
  const double largest = std::pow(separation.theta, degree_ + 1.0);
  for (unsigned k = min_harmonics; k <= degree_; ++k)
    square_ratios_[k] = std::pow(k < degree_ ? share * largest : largest, 2.0 / (k + 1));
  for (std::size_t level = 0; level + 1 < levels_.size(); ++level) {
    std::vector<std::uint32_t> needed;
    for (std::size_t k = levels_[level]; k < levels_[level + 1]; ++k)
      if (nodes_[k].needed && !nodes_[k].made) needed.push_back(static_cast<std::uint32_t>(k));
    for_blocks(needed.size(), 4, targets_.threads(), [&](std::size_t first, std::size_t last) {
      for (std::size_t k = first; k < last; ++k) compute_node(needed[k]);
    });
    for (const std::uint32_t k : needed) {
      nodes_[k].made = true;
      translations += counts_[k];
    }
  }
}

void FarField::add(std::size_t group, std::span<const Source> targets,
                   std::span<ResultRow> rows) const {
  const std::size_t node = node_of_group_[group], count = targets.size();
  std::vector<FieldPoint> fields(count);
  std::array<std::vector<double>, 3> at;
  for (const Source& s : targets) {
    at[0].push_back(s.x);
    at[1].push_back(s.y);
    at[2].push_back(s.z);
  }
  evaluate_local(nodes_[node].degree,
                 {nodes_[node].frame, &local_[node * expansion_size(max_local_degree())]},
                 {at[0].data(), at[1].data(), at[2].data(), nullptr, count}, fields.data());
  for (std::size_t k = 0; k < count; ++k) {
    ResultRow& row = rows[k];
    row.ax += fields[k].x;
    row.ay += fields[k].y;
    row.az += fields[k].z;
    row.pot -= fields[k].potential;
  }
}

}  // namespace gdr::tree
