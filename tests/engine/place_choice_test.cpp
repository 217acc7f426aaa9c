// Where repeated small work runs: the faster place is found, and found again after it has changed.
#include "emulator/engine/gpu/place_choice.hpp"

#include "support/catch.hpp"

namespace gdr {
namespace {

constexpr double least = 1e5;

/// Seconds of a call in both places.
struct Costs {
  double processor_pair, launch, gpu_pair;
  double of(double pairs, bool on_gpu) const {
    return on_gpu ? launch + gpu_pair * pairs : processor_pair * pairs;
  }
};

/// The part of calls on the GPU.
double part_on_gpu(PlaceChoice& choice, double pairs, const Costs& costs, int calls = 1000) {
  int on_gpu = 0;
  for (int n = 0; n < calls; ++n) {
    const bool there = choice.on_gpu(pairs, least);
    on_gpu += there ? 1 : 0;
    choice.record(pairs, there, costs.of(pairs, there));
  }
  return static_cast<double>(on_gpu) / calls;
}

constexpr Costs usual{1e-9, 300e-6, 1e-11}, fast_launch{1e-9, 20e-6, 1e-11};

}  // namespace

TEST_CASE("small work runs where its measured times are shorter") {
  PlaceChoice choice;
  CHECK(part_on_gpu(choice, 2e5, usual) < 0.05);    // 200 us beside 302
  CHECK(part_on_gpu(choice, 4.5e5, usual) > 0.95);  // 450 us beside 304
  // Other sizes are not concerned.
  CHECK(part_on_gpu(choice, 2e5, usual) < 0.05);
}

TEST_CASE("a place that has become faster is found") {
  PlaceChoice choice;
  CHECK(part_on_gpu(choice, 2e5, usual) < 0.05);
  part_on_gpu(choice, 2e5, fast_launch);
  CHECK(part_on_gpu(choice, 2e5, fast_launch) > 0.95);
  part_on_gpu(choice, 2e5, usual);
  CHECK(part_on_gpu(choice, 2e5, usual) < 0.05);
}

TEST_CASE("the GPU is tried from the given limit on, and long work runs there") {
  PlaceChoice choice;
  CHECK(part_on_gpu(choice, 9e4, usual) == 0);
  CHECK(part_on_gpu(choice, 2e7, usual) == 1);
  // 32 ms on the processor: even where the GPU is slower, it has been asked for.
  CHECK(part_on_gpu(choice, 8e6, {4e-9, 0.1, 0}) > 0.98);
}

TEST_CASE("the compilation at the first call on a GPU does not count") {
  PlaceChoice choice;
  CHECK(choice.on_gpu(4.5e5, least));
  choice.record(4.5e5, true, 3.0);
  CHECK(part_on_gpu(choice, 4.5e5, usual) > 0.95);
}

}  // namespace gdr
