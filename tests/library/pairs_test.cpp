// PairSum: compared with a plain sum over all pairs and images in long doubles.
#include "gdr/pairs.hpp"

#include <sys/resource.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <fstream>
#include <limits>
#include <optional>
#include <random>
#include <string>
#include <vector>

#include "emulator/assembler/assembler.hpp"
#include "emulator/assembler/object.hpp"
#include "gdr/error.hpp"
#include "gdr/sets.hpp"
#include "support/catch.hpp"
#include "support/sanitizers.hpp"

namespace {

/// The message of the error that a call must throw; empty if it throws none.
template <typename Call>
std::string error_of(const Call& call) {
  try {
    call();
  } catch (const gdr::Error& e) {
    return e.what();
  }
  return {};
}

void has_part(const std::string& text, const char* part) {
  CAPTURE(text);
  CHECK(text.find(part) != std::string::npos);
}

/// A law without a cut-off of its own, whose terms show every pair: also the number of pairs.
const char* const law_text = R"(
kernel soft_law;
precision long;
CONST scale;
VARI xi, yi, zi as pos; VARI ci;
VARJ xj, yj, zj as pos; VARJ qj;
VARF fx, fy, fz, u;
VARF int n;
dx = xj - xi; dy = yj - yi; dz = zj - zi;
r2 = dx*dx + dy*dy + dz*dz;
w = scale*ci*qj*recip(r2 + 0.25);
fx += w*dx; fy += w*dy; fz += w*dz;
u += w;
n += 1;
)";

gdr::Kernel soft_law() { return gdr::Kernel::compile(law_text); }

struct System {
  std::vector<double> pos, targets, charge, factor;
  std::vector<double> cutoff;
  std::optional<gdr::PeriodicBox> box;
  bool own_targets = false;

  std::size_t target_count() const { return (own_targets ? targets : pos).size() / 3; }
};

struct Sums {
  std::vector<double> fx, fy, fz, u;
  std::vector<std::int64_t> n;
  explicit Sums(std::size_t count) : fx(count), fy(count), fz(count), u(count), n(count) {}
};

constexpr double scale = 1.5;

System random_system(std::size_t n, std::size_t targets, double spread, unsigned seed) {
  std::mt19937 random(seed);
  std::uniform_real_distribution<double> at(-spread, spread), some(-1, 1);
  System s;
  s.own_targets = targets > 0;
  for (std::size_t k = 0; k < 3 * n; ++k) s.pos.push_back(at(random));
  for (std::size_t k = 0; k < 3 * targets; ++k) s.targets.push_back(at(random));
  for (std::size_t k = 0; k < n; ++k) s.charge.push_back(some(random));
  for (std::size_t k = 0; k < s.target_count(); ++k) s.factor.push_back(some(random));
  return s;
}

gdr::PeriodicBox tilted_box(const std::array<bool, 3>& periodic) {
  return {{{{2.0, 0.1, -0.2}, {0.9, 1.7, 0.3}, {-0.7, 0.6, 2.2}}}, periodic};
}

Sums computed(gdr::PairSum& sum, const System& s) {
  Sums out(s.target_count());
  const std::vector<gdr::NamedInput> sources{{"qj", s.charge}}, targets{{"ci", s.factor}};
  const std::vector<gdr::NamedResult> results{
      {"fx", out.fx}, {"fy", out.fy}, {"fz", out.fz}, {"u", out.u}, {"n", out.n}};
  gdr::PairCall call{.pos = s.pos, .sources = sources, .targets = targets, .results = results};
  if (s.own_targets) call.target_pos = s.targets;
  sum.set("scale", scale);
  sum.run(call);
  return out;
}

Sums computed(const System& s, const std::string& device = "emulator:engine=native",
              std::optional<double> skin = {}) {
  gdr::Device opened = gdr::Device::open(device);
  gdr::PairSum sum(opened, soft_law(), {.cutoff = s.cutoff, .box = s.box, .skin = skin});
  return computed(sum, s);
}

using Long = long double;

/// The oracle: the sum over all pairs, and over far more images than the cut-off needs.
Sums plain_sums(const System& s, int images) {
  const std::vector<double>& at = s.own_targets ? s.targets : s.pos;
  Sums out(s.target_count());
  std::array<int, 3> most{};
  for (std::size_t k = 0; k < 3; ++k) most[k] = s.box && s.box->periodic[k] ? images : 0;
  for (std::size_t i = 0; i < s.target_count(); ++i) {
    const Long radius = s.cutoff[s.cutoff.size() == 1 ? 0 : i];
    std::array<Long, 3> f{};
    Long u = 0;
    for (std::size_t j = 0; j < s.charge.size(); ++j)
      for (int a = -most[0]; a <= most[0]; ++a)
        for (int b = -most[1]; b <= most[1]; ++b)
          for (int c = -most[2]; c <= most[2]; ++c) {
            if (!s.own_targets && i == j && a == 0 && b == 0 && c == 0) continue;
            std::array<Long, 3> d{};
            Long r2 = 0;
            for (std::size_t x = 0; x < 3; ++x) {
              d[x] = Long{s.pos[3 * j + x]} - at[3 * i + x];
              if (s.box)
                d[x] += a * Long{s.box->vectors[0][x]} + b * Long{s.box->vectors[1][x]} +
                        c * Long{s.box->vectors[2][x]};
              r2 += d[x] * d[x];
            }
            if (!(r2 < radius * radius)) continue;
            const Long w = Long{scale} * s.factor[i] * s.charge[j] / (r2 + 0.25L);
            for (std::size_t x = 0; x < 3; ++x) f[x] += w * d[x];
            u += w;
            ++out.n[i];
          }
    out.fx[i] = static_cast<double>(f[0]);
    out.fy[i] = static_cast<double>(f[1]);
    out.fz[i] = static_cast<double>(f[2]);
    out.u[i] = static_cast<double>(u);
  }
  return out;
}

/// Whether the same pairs were counted, and the sums agree within rounding.
void require_equal(const Sums& found, const Sums& expected, double tolerance = 1e-12) {
  REQUIRE(found.n == expected.n);
  const auto largest_error = [](const std::vector<double>& a, const std::vector<double>& b) {
    double error = 0;
    for (std::size_t k = 0; k < a.size(); ++k)
      error = std::max(error, std::isfinite(a[k]) ? std::abs(a[k] - b[k]) : 1e300);
    return error;
  };
  // Terms are of the order of one.
  double pairs = 1;
  for (const std::int64_t n : expected.n) pairs = std::max(pairs, static_cast<double>(n));
  CHECK(largest_error(found.fx, expected.fx) < tolerance * pairs);
  CHECK(largest_error(found.fy, expected.fy) < tolerance * pairs);
  CHECK(largest_error(found.fz, expected.fz) < tolerance * pairs);
  CHECK(largest_error(found.u, expected.u) < tolerance * pairs);
}

}  // namespace

TEST_CASE("sums within a cut-off agree with plain sums in open space") {
  for (const std::size_t n : {1U, 2U, 47U, 49U, 300U})
    for (const double cutoff : {0.3, 1.0, 20.0}) {
      System s = random_system(n, 0, 1.5, static_cast<unsigned>(n));
      s.cutoff = {cutoff};
      INFO(n << " particles, cut-off " << cutoff);
      require_equal(computed(s), plain_sums(s, 0));
    }
}

TEST_CASE("sums within a cut-off count every image in periodic boxes") {
  unsigned seed = 1;
  for (const bool tilted : {false, true})
    for (const std::array<bool, 3>& periodic :
         {std::array{true, true, true}, {true, false, true}, {false, true, false}, {}})
      for (const double cutoff : {0.5, 1.3, 4.5}) {
        // Half of the particles are outside of the box.
        System s = random_system(40, 0, 2.0, seed++);
        s.box = tilted ? tilted_box(periodic)
                       : gdr::PeriodicBox::orthorhombic({2.0, 1.7, 2.3}, periodic);
        s.cutoff = {cutoff};
        INFO("tilted " << tilted << ", periodic " << periodic[0] << periodic[1] << periodic[2]
                       << ", cut-off " << cutoff);
        require_equal(computed(s), plain_sums(s, cutoff > 2 ? 8 : 4));
      }
}

TEST_CASE("sums within a cut-off take other targets, and a radius for each") {
  for (const bool periodic : {false, true}) {
    System s = random_system(150, 83, 1.0, 7);
    if (periodic) s.box = tilted_box({true, true, false});
    std::mt19937 random(3);
    std::uniform_real_distribution<double> radius(0.1, 2.5);
    for (std::size_t k = 0; k < s.target_count(); ++k) s.cutoff.push_back(radius(random));
    require_equal(computed(s), plain_sums(s, 5));
  }
}

TEST_CASE("sums within a cut-off are those of every engine") {
  for (const std::string engine : {"native", "vector", "reference"}) {
    System s = random_system(60, 0, 1.0, 11);
    s.box = tilted_box({true, true, true});
    s.cutoff = {1.4};
    INFO(engine);
    require_equal(computed(s, "emulator:engine=" + engine), plain_sums(s, 5));
  }
  System s = random_system(60, 0, 1.0, 11);
  s.box = tilted_box({true, true, true});
  s.cutoff = {1.4};
  require_equal(computed(s, "emulator:engine=native-float"), plain_sums(s, 5), 1e-5);
}

TEST_CASE("lists with a skin serve particles that move, also through the sides of the box") {
  System s = random_system(50, 0, 1.0, 5);
  s.box = tilted_box({true, true, true});
  s.cutoff = {0.9};
  gdr::Device device = gdr::Device::open("emulator:engine=native");
  gdr::PairSum sum(device, soft_law(), {.cutoff = s.cutoff, .box = s.box, .skin = 0.2});
  std::mt19937 random(9);
  std::uniform_real_distribution<double> step(-0.03, 0.03);
  for (int round = 0; round < 12; ++round) {
    for (double& x : s.pos) x += step(random);
    if (round % 3 == 1)  // the caller puts some particles into another image
      for (std::size_t c = 0; c < 3; ++c) {
        s.pos[3 * static_cast<std::size_t>(round) + c] += s.box->vectors[1][c];
        s.pos[c] += (round % 2 == 0 ? 2 : -2) * s.box->vectors[2][c];
      }
    INFO("round " << round);
    require_equal(computed(sum, s), plain_sums(s, 6));
  }
  CHECK(sum.statistics().runs == 12);
  CHECK(sum.statistics().lists_made > 1);
  CHECK(sum.statistics().lists_made < 8);
}

TEST_CASE(
    "a particle that moved by more than half of the skin, another box and other radii make new "
    "lists") {
  System s = random_system(80, 30, 1.0, 6);
  s.cutoff = {0.7};
  gdr::Device device = gdr::Device::open("emulator:engine=native");
  gdr::PairSum sum(device, soft_law(), {.cutoff = s.cutoff, .skin = 0.1});
  const auto check = [&](std::size_t lists) {
    require_equal(computed(sum, s), plain_sums(s, 4));
    CHECK(sum.statistics().lists_made == lists);
  };
  check(1);
  check(1);
  s.targets[4] += 0.3;
  check(2);
  s.pos[8] += 0.3;
  check(3);
  s.box = tilted_box({true, true, true});
  sum.set_box(s.box);
  check(4);
  s.cutoff = {0.8};
  sum.set_cutoff(s.cutoff);
  check(5);
  s.cutoff.assign(30, 0.6);
  s.cutoff[3] = 1.1;
  sum.set_cutoff(s.cutoff);
  check(6);
  s.own_targets = false;
  s.factor.resize(80, 0.5);
  s.cutoff = {0.8};
  sum.set_cutoff(s.cutoff);
  check(7);
}

TEST_CASE("the default of the skin follows from how far particles move") {
  System s = random_system(3000, 0, 6.0, 17);
  s.cutoff = {1.0};
  s.box = gdr::PeriodicBox::orthorhombic({12, 12, 12});
  gdr::Device device = gdr::Device::open("emulator:engine=native");
  gdr::PairSum sum(device, soft_law(), {.cutoff = s.cutoff, .box = s.box});
  std::mt19937 random(23);
  std::uniform_real_distribution<double> direction(-1, 1);
  std::vector<double> velocity(s.pos.size());
  std::ranges::generate(velocity, [&] { return direction(random); });
  const auto skin_after = [&](int runs, double step) {
    for (int k = 0; k < runs; ++k) {
      for (std::size_t i = 0; i < s.pos.size(); ++i) s.pos[i] += step * velocity[i];
      computed(sum, s);
    }
    return sum.statistics().skin;
  };
  CHECK(skin_after(1, 0.0) == 0.12);
  const double slow = skin_after(60, 0.002), fast = skin_after(30, 0.02);
  CHECK(slow > 0);
  CHECK(slow < 0.2);
  CHECK(fast > slow);
  CHECK(fast < 0.5);
  // Lists serve no second run where particles go anywhere, or the box changes.
  CHECK(skin_after(3, 2.0) == 0);
  CHECK(skin_after(60, 0.002) > 0);
  for (int k = 0; k < 3; ++k) {
    s.box->vectors[0][0] += 0.01;
    sum.set_box(s.box);
    computed(sum, s);
  }
  CHECK(sum.statistics().skin == 0);
  System few = random_system(120, 0, 2.0, 18);
  few.cutoff = {0.9};
  gdr::PairSum other(device, soft_law(), {.cutoff = few.cutoff});
  for (int k = 0; k < 12; ++k) {
    for (double& x : few.pos) x += 0.004 * std::cos(x);
    require_equal(computed(other, few), plain_sums(few, 0));
  }
  CHECK(other.statistics().lists_made < 12);
}

TEST_CASE("runs with the default of the skin have the same bits with any number of threads") {
  const auto all = [](const std::string& threads) {
    System s = random_system(4000, 0, 3.0, 27);
    s.box = tilted_box({true, true, false});
    s.cutoff = {0.4};
    gdr::Device device = gdr::Device::open("emulator:engine=native,threads=" + threads);
    gdr::PairSum sum(device, soft_law(), {.cutoff = s.cutoff, .box = s.box});
    std::vector<double> found;
    for (int k = 0; k < 10; ++k) {
      for (double& x : s.pos) x += 0.01 * std::sin(x + k);
      const Sums sums = computed(sum, s);
      found.insert(found.end(), sums.fx.begin(), sums.fx.end());
      found.push_back(sum.statistics().skin);
    }
    return found;
  };
  const std::vector<double> one = all("1");
  CHECK(one == all("2"));
  CHECK(one == all("3"));
}

TEST_CASE("sums within a cut-off have the same bits with any number of threads") {
  System s = random_system(3000, 0, 2.0, 21);
  s.box = tilted_box({true, true, true});
  s.cutoff = {0.5};
  const Sums one = computed(s, "emulator:engine=native,threads=1");
  for (const std::string threads : {"2", "4"}) {
    const Sums more = computed(s, "emulator:engine=native,threads=" + threads);
    CHECK(one.fx == more.fx);
    CHECK(one.u == more.u);
    CHECK(one.n == more.n);
  }
}

TEST_CASE("particles at one place are pairs, and one particle meets its images only") {
  System s = random_system(500, 0, 1.0, 2);
  std::ranges::fill(s.pos, 0.25);
  s.cutoff = {1e-3};
  Sums sums = computed(s);
  CHECK(std::ranges::all_of(sums.n, [](std::int64_t n) { return n == 499; }));

  System one = random_system(1, 0, 1.0, 2);
  one.cutoff = {1.05};
  one.box = gdr::PeriodicBox::orthorhombic({1, 1, 1});
  sums = computed(one);
  CHECK(sums.n[0] == 6);
  one.pos = {-1e6, 3.5, 7e5};
  CHECK(computed(one).n[0] == 6);
}

TEST_CASE("sums within a cut-off agree with plain sums where the density varies") {
  // Distances from the centre over nine decades, some particles at one place, others far out.
  System s = random_system(700, 0, 1.0, 31);
  for (std::size_t k = 0; k < s.pos.size(); ++k)
    s.pos[k] *= std::pow(10.0, static_cast<double>(k / 3 % 9) - 7);
  for (std::size_t k = 0; k < 300; ++k) s.pos[k] = s.pos[k % 3];
  s.pos[2000] = 1e9;
  s.pos[2003] = -3e7;
  for (const double cutoff : {1e-6, 1e-3, 0.3, 30.0}) {
    INFO("cut-off " << cutoff);
    s.cutoff = {cutoff};
    s.box.reset();
    require_equal(computed(s), plain_sums(s, 0));
  }
  s.cutoff = {0.6};
  s.box = tilted_box({true, false, true});
  s.pos.erase(s.pos.begin(), s.pos.begin() + 1500);
  s.pos[500] = 4.5;
  s.pos[503] = 0.5;
  s.charge.resize(200);
  s.factor.resize(200);
  require_equal(computed(s), plain_sums(s, 14));
}

TEST_CASE("far skewed boxes have the sums of the same images, as fast") {
  const std::array<std::array<double, 3>, 3> near{
      {{2, 0.125, -0.25}, {0.875, 1.75, 0.25}, {-0.75, 0.625, 2.25}}};
  gdr::Device device = gdr::Device::open("emulator:engine=native");
  for (const std::array<bool, 3>& periodic : {std::array{true, true, true}, {true, true, false}})
    for (const double skew : {3.0, 50.0, -4000.0}) {
      System s = random_system(60, 0, 3.0, 51);
      s.cutoff = {1.2};
      s.box = {near, periodic};
      INFO("skew " << skew << ", directions " << periodic[2]);
      const Sums expected = plain_sums(s, 9);
      gdr::PairSum sum(device, soft_law(), {.cutoff = s.cutoff, .box = s.box});
      require_equal(computed(sum, s), expected);
      const std::size_t images = sum.statistics().sources;
      for (std::size_t c = 0; c < 3; ++c) {
        s.box->vectors[1][c] += skew * near[0][c];
        if (periodic[2]) s.box->vectors[2][c] -= (skew + 1) * near[0][c] - near[1][c];
      }
      sum.set_box(s.box);
      require_equal(computed(sum, s), expected);
      CHECK(sum.statistics().sources < 2 * images);
    }
}

TEST_CASE("particles in a plane, on a line and at two places have the sums of all pairs") {
  for (const std::size_t flat : {1U, 2U, 3U}) {
    System s = random_system(900, 0, 2.0, 41);
    for (std::size_t k = 0; k < s.pos.size(); ++k)
      if (k % 3 < flat) s.pos[k] = flat == 3 && k < 1200 ? 0.5 : -0.5;
    s.cutoff = {0.4};
    INFO(flat << " coordinates are the same");
    require_equal(computed(s), plain_sums(s, 0));
  }
}

TEST_CASE("lists of 1e5 particles at one place take little memory") {
  gdr::Device device = gdr::Device::open("emulator:engine=native");
  const gdr::Kernel law =
      gdr::Kernel::compile("VARI vec3 xi as pos; VARJ vec3 xj as pos; VARF int n; n += 1;");
  const std::size_t n = 100'000, m = 200;
  const std::vector<double> pos(3 * n, 0.125);
  std::vector<double> targets(3 * m, 0.125);
  for (std::size_t t = 0; t < m; ++t) targets[3 * t] += 1e-3 * static_cast<double>(t);
  std::vector<std::int64_t> found(m);
  const std::vector<gdr::NamedResult> results{{"n", found}};
  gdr::PairSum sum(device, law, {.cutoff = {0.1}, .skin = 0});
  sum.run({.pos = pos, .target_pos = targets, .results = results});
  for (std::size_t t = 0; t < m; ++t) CHECK(found[t] == (t < 100 ? 100000 : 0));
  CHECK(sum.statistics().pairs < 2.0 * n * m);
}

#if !GDR_ADDRESS_SANITIZER && !GDR_THREAD_SANITIZER
TEST_CASE("lists of pairs that exceed the memory are refused before they are made") {
  System s = random_system(150'000, 0, 1.0, 61);
  s.cutoff = {0.9};
  rlimit before{};
  REQUIRE(::getrlimit(RLIMIT_AS, &before) == 0);
  std::ifstream status("/proc/self/statm");
  std::size_t pages = 0;
  status >> pages;
  rlimit less = before;
  less.rlim_cur = pages * 4096 + (std::size_t{300} << 20);
  REQUIRE(::setrlimit(RLIMIT_AS, &less) == 0);
  const std::string error = error_of([&] { computed(s, "emulator:engine=native,threads=1"); });
  REQUIRE(::setrlimit(RLIMIT_AS, &before) == 0);
  has_part(error, "the pair lists of 150000 targets have more than ");
  has_part(error, "use a smaller cut-off or fewer targets at a time");
}
#endif

TEST_CASE("sums within a cut-off of no particles are empty") {
  System none;
  none.cutoff = {1.0};
  CHECK(computed(none).u.empty());
  none.own_targets = true;
  none.targets = {0, 0, 0, 1, 1, 1};
  none.factor = {1, 1};
  const Sums sums = computed(none);
  CHECK(sums.u == std::vector<double>{0, 0});
  CHECK(sums.n == std::vector<std::int64_t>{0, 0});
}

TEST_CASE("an infinite cut-off in open space means all pairs, in one list") {
  System s = random_system(400, 0, 1e6, 4);
  s.cutoff = {std::numeric_limits<double>::infinity()};
  const Sums sums = computed(s);
  CHECK(std::ranges::all_of(sums.n, [](std::int64_t n) { return n == 399; }));
}

TEST_CASE("a law that is singular at distance zero does not meet the particle itself") {
  gdr::Device device = gdr::Device::open("emulator:engine=native");
  const gdr::Kernel law = gdr::Kernel::compile(
      "VARI xi, yi, zi as pos; VARJ xj, yj, zj as pos; VARJ mj; VARF pot;\n"
      "dx = xj - xi; dy = yj - yi; dz = zj - zi;\n"
      "pot -= mj*rsqrt(dx*dx + dy*dy + dz*dz);\n");
  gdr::PairSum sum(device, law, {.cutoff = {1.5}});
  const std::vector<double> pos{0, 0, 0, 1, 0, 0, 2, 0, 0}, mass{1, 2, 4};
  std::vector<double> pot(3);
  const std::vector<gdr::NamedInput> sources{{"mj", mass}};
  const std::vector<gdr::NamedResult> results{{"pot", pot}};
  sum.run({.pos = pos, .sources = sources, .results = results});
  CHECK(pot == std::vector<double>{-2, -5, -2});
}

TEST_CASE("sums within a cut-off refuse what has no answer") {
  gdr::Device device = gdr::Device::open("emulator:engine=native");
  const auto make = [&](const gdr::PairOptions& options) {
    return error_of([&] { gdr::PairSum(device, soft_law(), options); });
  };
  const double infinite = std::numeric_limits<double>::infinity();
  const auto cube = gdr::PeriodicBox::orthorhombic({1, 1, 1});
  has_part(make({.cutoff = {0.0}}), "cutoff is 0");
  has_part(make({.cutoff = {-1.0}}), "must be a positive number");
  has_part(make({.cutoff = {1e-160}}),
           "cutoff is 1e-160; a cut-off must be a positive number, at least 1e-150");
  has_part(make({.cutoff = {1.0, std::nan("")}}), "cutoff[1] is nan");
  has_part(make({.cutoff = {infinite}, .box = cube}), "infinite");
  has_part(make({.cutoff = {1}, .box = gdr::PeriodicBox::orthorhombic({1, 0, 1})}),
           "box: vector 1 is (0, 0, 0), of length zero");
  gdr::PeriodicBox flat = cube;
  flat.vectors[2] = {1, 1, 0};
  has_part(make({.cutoff = {1}, .box = flat}), "lies in the line or plane");
  flat.periodic[2] = false;
  CHECK_NOTHROW(gdr::PairSum(device, soft_law(), {.cutoff = {1}, .box = flat}));
  has_part(make({.cutoff = {1}, .skin = -0.1}), "skin is -0.1");

  System s = random_system(10, 0, 1.0, 1);
  s.cutoff = {};
  has_part(error_of([&] { computed(s); }), "there are 0 cut-offs for 10 targets");
  s.cutoff = {1.0};
  s.pos[17] = std::nan("");
  has_part(error_of([&] { computed(s); }), "pos[5], coordinate 2, is nan");
  s.pos[17] = 0;
  s.charge[3] = infinite;
  has_part(error_of([&] { computed(s); }), "qj[3] is inf");
  s.charge[3] = 0;
  s.cutoff = {1.0, 2.0};
  has_part(error_of([&] { computed(s); }), "there are 2 cut-offs for 10 targets");
  s.cutoff = {1.0};
  s.pos[0] = 1e15;
  s.box = cube;
  has_part(error_of([&] { computed(s); }), "pos[0] is more than 1e+09 boxes away");
  s.pos[0] = 0;
  s.cutoff = {1e5};
  has_part(error_of([&] { computed(s); }), "use a smaller cut-off");
}

namespace {

/// A law among particles that are nearer than the root of `rr` times some factor.
gdr::Kernel law_within(const std::string& factor) {
  return gdr::Kernel::compile(
      "precision long; VARI xi, yi, zi as pos; VARI rr; VARJ xj, yj, zj as pos; VARJ qj;\n"
      "VARF fx, u; VARF int n;\n"
      "dx = xj - xi; dy = yj - yi; dz = zj - zi;\n"
      "r2 = dx*dx + dy*dy + dz*dz;\n"
      "skip if (r2 >= " +
      factor +
      "*rr);\n"
      "w = qj*recip(r2 + 0.25); fx += w*dx; u += w; n += 1;\n");
}

/// The same kernel, which declares that the root of `rr` is a cut-off.
gdr::Kernel declaring(const gdr::Kernel& law) {
  std::string text = gdr::disassemble(gdr::read_object(law.object()));
  const std::string start = "\n.start", line = "\n.cutoff rr xi yi zi xj yj zj";
  for (std::size_t at = 0; (at = text.find(start, at)) != std::string::npos;
       at += line.size() + start.size())
    text.insert(at, line);
  return gdr::Kernel::assemble(text);
}

struct SetSums {
  std::vector<double> fx, u;
  std::vector<std::int64_t> n;
  friend bool operator==(const SetSums&, const SetSums&) = default;
};

/// The sums of 100 targets over n sources, as one set.
SetSums sums_of_set(const gdr::Kernel& law, std::size_t n, double rr) {
  gdr::Device device = gdr::Device::open("emulator:engine=native");
  const System s = random_system(n, 100, 1.5, static_cast<unsigned>(n));
  const std::size_t m = s.target_count();
  const std::vector<double> radii(m, rr);
  const auto coordinate = [](const std::vector<double>& x, std::size_t c) {
    return gdr::ConstArray(x.data() + c, 3 * sizeof(double));
  };
  const std::vector<gdr::NamedInput> targets{{"xi", coordinate(s.targets, 0)},
                                             {"yi", coordinate(s.targets, 1)},
                                             {"zi", coordinate(s.targets, 2)},
                                             {"rr", radii}};
  const std::vector<gdr::NamedInput> sources{{"xj", coordinate(s.pos, 0)},
                                             {"yj", coordinate(s.pos, 1)},
                                             {"zj", coordinate(s.pos, 2)},
                                             {"qj", s.charge}};
  SetSums out{std::vector<double>(m), std::vector<double>(m), std::vector<std::int64_t>(m)};
  const std::vector<gdr::NamedResult> results{{"fx", out.fx}, {"u", out.u}, {"n", out.n}};
  const gdr::SourceSegment segment{n, sources};
  gdr::SetJob job(device, law);
  job.run({{m, targets, {&segment, 1}, results}});
  return out;
}

}  // namespace

TEST_CASE("pairs beyond a cut-off that native leaves out change no bit of the sums") {
  const gdr::Kernel law = law_within("1");
  const gdr::Kernel declares = declaring(law);
  for (const std::size_t n : {1U, 31U, 32U, 33U, 39U, 500U})
    for (const double rr : {1e-6, 0.1, 2.0, 100.0}) {
      INFO(n << " sources, square of the radius " << rr);
      CHECK(sums_of_set(declares, n, rr) == sums_of_set(law, n, rr));
    }
}

TEST_CASE("native leaves out pairs far beyond the cut-off that a program declares") {
  // A condition of its own that all pairs meet, so that those that are computed count.
  const gdr::Kernel law = law_within("1e12");
  CHECK(sums_of_set(law, 400, 1e-6).n == std::vector<std::int64_t>(100, 400));
  std::int64_t pairs = 0;
  for (const std::int64_t n : sums_of_set(declaring(law), 400, 1e-6).n) pairs += n;
  CHECK(pairs > 0);
  CHECK(pairs < 40000);
}

TEST_CASE("a kernel without a text, or without positions, cannot have a cut-off") {
  const gdr::Kernel law = soft_law();
  const gdr::Kernel object = gdr::Kernel::from_object(law.object().data(), law.object().size());
  has_part(error_of([&] { static_cast<void>(object.with_cutoff()); }), "has no text");
  const gdr::Kernel flat = gdr::Kernel::compile(
      "VARI xi, yi as pos; VARJ xj, yj as pos; VARF f; f += (xj - xi)*(yj - yi);");
  has_part(error_of([&] { static_cast<void>(flat.with_cutoff()); }), "three of each");
  const gdr::Kernel undeclared = gdr::Kernel::compile(
      "VARI xi, yi, zi; VARJ xj, yj, zj; VARF f; f += (xj - xi)*(yj - yi)*(zj - zi);");
  has_part(error_of([&] { static_cast<void>(undeclared.with_cutoff()); }),
           "has 0 coordinates of targets and 0 of sources");
  const gdr::Kernel taken = gdr::Kernel::compile(
      "VARI xi, yi, zi as pos; VARI cutoff_radius2; VARJ xj, yj, zj as pos; VARF f;\n"
      "f += xj*cutoff_radius2;");
  has_part(error_of([&] { static_cast<void>(taken.with_cutoff()); }), "rename it");
}
