// Versions of NBODY6 give other meanings to the functions of libgpunb: each has a library.
#include <dlfcn.h>

#include <algorithm>
#include <cmath>

#include "grape/support.hpp"
#include "support/catch.hpp"

using namespace grape_test;

namespace {

using Vectors = double (*)[3];

/// A library with its own definitions of the functions.
class Library {
 public:
  explicit Library(const char* path) : handle_(dlopen(path, RTLD_NOW | RTLD_LOCAL)) {
    INFO(path);
    REQUIRE(handle_ != nullptr);
  }
  template <typename... Arguments>
  int call(const char* name, Arguments... arguments) const {
    auto* const function = reinterpret_cast<int (*)(Arguments...)>(dlsym(handle_, name));
    INFO(name);
    REQUIRE(function != nullptr);
    return function(arguments...);
  }

 private:
  void* handle_;  // stays open, as OpenMP's threads may be in it
};

/// Particles of mass 0.001 at 0, 0.2 and 0.6; h2 = 0.3^2, divided by the mass or not.
struct Line {
  int n = 3, lmax = 4, nbmax = 3, irank = 0;
  std::vector<double> mass = std::vector<double>(3, 0.001), pot = std::vector<double>(3);
  std::vector<Row> x{{0, 0, 0}, {0.2, 0, 0}, {0.6, 0, 0}}, v = std::vector<Row>(3);
  std::vector<Row> acc = std::vector<Row>(3), jerk = std::vector<Row>(3);
  std::vector<double> h2, dt = std::vector<double>(3);
  std::vector<int> list = std::vector<int>(12, 7);

  explicit Line(double radius2) : h2(3, radius2) {}
  void send(const Library& library) {
    CHECK(library.call("gpunb_send_", &n, mass.data(), rows(x), rows(v)) == 0);
  }
  template <typename... More>
  int run(const Library& library, More... more) {
    return library.call("gpunb_regf_", &n, h2.data(), dt.data(), rows(x), rows(v), rows(acc),
                        rows(jerk), pot.data(), &lmax, &nbmax, list.data(), more...);
  }
  /// Two neighbours of the first; the third contributes 0.001 / 0.6^2.
  void check_first() const {
    CHECK(std::vector<int>(list.begin(), list.begin() + 3) == std::vector<int>{2, 0, 1});
    CHECK(acc[0][0] == Approx(0.001 / 0.36));
    CHECK(pot[0] == Approx(0.001 / 0.6));
  }
};

constexpr double sphere = 0.3 * 0.3, by_mass = sphere / 0.001;

/// Neighbours by the definition, and the accelerations of the others.
void check_definition(const Library& library, unsigned seed, std::size_t n, double h2, int nbmax) {
  Particles p = random_particles(n, seed);
  std::vector<Row> acc(n), jerk(n);
  int count = static_cast<int>(n), lmax = nbmax + 1;
  std::vector<double> radius(n, h2), dt(n, 0.01), pot(n);
  std::vector<int> list(n * static_cast<std::size_t>(lmax));
  CHECK(library.call("gpunb_send_", &count, p.mass.data(), rows(p.x), rows(p.v)) == 0);
  CHECK(library.call("gpunb_regf_", &count, radius.data(), dt.data(), rows(p.x), rows(p.v),
                     rows(acc), rows(jerk), pot.data(), &lmax, &nbmax, list.data()) == 0);
  std::vector<double> right(n);
  bool same = true;
  for (std::size_t i = 0; i < n; ++i) {
    std::vector<int> found;
    for (std::size_t j = 0; j < n; ++j) {
      double r2 = 0, soon = 0;
      for (std::size_t c = 0; c < 3; ++c) {
        const double d = p.x[j][c] - p.x[i][c], w = p.v[j][c] - p.v[i][c];
        r2 += d * d;
        soon += (d + dt[i] * w) * (d + dt[i] * w);
      }
      if (std::min(r2, soon) < p.mass[j] * h2)
        found.push_back(static_cast<int>(j));
      else if (r2 > 0)
        right[i] += p.mass[j] / std::sqrt(r2);
    }
    const int* const own = list.data() + i * static_cast<std::size_t>(lmax);
    const bool fits = static_cast<int>(found.size()) <= nbmax;
    same = same && own[0] == (fits ? static_cast<int>(found.size()) : -1) &&
           (!fits || std::equal(found.begin(), found.end(), own + 1));
  }
  CHECK(same);
  CHECK(difference(pot, right) < 1e-5);
}

}  // namespace

TEST_CASE("gpunb: each library has the neighbours of its version of NBODY6") {
  const Library nbody6(GDR_LIBGPUNB_NBODY6), older(GDR_LIBGPUNB);
  Line line(by_mass);
  line.send(nbody6);
  CHECK(line.run(nbody6) == 0);
  line.check_first();
  Line before(sphere);
  before.send(older);
  CHECK(before.run(older) == 0);
  before.check_first();
  // Too long a list.
  for (const Library* library : {&nbody6, &older}) {
    Line all(1e6);
    all.nbmax = 2;
    all.send(*library);
    messages_of([&] { CHECK(all.run(*library) == 0); });
    CHECK(all.list[0] == -1);
    CHECK(all.pot[0] == 0);
  }
}

TEST_CASE("gpunb: lists by mass are those of the definition, short or long, on every device") {
  const Library nbody6(GDR_LIBGPUNB_NBODY6);
  for (const char* device :
       {"emulator:engine=native", "emulator:engine=vector", "emulator:engine=native-mixed"}) {
    CAPTURE(device);
    const Variable variable("GDR_DEVICE", device);
    nbody6.call("gpunb_close_");
    check_definition(nbody6, 41, 300, 0.5, 299);
    check_definition(nbody6, 42, 300, 1e4, 299);  // nearly all
    check_definition(nbody6, 43, 300, 20, 30);
  }
  nbody6.call("gpunb_close_");
}

TEST_CASE(
    "gpunb: NBODY6++GPU chooses the criterion, and gets the size of lists that are too long") {
  const Library library(GDR_LIBGPUNB_NBODY6PP);
  Line line(by_mass);
  int one = 1, zero = 0, two = 2;
  CHECK(library.call("gpunb_devinit_", &zero) == 0);
  CHECK(library.call("gpunb_open_", &line.n, &zero) == 0);
  line.send(library);
  CHECK(line.run(library, &one) == 0);
  line.check_first();
  line.h2.assign(3, sphere);
  CHECK(line.run(library, &zero) == 0);
  line.check_first();
  line.h2.assign(3, 1e6);
  line.nbmax = 2;
  CHECK(line.run(library, &zero) == 0);
  CHECK(line.list[0] == -3);
  int* const none = nullptr;
  CHECK_THAT(messages_of([&] { CHECK(line.run(library, none) == -1); }),
             Catch::Contains("gdr: gpunb_regf: m_flag is a null pointer"));
  CHECK(library.call("gpunb_profile_", &zero) == 0);
  // Potentials of the second and third particle.
  std::vector<double> pot(3, 7);
  CHECK(library.call("gpupot_", &zero, &two, &two, &line.n, line.mass.data(), rows(line.x),
                     pot.data()) == 0);
  CHECK(pot[0] == Approx(0.001 / 0.2 + 0.001 / 0.4));
  CHECK(pot[1] == Approx(0.001 / 0.6 + 0.001 / 0.4));
  CHECK(pot[2] == 7);
  int three = 3;
  CHECK_THAT(messages_of([&] {
               CHECK(library.call("gpupot_", &zero, &two, &three, &line.n, line.mass.data(),
                                  rows(line.x), pot.data()) == -1);
             }),
             Catch::Contains("3 i-particles from number 2 on are not all among the 3"));
  CHECK(library.call("gpunb_close_") == 0);
}

TEST_CASE("gpunb: spheres with most particles, as of NBODY6 since 2013, give a hint") {
  const Library older(GDR_LIBGPUNB);
  Line line(by_mass);
  void* const nothing = nullptr;  // another message, so that the next is no repetition
  line.nbmax = 2;
  line.send(older);
  messages_of([&] { CHECK(older.call("gpupot_", nothing, nothing, nothing, nothing) == -1); });
  CHECK_THAT(messages_of([&] { CHECK(line.run(older) == 0); }),
             Catch::Contains("gdr: gpunb_regf: the lists of most i-particles are too long") &&
                 Catch::Contains("-lgpunb_nbody6"));
}
