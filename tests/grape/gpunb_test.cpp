// Conformance of libgpunb: every statement of its header, on native, exact and board devices,
// against plain loops in double precision.
#include "libgdr/compat/grape/gpunb.h"

#include <unistd.h>

#include <cmath>
#include <cstdlib>
#include <filesystem>
#include <string>

#include "grape/support.hpp"
#include "support/catch.hpp"

using namespace grape_test;

namespace {

struct Sums {
  Sums(std::size_t n, std::size_t row_length) : acc(n), jerk(n), pot(n), list(n * row_length) {}
  std::vector<Row> acc, jerk;
  std::vector<double> pot;
  std::vector<int> list;
};

/// Targets with a radius and a time each.
struct Targets {
  std::vector<Row> x, v;
  std::vector<double> h2, dt;
};

Targets targets_of(const Particles& p, std::size_t n) {
  Targets t;
  for (std::size_t i = 0; i < n; ++i) {
    t.x.push_back(p.x[i]);
    t.v.push_back(p.v[i]);
    t.h2.push_back(0.002 * static_cast<double>(i));
    t.dt.push_back(0.01 * static_cast<double>(i % 7));
  }
  return t;
}

int send(Particles& p) {
  int n = static_cast<int>(p.size());
  return gpunb_send_(&n, p.mass.data(), rows(p.x), rows(p.v));
}

Sums regular(Targets& t, int lmax, int nbmax) {
  int n = static_cast<int>(t.x.size());
  Sums s(t.x.size(), static_cast<std::size_t>(lmax));
  CHECK(gpunb_regf_(&n, t.h2.data(), t.dt.data(), rows(t.x), rows(t.v), rows(s.acc), rows(s.jerk),
                    s.pot.data(), &lmax, &nbmax, s.list.data()) == 0);
  return s;
}

/// The definition.
Sums expected(const Particles& p, const Targets& t, int lmax, int nbmax) {
  const auto length = static_cast<std::size_t>(lmax);
  Sums s(t.x.size(), length);
  for (std::size_t i = 0; i < t.x.size(); ++i) {
    std::vector<int> list;
    for (std::size_t j = 0; j < p.size(); ++j) {
      double r2 = 0, later = 0, rv = 0;
      Row d{}, w{};
      for (std::size_t c = 0; c < 3; ++c) {
        d[c] = p.x[j][c] - t.x[i][c];
        w[c] = p.v[j][c] - t.v[i][c];
        r2 += d[c] * d[c];
        rv += d[c] * w[c];
        later += std::pow(d[c] + t.dt[i] * w[c], 2);
      }
      if (std::min(r2, later) < t.h2[i]) {
        list.push_back(static_cast<int>(j));
        continue;
      }
      if (r2 == 0) continue;
      const double r = std::sqrt(r2);
      for (std::size_t c = 0; c < 3; ++c) {
        s.acc[i][c] += p.mass[j] / (r2 * r) * d[c];
        s.jerk[i][c] += p.mass[j] / (r2 * r) * (w[c] - 3 * rv / r2 * d[c]);
      }
      s.pot[i] += p.mass[j] / r;
    }
    const bool fits = list.size() < length && static_cast<int>(list.size()) <= nbmax;
    s.list[i * length] = fits ? static_cast<int>(list.size()) : -1;
    if (fits)
      std::copy(list.begin(), list.end(),
                s.list.begin() + static_cast<std::ptrdiff_t>(i * length + 1));
  }
  return s;
}

void check(const Sums& got, const Sums& right, double tolerance) {
  CHECK(difference(got.acc, right.acc) < tolerance);
  CHECK(difference(got.jerk, right.jerk) < 10 * tolerance);
  CHECK(difference(got.pot, right.pot) < tolerance);
  CHECK(got.list == right.list);
}

/// Runs a test on all devices: this interface has one device, which is closed in between.
void for_each_device(const std::function<void(double)>& test) {
  for_all_devices([&](int, double tolerance) {
    int most = 10;
    CHECK(gpunb_open_(&most) == 0);
    test(tolerance);
    CHECK(gpunb_close_() == 0);
  });
}

}  // namespace

TEST_CASE("gpunb: neighbours are left out of the sums and listed") {
  for_each_device([](double tolerance) {
    Particles p = random_particles(400, 1);
    CHECK(send(p) == 0);
    Targets t = targets_of(p, 60);
    check(regular(t, 500, 499), expected(p, t, 500, 499), tolerance);
    // Other j-particles, fewer, one, none.
    for (const std::size_t n : {350U, 1U, 0U}) {
      Particles other = random_particles(n, 2);
      CHECK(send(other) == 0);
      check(regular(t, 500, 499), expected(other, t, 500, 499), tolerance);
    }
  });
}

TEST_CASE("gpunb: a list that is too long is -1, and the sums are right nevertheless") {
  for_each_device([](double tolerance) {
    Particles p = random_particles(400, 3);
    send(p);
    Targets t = targets_of(p, 60);
    for (const auto& [lmax, nbmax] : {std::pair{20, 100}, {20, 10}, {1, 0}}) {
      const Sums right = expected(p, t, lmax, nbmax);
      CHECK(right.list[59 * static_cast<std::size_t>(lmax)] == -1);
      check(regular(t, lmax, nbmax), right, tolerance);
    }
  });
}

TEST_CASE("gpunb: lists may be longer than those of the device") {
  for_each_device([](double tolerance) {
    Particles p = random_particles(450, 8);
    send(p);
    Targets t = targets_of(p, 40);
    for (std::size_t i = 0; i < t.h2.size(); ++i) t.h2[i] = i % 3 == 0 ? 0.01 : 0.06 * double(i);
    const Sums right = expected(p, t, 451, 450);
    int longer = 0;
    for (std::size_t i = 0; i < t.h2.size(); ++i)
      longer += right.list[i * 451] > 200 && right.list[i * 451] < 450 ? 1 : 0;
    CHECK(longer > 3);
    check(regular(t, 451, 450), right, tolerance);
    check(regular(t, 301, 300), expected(p, t, 301, 300), tolerance);
  });
}

namespace {

/// A lattice has many pairs at exactly the same distance; factors that are not representable make
/// the device and the host round differently.
Particles lattice(double offset) {
  Particles p = random_particles(343, 4);
  for (std::size_t k = 0; k < p.size(); ++k) {
    p.x[k] = {offset + 0.1 * static_cast<double>(k % 7), 0.1 * static_cast<double>(k / 7 % 7),
              0.1 * static_cast<double>(k / 49)};
    p.v[k] = {0.3 * static_cast<double>(k % 3), 0, 0};
  }
  return p;
}

Targets targets_of_lattice(const Particles& p) {
  Targets t = targets_of(p, p.size());
  for (std::size_t i = 0; i < t.x.size(); ++i) {
    t.h2[i] = 0.01 * static_cast<double>(1 + i % 9);
    t.dt[i] = i % 2 == 0 ? 0 : 1.0 / 3;
  }
  return t;
}

/// Calls test() with every engine among floats, on every instruction set.
void for_each_float_engine(const std::function<void()>& test) {
  for (const char* engine : {"native-mixed", "native-float", "native-fast"})
    for_all_isas(engine, [&](int) {
      gpunb_close_();
      test();
      gpunb_close_();
    });
}

}  // namespace

TEST_CASE("gpunb: a pair is either listed or summed, also at the radius itself") {
  for_each_device([](double tolerance) {
    Particles p = lattice(0);
    send(p);
    Targets t = targets_of_lattice(p);
    const Sums got = regular(t, 344, 343), right = expected(p, t, 344, 343);
    // The reference rounds like the host: lists are equal, and no pair is counted twice or never.
    check(got, right, tolerance);
  });
}

TEST_CASE("gpunb: on no engine among floats are lists wrong near the radius") {
  for_each_float_engine([] {
    for (const double offset : {0.0, 3.0, 1000.0}) {
      INFO("offset " << offset);
      Particles p = lattice(offset);
      send(p);
      Targets t = targets_of_lattice(p);
      // A pair that is counted twice or never is a difference of more than a hundredth. Positions
      // far from the origin are themselves rounded to floats.
      check(regular(t, 344, 343), expected(p, t, 344, 343), offset < 10 ? 5e-4 : 0.01);
    }
  });
}

TEST_CASE("gpunb: lists are those of double precision also where sums are made among floats") {
  for_each_float_engine([] {
    Particles p = random_particles(450, 9);
    send(p);
    Targets t = targets_of(p, 60);
    check(regular(t, 451, 450), expected(p, t, 451, 450), 5e-4);
    // Longer ones than those of the device.
    for (double& h2 : t.h2) h2 *= 5;
    const Sums right = expected(p, t, 451, 450);
    CHECK(right.list[59 * 451] > 200);
    check(regular(t, 451, 450), right, 5e-4);
  });
}

TEST_CASE("gpunb: sums beside long lists are right where floats cannot separate neighbours") {
  for_each_float_engine([] {
    // More neighbours than the device lists, then some on both sides of the radius, as near to it
    // as floats cannot tell. Those that are misjudged on one side are often as many as on the
    // other.
    for (unsigned seed = 0; seed < 30; ++seed) {
      Particles p = random_particles(300, 100 + seed);
      for (std::size_t k = 0; k < 300; ++k) {
        p.v[k] = {};
        p.mass[k] = 1;
        if (k < 250)
          for (double& c : p.x[k]) c *= 0.5;
        else if (k >= 280)
          p.x[k][1] += 3;
        else {
          const double r = std::hypot(p.x[k][0], p.x[k][1], p.x[k][2]);
          for (double& c : p.x[k]) c *= (k % 4 == 0 ? 1 - 1e-9 : 1 + 1e-9) / r;
          p.mass[k] = static_cast<double>(k - 249);
        }
      }
      send(p);
      Targets t{{{0, 0, 0}}, {{0, 0, 0}}, {1}, {0}};
      const Sums right = expected(p, t, 301, 300);
      CHECK(right.list[0] == 257);
      check(regular(t, 301, 300), right, 5e-4);
    }
  });
}

TEST_CASE("gpunb: without a sphere nothing is listed") {
  for_each_device([](double tolerance) {
    Particles p = random_particles(100, 5);
    p.x[1] = p.x[0];
    send(p);
    Targets t = targets_of(p, 100);
    std::fill(t.h2.begin(), t.h2.end(), 0);
    const Sums s = regular(t, 10, 9);
    check(s, expected(p, t, 10, 9), tolerance);
    CHECK(s.list[0] == 0);
    std::fill(t.h2.begin(), t.h2.end(), 1e6);
    const Sums all = regular(t, 200, 199);
    check(all, expected(p, t, 200, 199), tolerance);
    CHECK(all.list[0] == 100);
    CHECK(all.pot == std::vector<double>(100));
  });
}

TEST_CASE("gpupot: potentials are positive, without the particle itself") {
  for_each_device([](double tolerance) {
    Particles p = random_particles(500, 6);
    p.x[8] = p.x[9];
    std::vector<double> pot(500), right(500);
    int n = 500;
    CHECK(gpupot_(&n, p.mass.data(), rows(p.x), pot.data()) == 0);
    for (std::size_t i = 0; i < 500; ++i)
      for (std::size_t j = 0; j < 500; ++j) {
        double r2 = 0;
        for (std::size_t c = 0; c < 3; ++c) r2 += std::pow(p.x[j][c] - p.x[i][c], 2);
        if (r2 > 0) right[i] += p.mass[j] / std::sqrt(r2);
      }
    CHECK(difference(pot, right) < tolerance);
    n = 0;
    CHECK(gpupot_(&n, nullptr, nullptr, nullptr) == 0);
  });
}

TEST_CASE("gpunb: small and large calls have the same sums and lists, with every instruction set") {
  for_all_isas("native", [](int) {
    gpunb_close_();
    // More sources than loops take at a time, and not a whole number of vectors.
    Particles p = random_particles(2053, 14);
    send(p);
    Targets t = targets_of(p, 70);
    for (std::size_t i = 0; i < t.h2.size(); ++i) t.h2[i] = 0.001 * static_cast<double>(i);
    const Sums right = expected(p, t, 401, 400), all = regular(t, 401, 400);
    check(all, right, 1e-13);
    for (const std::size_t n : {1U, 2U, 9U, 33U}) {
      Targets some = t;
      some.x.resize(n);
      some.v.resize(n);
      const Sums s = regular(some, 401, 400);
      // The same bits: sums do not depend on other targets of the call, nor on threads.
      CHECK(std::equal(s.acc.begin(), s.acc.end(), all.acc.begin()));
      CHECK(std::equal(s.jerk.begin(), s.jerk.end(), all.jerk.begin()));
      CHECK(std::equal(s.pot.begin(), s.pot.end(), all.pot.begin()));
      CHECK(std::equal(s.list.begin(), s.list.end(), all.list.begin()));
    }
    gpunb_close_();
  });
}

TEST_CASE("gpunb: a system that refuses threads does not end the client") {
  // The limit of processes does not apply to root.
  const std::string user =
      geteuid() == 0 ? "setpriv --reuid=54321 --regid=54321 --clear-groups " : "";
  const auto status_of = [&](const std::string& words) {
    const std::string self = std::filesystem::read_symlink("/proc/self/exe").string();
    return std::system(("HOME=/nowhere OMP_NUM_THREADS=4 " + user + "prlimit --nproc=1 " + self +
                        " " + words + " > /dev/null 2>&1")
                           .c_str());
  };
  if (status_of("--help") != 0) return;  // no such tools or rights
  CHECK(status_of("'gpunb: small and large calls*'") == 0);
}

TEST_CASE("gpunb: a sphere that holds everything has the particles that were sent, and no other") {
  for_all_isas("native", [](int) {
    gpunb_close_();
    for (const std::size_t n : {1U, 7U, 8U, 13U}) {
      Particles p = random_particles(n, 15);
      send(p);
      Targets t = targets_of(p, 1);
      t.h2[0] = 1e308;
      const Sums s = regular(t, 20, 19);
      CHECK(s.list[0] == static_cast<int>(n));
      CHECK(s.list[n] == static_cast<int>(n) - 1);
      CHECK(s.list[n + 1] == 0);
      CHECK(s.pot[0] == 0);
    }
    gpunb_close_();
  });
}

TEST_CASE(
    "gpunb: particles that are too far away contribute nothing, and those too close neither") {
  for_all_isas("native", [](int) {
    gpunb_close_();
    Particles p = random_particles(4, 16);
    p.x = {{0, 0, 0}, {1e-158, 0, 0}, {0, 1e156, 0}, {2, 0, 0}};
    p.v.assign(4, {0, 0, 0});
    send(p);
    Targets t = targets_of(p, 1);
    const Sums s = regular(t, 5, 4);
    CHECK(s.list[0] == 0);
    CHECK(s.acc[0][0] == Approx(p.mass[3] / 4));
    CHECK(s.acc[0][1] == 0);
    CHECK(s.pot[0] == Approx(p.mass[3] / 2));
    gpunb_close_();
  });
}

TEST_CASE("gpunb: a value of the client that is not finite is named") {
  gpunb_close_();
  int n = 20, lmax = 6, nbmax = 5;
  Particles p = random_particles(20, 17);
  const auto names = [&](const char* what, double& value, const std::function<void()>& call) {
    messages_of([] {
      int none = -1;
      gpunb_send_(&none, nullptr, nullptr, nullptr);  // no message is a repetition
    });
    const double before = value;
    value = NAN;
    CHECK_THAT(messages_of(call), Catch::Contains(std::string("\"") + what + "\"["));
    value = before;
  };
  const auto sent = [&] { CHECK(send(p) == -1); };
  names("mj", p.mass[19], sent);
  names("yj", p.x[3][1], sent);
  names("vzj", p.v[18][2], sent);
  CHECK(send(p) == 0);
  Targets t = targets_of(p, 20);
  Sums s(20, 6);
  const auto run = [&] {
    CHECK(send(p) == 0);
    CHECK(gpunb_regf_(&n, t.h2.data(), t.dt.data(), rows(t.x), rows(t.v), rows(s.acc), rows(s.jerk),
                      s.pot.data(), &lmax, &nbmax, s.list.data()) == -1);
  };
  names("xi", t.x[5][0], run);
  names("vyi", t.v[6][1], run);
  names("h2i", t.h2[7], run);
  names("dti", t.dt[8], run);
  CHECK(s.pot == std::vector<double>(20));
  gpunb_close_();
}

TEST_CASE("gpunb: invalid calls give a message and -1") {
  Particles p = random_particles(20, 7);
  int n = -1, lmax = 0, nbmax = 5;
  const auto contains = [](const std::string& text, const char* part) {
    INFO(text);
    CHECK(text.find(part) != std::string::npos);
  };
  contains(messages_of([&] { CHECK(gpunb_send_(&n, p.mass.data(), rows(p.x), rows(p.v)) == -1); }),
           "gdr: gpunb_send: the number of j-particles is -1");
  n = 20;
  contains(messages_of([&] { CHECK(gpunb_send_(&n, nullptr, rows(p.x), rows(p.v)) == -1); }),
           "mj is a null pointer");
  send(p);
  Targets t = targets_of(p, 20);
  Sums s(20, 1);
  contains(messages_of([&] {
             CHECK(gpunb_regf_(&n, t.h2.data(), t.dt.data(), rows(t.x), rows(t.v), rows(s.acc),
                               rows(s.jerk), s.pot.data(), &lmax, &nbmax, s.list.data()) == -1);
           }),
           "lmax is 0");
  lmax = 6;
  t.x[3][2] = INFINITY;
  s = Sums(20, 6);
  contains(messages_of([&] {
             CHECK(gpunb_regf_(&n, t.h2.data(), t.dt.data(), rows(t.x), rows(t.v), rows(s.acc),
                               rows(s.jerk), s.pot.data(), &lmax, &nbmax, s.list.data()) == -1);
           }),
           "zi");
  gpunb_close_();
}

TEST_CASE(
    "gpunb: before the first particles are sent, and after the device is closed, there are none") {
  gpunb_close_();
  Particles p = random_particles(20, 12);
  int n = 20, lmax = 6, nbmax = 5;
  Targets t = targets_of(p, 20);
  Sums s(20, 6);
  s.pot.assign(20, 7);
  s.list.assign(s.list.size(), 7);
  const Sums before = s;
  const auto refused = [&] {
    messages_of([] {
      int none = -1;
      gpunb_send_(&none, nullptr, nullptr, nullptr);  // no message is a repetition
    });
    CHECK_THAT(messages_of([&] {
                 CHECK(gpunb_regf_(&n, t.h2.data(), t.dt.data(), rows(t.x), rows(t.v), rows(s.acc),
                                   rows(s.jerk), s.pot.data(), &lmax, &nbmax, s.list.data()) == -1);
               }),
               Catch::Contains("gdr: gpunb_regf: there are no j-particles"));
    CHECK(s.pot == before.pot);
    CHECK(s.list == before.list);
  };
  refused();
  gpunb_open_(&n);
  refused();
  CHECK(send(p) == 0);
  check(regular(t, 21, 20), expected(p, t, 21, 20), 1e-13);
  gpunb_close_();
  refused();
  // None at all may be sent.
  n = 0;
  CHECK(gpunb_send_(&n, nullptr, nullptr, nullptr) == 0);
  CHECK(regular(t, 6, 5).pot == std::vector<double>(20));
  gpunb_close_();
}

TEST_CASE("gpunb: a device that does not exist is an error of open") {
  gpunb_close_();
  const Variable device("GDR_DEVICE", "nothing");
  int n = 10;
  CHECK_THAT(messages_of([&] { CHECK(gpunb_open_(&n) == -1); }),
             Catch::Contains("gdr: gpunb_open: unknown device \"nothing\""));
}

TEST_CASE("gpunb: sums that overflow are an error") {
  for_each_device([](double) {
    Particles p = random_particles(5, 13);
    std::vector<double> pot(5);
    p.x[1] = {1e-120, 0, 0};
    p.x[2] = {0, 0, 0};
    CHECK(send(p) == 0);
    Targets t = targets_of(p, 5);
    std::fill(t.h2.begin(), t.h2.end(), 0);
    Sums s(5, 6);
    int n = 5, lmax = 6, nbmax = 5;
    CHECK_THAT(messages_of([&] {
                 CHECK(gpunb_regf_(&n, t.h2.data(), t.dt.data(), rows(t.x), rows(t.v), rows(s.acc),
                                   rows(s.jerk), s.pot.data(), &lmax, &nbmax, s.list.data()) == -1);
               }),
               Catch::Contains("gpunb_regf: the acceleration of i-particle 1 is not finite"));
    p.mass.assign(5, 1e300);
    CHECK_THAT(messages_of([&] { CHECK(gpupot_(&n, p.mass.data(), rows(p.x), pot.data()) == -1); }),
               Catch::Contains("gpupot: the potential of i-particle 1 is not finite"));
  });
}

TEST_CASE("gpunb: a null address is an error that names the argument") {
  int n = 1, lmax = 4, nbmax = 3, list[4] = {};
  double number = 1;
  std::vector<Row> x(1), v(1), acc(1), jerk(1);
  const auto names = [](const char* what, const std::function<int()>& call) {
    messages_of([] {
      int none = -1;
      gpunb_send_(&none, nullptr, nullptr, nullptr);  // no message is a repetition
    });
    CHECK_THAT(messages_of([&] { CHECK(call() == -1); }),
               Catch::Contains(std::string(": ") + what + " is a null pointer"));
  };
  const auto sums = [&](int* ni, int* row_length, int* most) {
    return gpunb_regf_(ni, &number, &number, rows(x), rows(v), rows(acc), rows(jerk), &number,
                       row_length, most, list);
  };
  CHECK(gpunb_open_(nullptr) == 0);
  names("nj", [&] { return gpunb_send_(nullptr, &number, rows(x), rows(v)); });
  names("ni", [&] { return sums(nullptr, &lmax, &nbmax); });
  names("lmax", [&] { return sums(&n, nullptr, &nbmax); });
  names("nbmax", [&] { return sums(&n, &lmax, nullptr); });
  names("n", [&] { return gpupot_(nullptr, &number, rows(x), &number); });
  gpunb_close_();
}

TEST_CASE(
    "gpunb: particles that are not finite are refused when they are sent, and replace others") {
  Particles p = random_particles(20, 7);
  Targets t = targets_of(p, 20);
  int n = 20, lmax = 21, nbmax = 20;
  Sums s(20, 21);
  const auto refused = [&](double& value, double bad, const char* what) {
    const double good = std::exchange(value, bad);
    CHECK_THAT(messages_of([&] { CHECK(send(p) == -1); }),
               Catch::Contains(std::string("gdr: gpunb_send: ") + what));
    value = good;
    CHECK_THAT(messages_of([&] {
                 CHECK(gpunb_regf_(&n, t.h2.data(), t.dt.data(), rows(t.x), rows(t.v), rows(s.acc),
                                   rows(s.jerk), s.pot.data(), &lmax, &nbmax, s.list.data()) == -1);
               }),
               Catch::Contains("there are no j-particles"));
    CHECK(send(p) == 0);
  };
  CHECK(send(p) == 0);
  refused(p.x[3][1], NAN, "\"yj\"[3] is not a number");
  refused(p.v[0][2], INFINITY, "\"vzj\"[0] is infinite");
  refused(p.mass[19], NAN, "\"mj\"[19] is not a number");
  check(regular(t, 21, 20), expected(p, t, 21, 20), 1e-13);
  gpunb_close_();
}
