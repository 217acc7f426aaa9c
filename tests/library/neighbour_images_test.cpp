// Neighbours in periodic boxes beside a plain loop over all images.
#include <sys/resource.h>

#include <algorithm>
#include <catch2/catch.hpp>
#include <cmath>
#include <limits>
#include <random>
#include <string>
#include <vector>

#include "gdr/error.hpp"
#include "gdr/neighbours.hpp"

using namespace gdr;
using Catch::Matchers::Contains;

namespace {

using Vectors = std::array<std::array<double, 3>, 3>;
using Periodic = std::array<bool, 3>;

struct Pair {
  std::int64_t i, j;
  std::array<std::int64_t, 3> shift;
  bool operator==(const Pair&) const = default;
  auto operator<=>(const Pair&) const = default;
};

/// A difference by its definition.
std::array<double, 3> difference(const double* to, const double* from, const Vectors& box,
                                 const std::array<std::int64_t, 3>& shift) {
  std::array<double, 3> d;
  for (std::size_t c = 0; c < 3; ++c) {
    double s = 0;
    for (std::size_t k = 0; k < 3; ++k) s += static_cast<double>(shift[k]) * box[k][c];
    d[c] = (to[c] - from[c]) + s;
  }
  return d;
}

double square(const std::array<double, 3>& d) { return d[0] * d[0] + d[1] * d[1] + d[2] * d[2]; }

/// All pairs with shifts up to `most` edges, which must be enough.
std::vector<Pair> all_pairs(const std::vector<double>& sources, const std::vector<double>& targets,
                            const std::vector<double>& radii, const Vectors& box,
                            const Periodic& periodic, std::int64_t most, bool exclude_self) {
  std::vector<Pair> pairs;
  std::array<std::int64_t, 3> reach;
  for (std::size_t k = 0; k < 3; ++k) reach[k] = periodic[k] ? most : 0;
  for (std::size_t i = 0; i < targets.size() / 3; ++i)
    for (std::size_t j = 0; j < sources.size() / 3; ++j)
      for (std::int64_t a = -reach[0]; a <= reach[0]; ++a)
        for (std::int64_t b = -reach[1]; b <= reach[1]; ++b)
          for (std::int64_t c = -reach[2]; c <= reach[2]; ++c) {
            if (exclude_self && i == j && a == 0 && b == 0 && c == 0) continue;
            const double r = radii[radii.size() == 1 ? 0 : i];
            if (square(difference(&sources[3 * j], &targets[3 * i], box, {a, b, c})) >= r * r)
              continue;
            pairs.push_back(
                {static_cast<std::int64_t>(i), static_cast<std::int64_t>(j), {a, b, c}});
            // The loops have gone far enough.
            REQUIRE(std::max({std::abs(a), std::abs(b), std::abs(c)}) < most);
          }
  return pairs;
}

PeriodicBox box_of(const Vectors& vectors, const Periodic& periodic = {true, true, true}) {
  return {vectors, periodic};
}

std::vector<Pair> rows_of(const NeighbourPairs& found) {
  std::vector<Pair> pairs;
  for (std::size_t k = 0; k < found.targets.size(); ++k)
    pairs.push_back({found.targets[k],
                     found.sources[k],
                     {found.shifts[3 * k], found.shifts[3 * k + 1], found.shifts[3 * k + 2]}});
  return pairs;
}

/// Compares all forms of a search, in one and three threads, with the plain loop.
void compare(const std::vector<double>& sources, const std::vector<double>& targets,
             const std::vector<double>& radii, const Vectors& box, const Periodic& periodic,
             std::int64_t most) {
  const bool self = &sources == &targets;
  const std::vector<Pair> wanted = all_pairs(sources, targets, radii, box, periodic, most, self);
  for (const unsigned threads : {1U, 3U}) {
    const NeighbourOptions options{
        .exclude_same_number = self, .threads = threads, .box = box_of(box, periodic)};
    const NeighbourPairs found = find_neighbour_pairs(sources, targets, radii, "ijdDS", options);
    REQUIRE(rows_of(found) == wanted);
    for (std::size_t k = 0; k < wanted.size(); ++k) {
      const auto [i, j, shift] = wanted[k];
      const auto d = difference(&sources[3 * static_cast<std::size_t>(j)],
                                &targets[3 * static_cast<std::size_t>(i)], box, shift);
      for (std::size_t c = 0; c < 3; ++c)
        REQUIRE(found.differences[3 * k + c] == Approx(d[c]).epsilon(1e-15).margin(1e-14));
      REQUIRE(found.distances[k] == std::sqrt(square(d)));
    }
    const NeighbourLists lists = find_neighbours(sources, targets, radii, options);
    REQUIRE(lists.indices == found.sources);
    REQUIRE(lists.size() == targets.size() / 3);
  }
}

std::vector<double> particles(std::size_t n, double low, double high, unsigned seed) {
  std::mt19937_64 random(seed);
  std::uniform_real_distribution<double> place(low, high);
  std::vector<double> x(3 * n);
  for (double& one : x) one = place(random);
  return x;
}

/// The message of an error of this category. The box has three lengths, or three vectors in rows.
std::string refused_in_box(ErrorCategory category, const std::vector<double>& x,
                           const std::vector<double>& radii, const std::vector<double>& box,
                           const Periodic& periodic = {true, true, true}) {
  Vectors vectors{};
  for (std::size_t k = 0; k < 3; ++k)
    for (std::size_t c = 0; c < 3; ++c)
      if (box.size() == 9) vectors[k][c] = box[3 * k + c];
  if (box.size() == 3)
    for (std::size_t k = 0; k < 3; ++k) vectors[k][k] = box[k];
  try {
    (void)find_neighbours(x, x, radii, {.box = box_of(vectors, periodic)});
  } catch (const Error& e) {
    CHECK(e.category() == category);
    return e.what();
  }
  return "not refused";
}

constexpr Vectors cuboid{{{4, 0, 0}, {0, 5, 0}, {0, 0, 6}}};
constexpr Vectors skewed{{{4, 0, 0}, {9, 4, 0}, {-7, 6, 5}}};
constexpr Vectors left_handed{{{0.5, 3, 1}, {4, 0.25, 0}, {1, 1, 5}}};

}  // namespace

TEST_CASE("neighbours in periodic boxes are those of a plain loop over images") {
  const std::vector<double> inside = particles(40, 0, 4, 1), around = particles(12, -6, 9, 2);
  for (const Vectors& box : {cuboid, skewed, left_handed})
    for (unsigned which = 0; which < 8; ++which) {
      const Periodic periodic{(which & 1) != 0, (which & 2) != 0, (which & 4) != 0};
      INFO("edge " << box[1][0] << ", periodic " << which);
      compare(inside, inside, {1.5}, box, periodic, 8);
      compare(around, around, {1.5}, box, periodic, 32);
      compare(inside, around, {2.25}, box, periodic, 22);
    }
}

TEST_CASE("radii beyond a periodic box list every image, also those of the target") {
  const std::vector<double> one{0.3, -0.2, 17}, few = particles(5, -3, 9, 3);
  const Vectors small{{{1, 0, 0}, {0, 1, 0}, {0, 0, 1}}};
  compare(one, one, {3.5}, small, {true, true, true}, 5);
  compare(one, one, {3.5}, small, {true, false, true}, 5);
  compare(few, few, {9}, cuboid, {true, true, true}, 8);
  compare(few, few, {9}, skewed, {true, true, true}, 26);
  compare(few, few, {0, 1e-160, 0.5, 12, 5}, cuboid, {true, true, false}, 9);
}

TEST_CASE("neighbours of particles on the faces and corners of a periodic box are complete") {
  std::vector<double> lattice;  // with distances equal to the radius
  for (const double x : {0.0, 1.0, 2.0, 4.0, 8.0, -4.0})
    for (const double y : {0.0, 2.5, 5.0})
      for (const double z : {0.0, 6.0, 5.0, std::nextafter(6.0, 0.0)})
        lattice.insert(lattice.end(), {x, y, z});
  const std::vector<double> same(3 * 70, 4.0);
  for (const double r : {1.0, 2.0, std::nextafter(2.0, 3.0), 6.0}) {
    compare(lattice, lattice, {r}, cuboid, {true, true, true}, 7);
    compare(same, same, {r}, cuboid, {true, true, true}, 4);
  }
}

TEST_CASE("pairs of a periodic box have their images in both lists") {
  const std::vector<double> x = particles(3000, -9, 30, 4);
  const NeighbourPairs found = find_neighbour_pairs(
      x, x, std::vector<double>{0.9}, "ijS", {.exclude_same_number = true, .box = box_of(skewed)});
  CHECK(found.distances.empty());
  CHECK(found.differences.empty());
  std::vector<Pair> pairs = rows_of(found), mirrored = pairs;
  CHECK(pairs.size() > 30'000);
  for (Pair& pair : mirrored) {
    std::swap(pair.i, pair.j);
    for (std::int64_t& n : pair.shift) n = -n;
  }
  std::sort(mirrored.begin(), mirrored.end());
  CHECK(pairs == mirrored);
}

TEST_CASE("far skewed boxes have the pairs of the same images") {
  const std::vector<double> x = particles(60, -5, 9, 6);
  const std::vector<double> radius{3.5};
  const Vectors near{{{4, 0, 0}, {0.5, 5, 0}, {-1, 0.75, 6}}};
  for (const std::int64_t skew : {7, -300, 40'000}) {
    Vectors far = near;  // vector 1 is near[1] + skew near[0], vector 2 near[2] - skew vector 1
    const auto times = static_cast<double>(skew);
    for (std::size_t c = 0; c < 3; ++c) far[1][c] += times * near[0][c];
    if (skew < 1000)
      for (std::size_t c = 0; c < 3; ++c) far[2][c] -= times * far[1][c];
    const auto found = [&](const Vectors& box) {
      return find_neighbour_pairs(x, x, radius, "ijdDS",
                                  {.exclude_same_number = true, .box = box_of(box)});
    };
    const NeighbourPairs ours = found(far), theirs = found(near);
    std::vector<Pair> rows = rows_of(ours), wanted = rows_of(theirs);
    CHECK(std::is_sorted(rows.begin(), rows.end()));
    for (Pair& pair : rows) {  // to the near vectors
      if (skew < 1000) pair.shift[1] -= skew * pair.shift[2];
      pair.shift[0] += skew * pair.shift[1];
    }
    std::sort(rows.begin(), rows.end());
    CHECK(rows == wanted);
    for (std::size_t k = 0; k < ours.targets.size(); ++k) {
      const auto j = static_cast<std::size_t>(ours.sources[k]),
                 i = static_cast<std::size_t>(ours.targets[k]);
      const auto d =
          difference(&x[3 * j], &x[3 * i], far,
                     {ours.shifts[3 * k], ours.shifts[3 * k + 1], ours.shifts[3 * k + 2]});
      for (std::size_t c = 0; c < 3; ++c)
        REQUIRE(ours.differences[3 * k + c] == Approx(d[c]).margin(1e-12));
    }
  }
}

TEST_CASE("many candidates of large radii are searched in parts") {
  const std::vector<double> x = particles(4, 0, 1, 5);
  const PeriodicBox edges = PeriodicBox::orthorhombic({1, 1, 1});
  const NeighbourPairs found =
      find_neighbour_pairs(x, x, std::vector<double>{16}, "ijS", {.box = edges});
  std::vector<Pair> pairs = rows_of(found);
  CHECK(std::is_sorted(pairs.begin(), pairs.end()));
  CHECK(std::adjacent_find(pairs.begin(), pairs.end()) == pairs.end());
  // The volume of 16 spheres, within their surface.
  CHECK(static_cast<double>(pairs.size()) ==
        Approx(16 * 4 / 3. * 3.14159265 * 16 * 16 * 16).epsilon(5e-3));
  const std::vector<double> one{0, 0, 0};
  compare(one, one, {23}, {{{1, 0, 0}, {0, 1, 0}, {0, 0, 1}}}, {true, true, true}, 24);
}

TEST_CASE("sources with the id of a target are left out with all images") {
  const std::vector<double> x = particles(20, 0, 4, 6);
  std::vector<std::int64_t> ids(20);
  for (std::size_t k = 0; k < 20; ++k) ids[k] = static_cast<std::int64_t>(k % 5);
  const NeighbourPairs found =
      find_neighbour_pairs(x, x, std::vector<double>{5}, "ij",
                           {.source_ids = ids, .target_ids = ids, .box = box_of(cuboid)});
  CHECK(!found.targets.empty());
  std::size_t wanted = 0;
  for (const Pair& p : all_pairs(x, x, {5}, cuboid, {true, true, true}, 4, false))
    wanted += p.i % 5 != p.j % 5 ? 1 : 0;
  CHECK(found.targets.size() == wanted);
  for (std::size_t k = 0; k < found.targets.size(); ++k)
    REQUIRE(found.targets[k] % 5 != found.sources[k] % 5);
}

TEST_CASE(
    "particles that moved by whole edges since their numbers were given keep out themselves") {
  const std::vector<double> x = particles(30, 0, 4, 7);
  std::vector<double> moved = x;
  for (std::size_t k = 0; k < moved.size(); k += 3) moved[k] += 8;
  const auto count = [&](const std::vector<double>& targets) {
    return find_neighbours(x, targets, std::vector<double>{1e-6},
                           {.exclude_same_number = true, .box = box_of(cuboid)})
        .indices.size();
  };
  CHECK(count(x) == 0);
  CHECK(count(moved) == 30);  // images of themselves
}

TEST_CASE("pairs without a box have no shifts, and without particles there are none") {
  const std::vector<double> x = particles(80, 0, 4, 8), none;
  compare(x, x, {2}, Vectors{}, {false, false, false}, 1);
  const std::vector<double> r{1};
  const PeriodicBox edges = box_of(cuboid);
  const NeighbourPairs open = find_neighbour_pairs(x, x, r, "iS", {.exclude_same_number = true});
  CHECK(std::ranges::count(open.shifts, 0) == static_cast<std::ptrdiff_t>(3 * open.targets.size()));
  CHECK(find_neighbour_pairs(none, none, r, "ijdDS", {.box = edges}).targets.empty());
  CHECK(find_neighbour_pairs(none, x, r, "ijdDS", {.box = edges}).targets.empty());
  CHECK(find_neighbour_pairs(x, none, none, "ijdDS", {.box = edges}).targets.empty());
  CHECK(find_neighbours(none, x, r, {.box = edges}).offsets == std::vector<std::int64_t>(81));
}

TEST_CASE("wrong boxes, radii and quantities of a neighbour search are refused") {
  const std::vector<double> x = particles(4, 0, 4, 9);
  const auto input = ErrorCategory::Input;
  const double inf = std::numeric_limits<double>::infinity();
  CHECK_THAT(refused_in_box(input, x, {1}, {4, 0, 5}),
             Contains("vector 1 is (0, 0, 0), of length zero"));
  CHECK_THAT(refused_in_box(input, x, {1}, {4, NAN, 6}),
             Contains("vector 1 is (0, nan, 0), which is not finite"));
  CHECK_THAT(refused_in_box(input, x, {1}, {4, inf, 6}),
             Contains("vector 1 is (0, inf, 0), which is not finite"));
  CHECK_THAT(refused_in_box(input, x, {1}, {1, 0, 0, 0, 1, 0, 1, 1, 0}),
             Contains("line or plane of the other vectors"));
  CHECK_THAT(refused_in_box(input, x, {1}, {1, 2, 3, 2, 4, 6, 0, 0, 0}, {true, true, false}),
             Contains("line or plane of the other vectors"));
  CHECK_THAT(refused_in_box(input, x, {1}, {1, 0, 0, 0, 0, 0, 0, 0, 1}), Contains("vector 1"));
  CHECK_THAT(refused_in_box(input, x, {inf}, {4, 5, 6}), Contains("radius is infinite"));
  CHECK_THAT(refused_in_box(input, x, {-1}, {4, 5, 6}), Contains("radius is -1;"));
  CHECK_THAT(refused_in_box(input, x, {1e9}, {4, 5, 6}), Contains("images of the box"));
  CHECK_THAT(refused_in_box(input, x, {1e200}, {4, 5, 6}), Contains("images of the box"));
  CHECK_THAT(refused_in_box(input, {0, 0, 0, 0, -1e12, 0}, {1}, {4, 5, 6}),
             Contains("pos[1] is more than 1e+09 boxes away from the box"));
  CHECK_THAT(refused_in_box(input, {0, 0, 0, 0, 1e300, 0}, {1}, {1e-5, 1e-5, 1e-5}),
             Contains("pos[1] is"));
  CHECK(refused_in_box(input, x, {1}, {4, 0, -1}, {true, false, false}) == "not refused");
  CHECK(refused_in_box(input, x, {inf}, {4, 5, 6}, {false, false, false}) == "not refused");
  CHECK(refused_in_box(input, x, {0}, {4, 5, 6}) == "not refused");
  for (const char* letters : {"x", "ii", "ij,"})
    CHECK_THROWS_WITH(find_neighbour_pairs(x, x, std::vector<double>{1}, letters),
                      Contains("expected some of the letters i j d D S"));
}

TEST_CASE("lists of images that exceed the memory are refused with their size") {
  const std::vector<double> x = particles(2'000, 0, 1, 10);
  CHECK_THAT(
      refused_in_box(ErrorCategory::Input, x, {100}, {1, 1, 1}),
      Contains("the neighbour lists of 2000 targets would have 1.6") && Contains("e+13 pairs"));
}
