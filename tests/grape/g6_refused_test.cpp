// Calls that libg6 refuses: a message, the documented code, and results that stay as they were.
#include <algorithm>
#include <climits>
#include <cmath>
#include <functional>

#include "grape/g6_calls.hpp"

using namespace grape_test;
using namespace grape_test::g6;

TEST_CASE("g6: invalid calls give a message and -1, and never wrong numbers") {
  for_all_devices([](int id, double tolerance) {
    const Particles p = random_particles(40, 15);
    Row zero{};
    int nothing = 0;
    const auto message = [&](int status, auto call) {
      const std::string text = messages_of([&] { CHECK(call() == status); });
      INFO(text);
      return text;
    };
    const auto contains = [](const std::string& text, const char* part) {
      INFO(text);
      CHECK(text.find(part) != std::string::npos);
    };
    contains(message(-1, [&] { return g6_set_j_particle_mxonly(id, -1, 0, 1, zero.data()); }),
             "gdr: g6_set_j_particle_mxonly: address -1");
    for (std::size_t k = 0; k < 40; ++k)
      if (k != 17) set(id, p, k, k);
    g6_set_ti(id, 0);
    Targets t = targets_of(p, 0, 0, 10, 1e-3);
    Sums s(10);
    const auto half = [&](int nj, int ni, double* eps2) {
      return messages_of([&] {
        g6calc_firsthalf_(&id, &nj, &ni, t.id.data(), rows(t.x), rows(t.v), nullptr, nullptr,
                          nullptr, eps2, nullptr);
      });
    };
    const auto finish = [&](int ni) {
      return g6calc_lasthalf(id, 40, ni, t.id.data(), rows(t.x), rows(t.v), 1e-3, nullptr,
                             rows(s.acc), rows(s.jerk), s.pot.data());
    };
    double eps2 = 1e-3;
    // A particle that was never set, and numbers that were never reached.
    contains(half(40, 10, &eps2), "address 17 was never set");
    contains(message(-1, [&] { return finish(10); }), "there is no calculation");
    CHECK(s.acc == std::vector<Row>(10));
    contains(half(4000, 10, &eps2), "4000 j-particles");
    contains(half(-3, 10, &eps2), "the number of j-particles is -3");
    contains(half(10, -10, &eps2), "the number of i-particles is -10");
    contains(half(10, 10, nullptr), "null pointer");
    CHECK(half(17, 10, &eps2).empty());
    contains(message(-1, [&] { return finish(11); }), "11 i-particles");
    CHECK(finish(10) == 0);
    // Lists that do not exist.
    contains(message(-1, [&] { return g6_get_neighbour_list(id, 0, 1, &nothing, &nothing); }),
             "had no h2");
    contains(message(-1, [&] { return g6_get_neighbour_list(id, 10, 1, &nothing, &nothing); }),
             "i-particle 10");
    // A radius that is not a number has no list, but forces.
    t.h2.assign(10, 0.1);
    t.h2[4] = NAN;
    g6calc_firsthalf(id, 17, 10, t.id.data(), rows(t.x), rows(t.v), nullptr, nullptr, nullptr, 1e-3,
                     t.h2.data());
    CHECK(finish(10) == 0);
    CHECK(g6_read_neighbour_list(id) == 0);
    int found[40];
    contains(message(-1, [&] { return g6_get_neighbour_list(id, 4, 40, &nothing, found); }),
             "h2 of i-particle 4 is not a number");
    CHECK(nothing == 0);
    CHECK(g6_get_neighbour_list(id, 5, 40, &nothing, found) == 0);
    // A particle that is not finite, until it is set again.
    set(id, p, 17, 17);
    Row bad{0, NAN, 0};
    g6_set_j_particle_mxonly(id, 5, 5, 1, bad.data());
    contains(half(40, 10, &eps2), "yj");
    CHECK(messages_of([&] { CHECK(finish(10) == -1); }) != "");
    set(id, p, 5, 5);
    t.h2.assign(10, 0.1);
    check(calculate(id, 40, t), expected(p, 0, 40, t), tolerance);
    // The same message is not repeated.
    const auto same = [&] {
      return messages_of([&] { g6_set_j_particle_mxonly(id, -9, 0, 1, zero.data()); });
    };
    CHECK(same() != "");
    CHECK(same() == "");
    g6_close(id);
  });
}

TEST_CASE("g6: a j-particle that leaves the range of numbers on its way is an error") {
  for_all_devices([](int id, double tolerance) {
    const Particles p = random_particles(30, 16);
    set_all(id, p);
    g6_set_ti(id, 1e3);
    Row fast{0, 1e306, 0}, at{}, zero{};
    Targets t = targets_of(p, 0, 0, 6, 1e-3);
    Sums s(6);
    const auto first_half = [&] {
      g6calc_firsthalf(id, 30, 6, t.id.data(), rows(t.x), rows(t.v), nullptr, nullptr, nullptr,
                       1e-3, nullptr);
    };
    const auto second_half = [&] {
      return g6calc_lasthalf(id, 30, 6, t.id.data(), rows(t.x), rows(t.v), 1e-3, nullptr,
                             rows(s.acc), rows(s.jerk), s.pot.data());
    };
    for (const bool sets_between : {false, true}) {
      CAPTURE(sets_between);
      REQUIRE(g6_set_j_particle(id, 7, 7, 0, 0.1, 1, zero.data(), zero.data(), zero.data(),
                                fast.data(), at.data()) == 0);
      const std::string text = messages_of([&] {
        first_half();
        if (sets_between) set(id, p, 9, 9);  // a valid call succeeds
        CHECK(second_half() == -1);
      });
      INFO(text);
      CHECK(text.find("\"yj\"[7] is infinite") != std::string::npos);
      CHECK(s.acc == std::vector<Row>(6));
    }
    set(id, p, 7, 7);
    g6_set_ti(id, 0);
    check(calculate(id, 30, t), expected(p, 0, 30, t), tolerance);
    g6_close(id);
  });
}

TEST_CASE("g6: a device that does not exist gives a message that names it") {
  const Variable device("GDR_DEVICE", "nothing");
  int id_to_open = 77776, list = 0;
  const std::string opened = messages_of([&] { CHECK(g6_open(id_to_open) == -1); }) +
                             messages_of([&] { CHECK(g6_open_special(1, &list) == -1); });
  CHECK_THAT(opened, Catch::Contains("gdr: g6_open: unknown device \"nothing\"") &&
                         Catch::Contains("gdr: g6_open_special: unknown device \"nothing\""));
  const Particles p = random_particles(2, 16);
  const int id = 77777;
  g6_set_j_particle_mxonly(id, 0, 0, 1, row(p.x[0]));
  Targets t = targets_of(p, 0, 1, 1, 1e-3);
  const std::string text = messages_of([&] {
    g6calc_firsthalf(id, 1, 1, t.id.data(), rows(t.x), rows(t.v), nullptr, nullptr, nullptr, 1e-3,
                     nullptr);
  });
  INFO(text);
  CHECK(text.find("nothing") != std::string::npos);
  const Variable ranks("GDR_DEVICE", "mpi");
  CHECK(messages_of([&] {
          g6calc_firsthalf(id, 1, 1, t.id.data(), rows(t.x), rows(t.v), nullptr, nullptr, nullptr,
                           1e-3, nullptr);
        }).find("collective") != std::string::npos);
}

namespace {

/// Another message, after which none is a repetition: those are not written.
void forget_g6_message() {
  messages_of([] {
    double x[3] = {};
    g6_set_j_particle_mxonly(7, -1, 0, 1, x);
  });
}

/// Arrays that a call for results must not change.
struct Untouched {
  Row acc[2]{{7, 7, 7}, {7, 7, 7}}, jerk[2]{{7, 7, 7}, {7, 7, 7}};
  double pot[2]{7, 7};
  int nearest[2]{7, 7};
  int second_half(int id, int nj, int ni, std::vector<Row>& x) {
    int index[2] = {-1, -2};
    std::vector<Row> v(2);
    auto* const a = reinterpret_cast<double(*)[3]>(acc);
    auto* const j = reinterpret_cast<double(*)[3]>(jerk);
    return g6calc_lasthalf2(id, nj, ni, index, rows(x), rows(v), 0, nullptr, a, j, pot, nearest);
  }
  bool is_changed() const {
    return acc[0] != Row{7, 7, 7} || acc[1] != acc[0] || jerk[0] != acc[0] || jerk[1] != acc[0] ||
           pot[0] != 7 || pot[1] != 7 || nearest[0] != 7 || nearest[1] != 7;
  }
};

void first_half(int id, int nj, std::vector<Row>& x, std::vector<double> eps2 = {}) {
  int index[2] = {-1, -2};
  std::vector<Row> v(2);
  const auto ni = static_cast<int>(x.size());
  if (eps2.size() > 1)
    g6calc_firsthalf0(id, nj, ni, index, rows(x), rows(v), nullptr, nullptr, nullptr, eps2.data(),
                      nullptr);
  else
    g6calc_firsthalf(id, nj, ni, index, rows(x), rows(v), nullptr, nullptr, nullptr,
                     eps2.empty() ? 0 : eps2[0], nullptr);
}

}  // namespace

TEST_CASE("g6: a second half without a first half, or after one that failed, is an error") {
  for_all_devices([](int id, double) {
    Untouched u;
    std::vector<Row> x{{0, 0, 0}, {0, 1, 0}};
    const auto refused = [&](int ni) {
      forget_g6_message();
      const std::string text = messages_of([&] { CHECK(u.second_half(id, 0, ni, x) == -1); });
      CHECK_THAT(text, Catch::Contains("g6calc_lasthalf: there is no calculation"));
      CHECK(!u.is_changed());
    };
    refused(0);
    refused(2);
    CHECK(g6_read_neighbour_list(id) == 0);
    CHECK(messages_of([&] { first_half(id, 5, x); }) != "");  // no j-particles
    refused(0);
    refused(2);
    // A good one, then one that fails, also for i-particles with lists.
    Row at{1, 1, 1};
    CHECK(g6_set_j_particle_mxonly(id, 0, 0, 1, at.data()) == 0);
    first_half(id, 1, x);
    Untouched good;
    CHECK(good.second_half(id, 1, 2, x) == 0);
    CHECK(good.second_half(id, 1, 0, x) == 0);
    CHECK(good.is_changed());
    forget_g6_message();
    CHECK(messages_of([&] { first_half(id, 5, x); }) != "");
    refused(0);
    refused(1);
    g6_close(id);
    refused(0);
  });
  // Nor after a device that does not exist.
  const Variable device("GDR_DEVICE", "nothing");
  Untouched u;
  std::vector<Row> x{{0, 0, 0}};
  Row at{1, 1, 1};
  g6_set_j_particle_mxonly(77775, 0, 0, 1, at.data());
  CHECK(messages_of([&] { first_half(77775, 1, x); }) != "");
  CHECK(messages_of([&] { CHECK(u.second_half(77775, 1, 0, x) == -1); }) != "");
}

TEST_CASE("g6: negative softening is refused") {
  for_all_devices([](int id, double) {
    Row at{1, 0, 0};
    g6_set_j_particle_mxonly(id, 0, 0, 1, at.data());
    std::vector<Row> x{{0, 0, 0}, {0, 1, 0}};
    const auto refused = [&](const std::vector<double>& eps2, const char* part) {
      forget_g6_message();
      CHECK_THAT(messages_of([&] { first_half(id, 1, x, eps2); }), Catch::Contains(part));
      Untouched u;
      CHECK(messages_of([&] { CHECK(u.second_half(id, 1, 2, x) == -1); }) != "");
      CHECK(!u.is_changed());
    };
    refused({-0.5}, "gdr: g6calc_firsthalf: eps2 is -0.5");
    refused({-100}, "eps2 is -100");
    refused({NAN}, "eps2 is nan");
    refused({INFINITY}, "eps2 is inf");
    refused({0, -0.25}, "gdr: g6calc_firsthalf0: eps2 of i-particle 1 is -0.25");
    first_half(id, 1, x, {0, 0.25});
    Untouched u;
    CHECK(u.second_half(id, 1, 2, x) == 0);
    CHECK(std::abs(u.pot[1] + 1 / 1.5) < 1e-12);
    g6_close(id);
  });
}

TEST_CASE("g6: sums that overflow are an error that names the i-particle") {
  for_all_devices([](int id, double) {
    Row near{0, 0, 0};
    g6_set_j_particle_mxonly(id, 1, 1, 1, near.data());
    const auto refused = [&](const Row& far, std::vector<Row> x, const char* part) {
      g6_set_j_particle_mxonly(id, 0, 0, 1, row(far));
      first_half(id, 2, x);
      Untouched u;
      forget_g6_message();
      CHECK_THAT(messages_of([&] { CHECK(u.second_half(id, 2, 2, x) == -1); }),
                 Catch::Contains(part));
      CHECK(!u.is_changed());
    };
    refused({1, 0, 0}, {{3, 0, 0}, {1e-110, 0, 0}},
            "g6calc_lasthalf: the acceleration of i-particle 1 is not finite");
    // What is good is not refused for the sake of numbers that nobody wants.
    std::vector<Row> x{{3, 0, 0}, {1e-110, 0, 0}};
    Untouched u;
    CHECK(u.second_half(id, 2, 1, x) == 0);
    // Half the particles of a calculation that overflows.
    x = {{3, 0, 0}, {-2, 0, 0}};
    first_half(id, 2, x);
    CHECK(u.second_half(id, 2, 2, x) == 0);
    CHECK(std::abs(u.pot[1] + 0.5 + 1.0 / 3) < 1e-12);
    g6_close(id);
  });
  // Where the square of a distance overflows, doubles give no force.
  const Variable device("GDR_DEVICE", "emulator:engine=native");
  const int id = 77774;
  Row near{0, 0, 0}, far{1e160, 0, 0};
  g6_set_j_particle_mxonly(id, 0, 0, 1, near.data());
  g6_set_j_particle_mxonly(id, 1, 1, 1, far.data());
  std::vector<Row> x{{1, 0, 0}, {2, 0, 0}};
  first_half(id, 2, x);
  Untouched u;
  CHECK(u.second_half(id, 2, 2, x) == 0);
  CHECK(std::abs(u.pot[0] + 1) < 1e-14);
  CHECK(std::abs(u.pot[1] + 0.5) < 1e-14);
  g6_close(id);
}

TEST_CASE("g6: a j-particle without a position is refused") {
  const int id = 77773;
  Row zero{}, at{1, 0, 0};
  const auto refused = [&](const std::function<int()>& call, const char* function) {
    CHECK_THAT(messages_of([&] { CHECK(call() == -1); }),
               Catch::Contains(std::string(function) + ": x is a null pointer"));
  };
  refused([&] { return g6_set_j_particle_mxonly(id, 0, 0, 1, nullptr); },
          "g6_set_j_particle_mxonly");
  refused(
      [&] {
        return g6_set_j_particle(id, 0, 0, 0, 0, 1, zero.data(), zero.data(), zero.data(),
                                 zero.data(), nullptr);
      },
      "g6_set_j_particle");
  std::vector<Row> x{{0, 0, 0}};
  CHECK_THAT(messages_of([&] { first_half(id, 1, x); }),
             Catch::Contains("only 0 were set") || Catch::Contains("never set"));
  // Derivatives that are null are 0.
  CHECK(g6_set_j_particle(id, 0, 0, 0, 0, 1, nullptr, nullptr, nullptr, nullptr, at.data()) == 0);
  first_half(id, 1, x);
  Untouched u;
  CHECK(u.second_half(id, 1, 1, x) == 0);
  CHECK(std::abs(u.pot[0] + 1) < 1e-14);
  g6_close(id);
}

TEST_CASE("g6: a null cluster id is cluster 0, as for clients of libraries with one cluster") {
  CHECK(g6_open_(nullptr) == 0);
  double mass = 3, t = 0;
  int address = 0, index = 0, one = 1;
  Row at{1, 0, 0};
  CHECK(g6_set_j_particle_mxonly_(nullptr, &address, &index, &mass, at.data()) == 0);
  CHECK(g6_set_ti_(nullptr, &t) == 0);
  std::vector<Row> x{{0, 0, 0}};
  first_half(0, 1, x);
  Untouched u;
  CHECK(u.second_half(0, 1, 1, x) == 0);
  CHECK(std::abs(u.pot[0] + 3) < 1e-14);
  CHECK(g6_close_(nullptr) == 0);
  forget_g6_message();
  CHECK_THAT(messages_of([&] {
               g6calc_firsthalf_(nullptr, &one, &one, &index, rows(x), rows(x), nullptr, nullptr,
                                 nullptr, &t, nullptr);
             }),
             Catch::Contains("1 j-particles are used"));
}

TEST_CASE("g6: an argument whose address is null is an error that names it") {
  int id = 77772, n = 1;
  double number = 1;
  Row at{1, 0, 0};
  const auto names = [](const char* what, const std::function<int()>& call) {
    forget_g6_message();
    CHECK_THAT(messages_of([&] { CHECK(call() == -1); }),
               Catch::Contains(std::string(": ") + what + " is a null pointer"));
  };
  names("ti", [&] { return g6_set_ti_(&id, nullptr); });
  const auto set_one = [&](int* address, int* index, double* tj, double* mass) {
    return g6_set_j_particle_(&id, address, index, tj, nullptr, mass, nullptr, nullptr, nullptr,
                              nullptr, at.data());
  };
  names("address", [&] { return set_one(nullptr, &n, &number, &number); });
  names("index", [&] { return set_one(&n, nullptr, &number, &number); });
  names("tj", [&] { return set_one(&n, &n, nullptr, &number); });
  names("mass", [&] { return set_one(&n, &n, &number, nullptr); });
  names("mass", [&] { return g6_set_j_particle_mxonly_(&id, &n, &n, nullptr, at.data()); });
  names("ni", [&] {
    return g6calc_lasthalf_(&id, &n, nullptr, &n, nullptr, nullptr, nullptr, nullptr, nullptr,
                            nullptr, nullptr);
  });
  names("ipipe", [&] { return g6_get_neighbour_list_(&id, nullptr, &n, &n, &n); });
  names("maxlength", [&] { return g6_get_neighbour_list_(&id, &n, nullptr, &n, &n); });
  const auto half = [&](int* nj, int* ni) {
    forget_g6_message();
    return messages_of([&] {
      g6calc_firsthalf_(&id, nj, ni, &n, nullptr, nullptr, nullptr, nullptr, nullptr, &number,
                        nullptr);
    });
  };
  CHECK_THAT(half(nullptr, &n), Catch::Contains("nj is a null pointer"));
  CHECK_THAT(half(&n, nullptr), Catch::Contains("ni is a null pointer"));
  int huge = INT_MAX;
  CHECK_THAT(half(&n, &huge), Catch::Contains("the number of i-particles is 2147483647; at most"));
  g6_close(id);
}

TEST_CASE(
    "g6: a j-particle that is not finite is refused, and no calculation uses the former one") {
  const int id = 77771;
  Row at{1, 0, 0}, zero{};
  std::vector<Row> x{{0, 0, 0}};
  const auto set_one = [&](double t, double mass, Row& position, Row& velocity) {
    return g6_set_j_particle(id, 0, 0, t, 0, mass, zero.data(), zero.data(), zero.data(),
                             velocity.data(), position.data());
  };
  const auto refused = [&](double t, double mass, Row position, Row velocity, const char* what) {
    REQUIRE(set_one(0, 1, at, zero) == 0);
    forget_g6_message();
    CHECK_THAT(messages_of([&] { CHECK(set_one(t, mass, position, velocity) == -1); }),
               Catch::Contains(std::string("gdr: g6_set_j_particle: ") + what +
                               " for address 0; all values must be finite"));
    messages_of([&] {
      first_half(id, 1, x);
      Untouched u;
      CHECK(u.second_half(id, 1, 1, x) == -1);
      CHECK(!u.is_changed());
    });
  };
  refused(0, 1, {0, NAN, 0}, zero, "x[1] is nan");
  refused(0, 1, {0, 0, INFINITY}, zero, "x[2] is inf");
  refused(0, 1, at, {-INFINITY, 0, 0}, "v[0] is -inf");
  refused(0, NAN, at, zero, "mass is nan");
  refused(NAN, 1, at, zero, "tj is nan");
  REQUIRE(set_one(0, 1, at, zero) == 0);
  CHECK_THAT(messages_of([&] { CHECK(g6_set_ti(id, NAN) == -1); }),
             Catch::Contains("gdr: g6_set_ti: ti is nan"));
  messages_of([&] {
    first_half(id, 1, x);
    Untouched u;
    CHECK(u.second_half(id, 1, 1, x) == -1);
  });
  CHECK(g6_set_ti(id, 0) == 0);
  g6_close(id);
}
