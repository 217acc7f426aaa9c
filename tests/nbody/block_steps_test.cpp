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
  CHECK(aarseth_step({3, 3 * w, 3 * w * w, 3 * w * w * w}, 0.04) == Approx(0.2 / w));
  CHECK(aarseth_step({0, 0, 0, 0}, 0.02) == infinity);
  CHECK(aarseth_step({1, 0, 0, 0}, 0.02) == infinity);
  CHECK(first_step(3, 3 * w, 0.01) == Approx(0.01 / w));
  CHECK(first_step(1, 0, 0.01) == infinity);
  CHECK(first_step(0, 1, 0.01) == 0);
}

}  // namespace
}  // namespace gdr::test
