// Errors of libg6 on the engines among floats.
#include <cmath>
#include <vector>

#include "grape/g6_calls.hpp"

using namespace grape_test;
using namespace grape_test::g6;

namespace {

/// Root mean square errors of acceleration, derivative and potential.
struct Bounds {
  double acc, jerk, pot;
};

/// All particles as targets on the cluster.
void check_errors(int cluster, const Particles& p, Targets& t, const Sums& right,
                  const Bounds& most) {
  set_all(cluster, p);
  g6_set_ti(cluster, 0);
  const Sums s = calculate_sums(cluster, p.size(), t);
  const double acc = rms_error(s.acc, right.acc), jerk = rms_error(s.jerk, right.jerk);
  const double pot = rms_error(s.pot, right.pot);
  INFO("acceleration " << acc << ", derivative " << jerk << ", potential " << pot);
  CHECK(acc < most.acc);
  CHECK(acc > 1e-9);  // in floats
  CHECK(jerk < most.jerk);
  CHECK(pot < most.pot);
}

}  // namespace

TEST_CASE("g6: engines among floats are as accurate as documented") {
  const struct {
    const char* engine;
    Bounds most;
  } modes[] = {{"native-float", {2e-6, 1e-5, 1e-6}}, {"native-fast", {5e-5, 2e-4, 5e-5}}};
  Particles p = plummer_particles(2048, 12);
  Targets t = targets_of(p, 0, 0, p.size(), 1e-4);
  const Sums right = expected(p, 0, p.size(), t);
  for (const auto& mode : modes)
    for_all_isas(mode.engine, [&](int cluster) {
      check_errors(cluster, p, t, right, mode.most);
      g6_close(cluster);
    });
}

TEST_CASE("g6: native-mixed is as accurate as documented, on every instruction set") {
  Particles p = plummer_particles(2048, 12);
  for (const double eps : {0.01, 1e-4}) {
    Targets t = targets_of(p, 0, 0, p.size(), eps * eps);
    const Sums right = expected(p, 0, p.size(), t);
    for_all_isas("native-mixed", [&](int cluster) {
      check_errors(cluster, p, t, right, {1e-7, 5e-7, 1e-7});
      for (std::size_t i = 0; i < 10; ++i)
        CHECK(list_of(cluster, i) == expected_list(p, 0, p.size(), t, i));
      check(calculate(cluster, p.size(), t), right, 1e-6);
      g6_close(cluster);
    });
  }
}

TEST_CASE("g6: native-mixed keeps distances far from the origin, native-float loses them") {
  Particles p = plummer_particles(300, 17);
  for (Row& x : p.x) x[0] += 1e6;
  Targets t = targets_of(p, 0, 0, p.size(), 1e-4);
  const Sums right = expected(p, 0, p.size(), t);
  const auto error = [&](int cluster) {
    set_all(cluster, p);
    g6_set_ti(cluster, 0);
    const Sums s = calculate_sums(cluster, p.size(), t);
    g6_close(cluster);
    return rms_error(s.acc, right.acc);
  };
  for_all_isas("native-mixed", [&](int cluster) { CHECK(error(cluster) < 5e-7); });
  for_all_isas("native-float", [&](int cluster) { CHECK(error(cluster) > 0.01); });
}
