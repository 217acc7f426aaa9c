// Output items: one value for each source, reduced over blocks, chips, batches and boards.
#include <algorithm>
#include <cmath>
#include <string>

#include "library/kernels.hpp"
#include "support/catch.hpp"
#include "support/reaction_kernel.hpp"

using namespace library_test;

namespace {

struct Reaction {
  std::vector<double> force, react, heavy;
  friend bool operator==(const Reaction&, const Reaction&) = default;
};

Reaction run_reaction(const std::string& name, const std::vector<double>& xi,
                      const std::vector<double>& wi, const std::vector<double>& xj) {
  gdr::Device device = gdr::Device::open(name);
  gdr::Job job = device.job(gdr::Kernel::assemble(gdr::test::reaction_text, "reaction.gds"));
  job.sources(xj.size(), {{"xj", xj}});
  job.targets(xi.size(), {{"xi", xi}, {"wi", wi}});
  Reaction out{std::vector<double>(xi.size()), std::vector<double>(xj.size(), -77),
               std::vector<double>(xj.size(), -77)};
  job.run({{"react", out.react}, {"force", out.force}, {"heavy", out.heavy}});
  return out;
}

}  // namespace

TEST_CASE("outputs are reduced over all targets of a source") {
  for (std::size_t ni : {1, 3, 4, 7, 25})
    for (std::size_t nj : {1, 5, 70, 600}) {
      const std::vector<double> xi = exact_values(ni, 1), xj = exact_values(nj, 2);
      std::vector<double> wi = exact_values(ni, 3);
      for (double& w : wi) w = std::abs(w);
      Reaction expected{std::vector<double>(ni), std::vector<double>(nj), std::vector<double>(nj)};
      for (std::size_t i = 0; i < ni; ++i)
        for (std::size_t j = 0; j < nj; ++j) {
          expected.force[i] += xj[j] - xi[i];
          expected.react[j] += wi[i] * (xj[j] - xi[i]);
          expected.heavy[j] = std::max(expected.heavy[j], wi[i]);
        }
      for (const char* more : {"", ",boards=2", ",boards=7", ",dram=4096"})
        CHECK(run_reaction(
                  "exact:threads=1,chips=2,blocks=2,pes=1,partition=targets" + std::string(more),
                  xi, wi, xj) == expected);
      CHECK(run_reaction("exact:threads=1,chips=2,blocks=2,pes=1,partition=sources", xi, wi, xj) ==
            expected);
    }
}

TEST_CASE("outputs are optional, and zero without targets") {
  gdr::Device device = gdr::Device::open(tiny);
  gdr::Job job = device.job(gdr::Kernel::assemble(gdr::test::reaction_text, "reaction.gds"));
  const std::vector<double> x = exact_values(6, 1);
  job.sources(6, {{"xj", x}});
  job.targets(6, {{"xi", x}, {"wi", x}});
  std::vector<double> force(6), again(6), react(6, 5);
  job.run({{"force", force}});
  job.run({{"force", again}, {"react", react}});
  CHECK(force == again);
  job.targets(0, {{"xi", x}, {"wi", x}});
  job.run({{"react", react}});
  CHECK(react == std::vector<double>(6, 0.0));
}
