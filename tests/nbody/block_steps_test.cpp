// Steps that are powers of two, and their criteria.
#include "libgdr/particle/block_steps.hpp"

#include <cmath>
#include <limits>

#include "support/catch.hpp"

namespace gdr::test {
namespace {

constexpr double infinity = std::numeric_limits<double>::infinity();

TEST_CASE("steps are rounded down to powers of two of at most one cycle") {
  CHECK(round_down_to_block(infinity) == 1);
  CHECK(round_down_to_block(1) == 1);
  CHECK(round_down_to_block(std::nextafter(1.0, 0.0)) == 0.5);
  CHECK(round_down_to_block(0.5) == 0.5);
  CHECK(round_down_to_block(0.26) == 0.25);
  CHECK(round_down_to_block(1e-300) <= 1e-300);
  CHECK(round_down_to_block(0) == 0);
  CHECK(round_down_to_block(NAN) == 0);
}

TEST_CASE("a step doubles only at a multiple of the doubled step") {
  CHECK(next_block_step(0.125, 0.25, infinity) == 0.25);
  CHECK(next_block_step(0.125, 0.375, infinity) == 0.125);
  CHECK(next_block_step(0.125, 0.5, 0.2) == 0.125);
  CHECK(next_block_step(0.5, 1, infinity) == 1);
  CHECK(next_block_step(1, 1, infinity) == 1);  // never more than a cycle
}

TEST_CASE("a step shrinks as far as the criterion demands") {
  CHECK(next_block_step(0.125, 0.375, 0.1) == 0.0625);
  CHECK(next_block_step(0.125, 0.375, 0.001) == 0x1p-10);
  CHECK(next_block_step(0.125, 0.375, 0.125) == 0.125);
}

TEST_CASE("the Aarseth criterion follows the time scale of the force") {
  // A circular orbit of frequency w: derivatives grow by w each, so that the step is sqrt(eta) / w.
  const double w = 8;
  const AccelerationNorms circular{3, 3 * w, 3 * w * w, 3 * w * w * w};
  CHECK(aarseth_step(circular, {}, 0.04) == Approx(0.2 / w));
  CHECK(aarseth_step({0, 0, 0, 0}, {}, 0.02) == infinity);
  CHECK(aarseth_step({1, 0, 0, 0}, {}, 0.02) == infinity);
  CHECK(first_step(circular, {}, {}, 0.01) == Approx(0.01 / w));
  CHECK(first_step({1, 0, 0, 0}, {}, {}, 0.01) == infinity);
  // At rest: the snap alone.
  CHECK(first_step({4, 0, 16, 0}, {}, {}, 0.01) == Approx(0.05));
}

TEST_CASE("derivatives within their rounding do not shorten a step") {
  // As where a force cancels: acceleration and jerk are noise, and so are their differences.
  const AccelerationNorms noise{1e-16, 1e-15, 1e4, 1e14}, rounding{1e-13, 1e-12, 1e5, 1e15};
  CHECK(aarseth_step(noise, {}, 0.02) < 1e-9);
  CHECK(aarseth_step(noise, rounding, 0.02) == infinity);
  // What is above it counts, and what is below it as at least as large.
  CHECK(aarseth_step({0, 0, 1, 0}, {1e-12, 0, 0.1, 0}, 0.02) == Approx(std::sqrt(0.02e-12)));
  const AccelerationNorms real{3, 4, 5, 6};
  CHECK(aarseth_step(real, {1e-3, 1e-3, 1e-3, 1e-3}, 0.02) == aarseth_step(real, {}, 0.02));
  // Potential 2 due to two masses of 1 at distance 1.
  const TermSizes terms = sizes_of_terms(-2, 2);
  CHECK(terms.a == 2);
  CHECK(terms.j == Approx(4 / std::sqrt(2)));
  CHECK(sizes_of_terms(0, 0).a == 0);
  const double dynamical = 0.01 / std::sqrt(2);
  CHECK(first_step({0, 1, 0, 0}, terms, {1e-13, 1e-13, 0, 0}, 0.01) == Approx(dynamical));
  CHECK(first_step({0, 1, 10, 0}, terms, {1e-13, 1e-13, 0, 0}, 0.01) == Approx(0.001));
  CHECK(first_step({0, 0, 0, 0}, terms, {1e-13, 1e-13, 0, 0}, 0.01) == Approx(dynamical));
}

}  // namespace
}  // namespace gdr::test
