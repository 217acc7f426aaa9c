// A client of headers that `gdr header --cpp` made of a user's own kernels: every host type, a name
// that C++ reserves, a namespace of the user's choice, outputs.
#include <gdr.h>

#include <vector>

#include "check.h"
#include "pull.hpp"
#include "reaction.hpp"

namespace {

void check_every_type(gdr::Device& device) {
  namespace mine = gdr::kernels::my_pull;
  std::vector<mine::Source> sources(53);
  std::vector<mine::Target> targets(37);
  for (std::size_t k = 0; k < sources.size(); ++k) {
    sources[k].xj = static_cast<float>(k % 13) / 4;
    sources[k].double_ = static_cast<double>(k % 7) / 8;
    sources[k].id = static_cast<std::int64_t>(k) << 33;
  }
  for (std::size_t k = 0; k < targets.size(); ++k) {
    targets[k].xi = -static_cast<float>(k) / 8;
    targets[k].tag = {k * 0x9E3779B97F4A7C15U, k % 200};
  }
  const auto results = mine::compute(device, {.k = 0.5}, sources, targets);
  CHECK(results.size() == targets.size());
  // All sums are exact in a double.
  for (std::size_t i = 0; i < targets.size(); ++i) {
    double pull = 0;
    std::int64_t count = 0;
    for (const mine::Source& s : sources) {
      pull += 0.5 * s.double_ * (static_cast<double>(s.xj) - static_cast<double>(targets[i].xi));
      count += s.id;
    }
    CHECK(results[i].pull == pull);
    CHECK(results[i].count == count);
    CHECK(results[i].bits == targets[i].tag);
  }
}

void check_outputs(gdr::Device& device) {
  namespace mine = gdr::kernels::reaction;
  const std::vector<mine::Source> sources{{.xj = 1}, {.xj = 2}, {.xj = 4}};
  const std::vector<mine::Target> targets{{.xi = 8}};
  std::vector<mine::Result> results(1);
  std::vector<mine::Output> outputs(3);
  mine::compute(device, sources, targets, results, outputs);
  CHECK(results[0].force == 7 - 24);
  CHECK(outputs[0].react == -7 && outputs[2].react == -4);

  // Sources that change: the rest stays as it was sent.
  mine::Job job(device);
  job.sources(sources);
  job.targets(targets);
  const mine::Source moved{.xj = 5};
  job.update_sources(1, {&moved, 1});
  job.run(results);
  CHECK(results[0].force == 10 - 24);
}

}  // namespace

int main() {
  gdr::Device device = gdr::Device::open("emulator:chips=2,blocks=2,pes=4,threads=1");
  check_every_type(device);
  check_outputs(device);
  std::printf("%d failed\n", failures);
  return failures == 0 ? 0 : 1;
}
