// Calls that libg5 refuses: a message, and results that stay as they were.
#include <climits>
#include <cmath>
#include <functional>
#include <vector>

#include "grape/g5_calls.hpp"

using namespace grape_test;
using namespace grape_test::g5;

TEST_CASE("g5: invalid calls give a message and leave results alone") {
  const int id = 4321;
  Particles p = random_particles(20, 9);
  Sums s(20);
  const auto contains = [](const std::string& text, const char* part) {
    INFO(text);
    CHECK(text.find(part) != std::string::npos);
  };
  contains(messages_of([&] { g5_set_nMC(id, -4); }), "gdr: g5_set_n: the number of j-particles");
  g5_set_nMC(id, 30);
  contains(messages_of([&] { g5_set_xmjMC(id, -1, 20, rows(p.x), p.mass.data()); }),
           "addresses -1 to 18");
  contains(messages_of([&] { g5_set_xmjMC(id, INT_MAX - 5, 20, rows(p.x), p.mass.data()); }),
           "addresses 2147483642 to 2147483661");
  g5_set_xmjMC(id, 0, 20, rows(p.x), p.mass.data());
  g5_set_xiMC(id, 5, rows(p.x));
  contains(messages_of([&] { g5_runMC(id); }), "30 j-particles are used, but only 20 were set");
  contains(messages_of([&] { g5_get_forceMC(id, 5, rows(s.acc), s.pot.data()); }),
           "there are no results");
  contains(messages_of([&] { g5_set_xiMC(id, 5, nullptr); }), "null pointer");
  contains(messages_of([&] { g5_set_eps2_to_allMC(id, -1); }), "softening is -1");
  g5_set_nMC(id, 20);
  p.x[4][1] = NAN;
  g5_set_xjMC(id, 4, 1, rows(p.x) + 4);
  contains(messages_of([&] { g5_runMC(id); }), "yj");
  CHECK(s.pot == std::vector<double>(20));
  p.x[4][1] = 0;
  g5_set_xjMC(id, 4, 1, rows(p.x) + 4);
  g5_set_eps_to_allMC(id, 0.1);
  check(run(id, p.x), expected(p, 20, p.x, std::vector<double>(20, 0.1 * 0.1)), 1e-13);
  g5_closeMC(id);
}

TEST_CASE("g5: results stay as they are after a run that failed") {
  for_all_devices([](int id, double tolerance) {
    Particles p = random_particles(30, 12);
    const std::vector<double> eps2(10, 0.01);
    g5_set_eps_to_allMC(id, 0.1);
    set_all(id, p);
    std::vector<Row> x = first(p, 10), bad{{0, NAN, 0}};
    Sums s = run(id, x);
    const Sums right = s;
    check(s, expected(p, 30, x, eps2), tolerance);
    g5_set_xjMC(id, 4, 1, rows(bad));
    const auto get = [&](int n) {
      return messages_of([&] { g5_get_forceMC(id, n, rows(s.acc), s.pot.data()); });
    };
    CHECK_THAT(messages_of([&] { g5_runMC(id); }), Catch::Contains("\"yj\"["));
    CHECK_THAT(get(10), Catch::Contains("there are no results"));
    CHECK_THAT(
        messages_of([&] { g5_calculate_force_on_xMC(id, rows(x), rows(s.acc), s.pot.data(), 10); }),
        Catch::Contains("\"yj\"["));
    CHECK(s.acc == right.acc);
    CHECK(s.pot == right.pot);
    g5_set_xjMC(id, 4, 1, rows(p.x) + 4);
    g5_runMC(id);
    CHECK(get(10) == "");
    CHECK(s.acc == right.acc);
    g5_closeMC(id);
  });
}

TEST_CASE("g5: results of other i-particles, or of more, are not given") {
  const int id = 4322;
  Particles p = random_particles(30, 13);
  set_all(id, p);
  Sums s(10);
  s.pot.assign(10, 7);
  const auto get = [&](int n) {
    std::string text = messages_of([&] { g5_get_forceMC(id, n, rows(s.acc), s.pot.data()); });
    forget_message();
    return text;
  };
  CHECK_THAT(get(1), Catch::Contains("there are no results"));  // nothing was computed yet
  g5_set_xiMC(id, 0, rows(p.x));
  g5_runMC(id);
  CHECK(get(0) == "");
  CHECK_THAT(get(1), Catch::Contains("results of 1 i-particles are wanted, but there are 0"));
  g5_set_xiMC(id, 4, rows(p.x));
  CHECK_THAT(get(4), Catch::Contains("there are no results"));
  g5_runMC(id);
  CHECK_THAT(get(5), Catch::Contains("results of 5 i-particles are wanted, but there are 4"));
  CHECK_THAT(messages_of([&] { g5_get_forceMC(id, 4, nullptr, s.pot.data()); }),
             Catch::Contains("null pointer"));
  CHECK(s.pot == std::vector<double>(10, 7));
  CHECK(get(4) == "");
  CHECK(s.pot[3] != 7);
  CHECK(s.pot[4] == 7);
  // Settings and j-particles do not change the results of a run.
  const std::vector<double> before = s.pot;
  g5_set_eps_to_allMC(id, 3);
  g5_set_nMC(id, 2);
  CHECK(get(4) == "");
  CHECK(s.pot == before);
  g5_closeMC(id);
}

TEST_CASE("g5: j-particles that were never set, or only in part, are not used") {
  for_all_devices([](int id, double tolerance) {
    Particles p = random_particles(40, 15);
    std::vector<Row> x = first(p, 5);
    std::vector<double> eps2(5, 0.01);
    g5_set_eps_to_allMC(id, 0.1);
    const auto message = [&] {
      std::string text = messages_of([&] { CHECK(run(id, x).pot == std::vector<double>(5)); });
      forget_message();
      return text;
    };
    g5_set_nMC(id, 40);
    g5_set_xmjMC(id, 20, 20, rows(p.x) + 20, p.mass.data() + 20);
    CHECK_THAT(message(), Catch::Contains("40 j-particles are used, but that of address 0 was"));
    g5_set_jpMC(id, 0, 10, p.mass.data(), rows(p.x));
    CHECK_THAT(message(), Catch::Contains("that of address 10 was never set"));
    g5_set_xjMC(id, 10, 10, rows(p.x) + 10);
    CHECK_THAT(message(), Catch::Contains("the mass of address 10 was never set"));
    g5_set_mjMC(id, 10, 9, p.mass.data() + 10);
    CHECK_THAT(message(), Catch::Contains("the mass of address 19 was never set"));
    g5_set_nMC(id, 19);
    check(run(id, x), expected(p, 19, x, eps2), tolerance);
    g5_set_nMC(id, 40);
    g5_set_mjMC(id, 19, 1, p.mass.data() + 19);
    check(run(id, x), expected(p, 40, x, eps2), tolerance);
    g5_set_nMC(id, 42);
    g5_set_mjMC(id, 40, 2, p.mass.data());
    CHECK_THAT(message(), Catch::Contains("the position of address 40 was never set"));
    g5_closeMC(id);
  });
}

TEST_CASE("g5: null pointers and negative softening are refused, and change nothing") {
  const int id = 4323;
  Particles p = random_particles(30, 16);
  std::vector<double> bad(30, 0.01);
  bad[3] = -0.5;
  set_all(id, p);
  g5_set_eps_to_allMC(id, 0.1);
  const std::vector<Row> x = first(p, 5);
  const Sums right = expected(p, 30, x, std::vector<double>(5, 0.1 * 0.1));
  Sums s(5);
  s.pot.assign(5, 7);
  double(*const at)[3] = rows(p.x);
  double* const m = p.mass.data();
  const std::vector<std::pair<std::function<void()>, const char*>> calls{
      {[&] { g5_set_xmjMC(id, 0, 5, nullptr, m); }, "g5_set_xmj: an array for 5 j-particles"},
      {[&] { g5_set_xmjMC(id, 0, 5, at, nullptr); }, "null pointer"},
      {[&] { g5_set_jpMC(id, 0, 5, nullptr, at); }, "g5_set_jp: an array for 5 j-particles"},
      {[&] { g5_set_jpMC(id, 0, 5, m, nullptr); }, "null pointer"},
      {[&] { g5_set_xjMC(id, 0, 5, nullptr); }, "g5_set_xj: an array for 5 j-particles"},
      {[&] { g5_set_mjMC(id, 0, 5, nullptr); }, "g5_set_mj: an array for 5 j-particles"},
      {[&] { g5_set_xmeps2jMC(id, 0, 5, at, m, nullptr); }, "g5_set_xmeps2j: an array for 5"},
      {[&] { g5_set_xmeps2jMC(id, 2, 4, at + 20, m, bad.data()); },
       "softening of j-particle 3 is -0.5"},
      {[&] { g5_set_eps2_to_allMC(id, -0.5); }, "g5_set_eps2_to_all: the softening is -0.5"},
      {[&] { g5_set_eps_to_allMC(id, NAN); }, "g5_set_eps_to_all: the softening is nan"},
      {[&] { g5_set_eps_to_allMC(id, INFINITY); }, "the softening is inf"},
      {[&] { g5_set_eps2MC(id, 5, bad.data()); },
       "g5_set_eps2: the softening of i-particle 3 is -0.5"},
      {[&] { g5_set_eps2MC(id, 5, nullptr); }, "null pointer"},
      {[&] { g5_set_xeiMC(id, 5, at + 9, bad.data()); },
       "g5_set_xei: the softening of i-particle 3"},
      {[&] { g5_calculate_force_on_xeMC(id, at, bad.data(), rows(s.acc), s.pot.data(), 5); },
       "g5_calculate_force_on_xe: the softening of i-particle 3 is -0.5"},
  };
  std::vector<Row> targets = x;
  g5_set_xiMC(id, 5, rows(targets));
  for (const auto& [call, message] : calls) {
    forget_message();
    CHECK_THAT(messages_of(call), Catch::Contains(message));
    CHECK(s.pot == std::vector<double>(5, 7));
    Sums now(5);
    g5_runMC(id);
    g5_get_forceMC(id, 5, rows(now.acc), now.pot.data());
    check(now, right, 1e-13);
  }
  g5_closeMC(id);
}

TEST_CASE("g5: results that are not finite are an error that names the i-particle") {
  for_all_devices([](int id, double) {
    std::vector<Row> xj{{0, 0, 0}, {1, 0, 0}}, xi{{3, 0, 0}, {1 + 1e-3, 0, 0}, {1e-120, 0, 0}};
    double mass[] = {1, 1};
    g5_set_nMC(id, 2);
    g5_set_xmjMC(id, 0, 2, rows(xj), mass);
    Sums s(3);
    s.pot.assign(3, 7);
    const std::string text =
        messages_of([&] { g5_calculate_force_on_xMC(id, rows(xi), rows(s.acc), s.pot.data(), 3); });
    CHECK_THAT(text, Catch::Contains("i-particle 2 is not finite"));
    CHECK(s.pot == std::vector<double>(3, 7));
    forget_message();
    g5_closeMC(id);
  });
}

TEST_CASE("g5: a null address and a number that is not finite are errors that name the argument") {
  int id = 4329, n = 1;
  double one = 1;
  Row at{1, 0, 0};
  double(*x)[3] = reinterpret_cast<double(*)[3]>(at.data());
  const auto names = [](const char* what, const std::function<void()>& call) {
    messages_of([] { g5_set_nMC(4329, -1); });  // no message is a repetition
    CHECK_THAT(messages_of(call), Catch::Contains(what));
  };
  names("gdr: g5_set_n: nj is a null pointer", [&] { g5_set_n_(nullptr); });
  names("gdr: g5_set_n: nj is a null pointer", [&] { g5_set_nMC_(&id, nullptr); });
  names("gdr: g5_set_xmj: address is a null", [&] { g5_set_xmjMC_(&id, nullptr, &n, x, &one); });
  names("gdr: g5_set_xmj: nj is a null pointer", [&] { g5_set_xmjMC_(&id, &n, nullptr, x, &one); });
  names("gdr: g5_set_xi: ni is a null pointer", [&] { g5_set_xiMC_(&id, nullptr, x); });
  names("gdr: g5_get_force: ni is a null", [&] { g5_get_forceMC_(&id, nullptr, x, &one); });
  names("gdr: g5_set_eps_to_all: eps is a null", [&] { g5_set_eps_to_allMC_(&id, nullptr); });
  names("gdr: g5_set_eta: eta is a null pointer", [&] { g5_set_etaMC_(&id, nullptr); });
  names("gdr: g5_set_cutoff_table: fcut is a null",
        [&] { g5_set_cutoff_tableMC_(&id, nullptr, nullptr, &one, nullptr, &one, &one); });
  g5_set_rangeMC_(&id, nullptr, nullptr, nullptr);  // is never read
  CHECK(g5_get_number_of_pipelinesMC_(nullptr) > 0);
  g5_closeMC_(nullptr);
  names("gdr: g5_set_eta: eta is nan", [&] { g5_set_etaMC(id, NAN); });
  names("gdr: g5_set_eps_to_all: the softening is inf", [&] { g5_set_eps_to_allMC(id, INFINITY); });
  names("the number of j-particles is 2147483647", [&] { g5_set_nMC(id, INT_MAX); });
  names("the number of i-particles is 2147483647", [&] { g5_set_xiMC(id, INT_MAX, x); });
  g5_closeMC(id);
}
