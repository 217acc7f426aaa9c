// The predicted cost of both partitions, compared with the clocks counted by boards.
#include "libgdr/device/partition.hpp"

#include <algorithm>

#include "emulator/isa/program.hpp"
#include "gdr/error.hpp"
#include "library/kernels.hpp"
#include "support/catch.hpp"

using namespace library_test;

namespace {

double counted_clocks(const char* partition, std::size_t ni, std::size_t nj) {
  gdr::Device device = gdr::Device::open("exact:threads=1,chips=2,blocks=4,pes=4,partition=" +
                                         std::string(partition));
  gdr::Job job = device.job(spring());
  give(job, rough_input(ni, nj));
  run(job);
  return static_cast<double>(device.statistics().chip_clocks);
}

}  // namespace

TEST_CASE("predicted clocks are close to those counted by the board") {
  const gdr::KernelCost cost = gdr::kernel_cost(spring().program());
  gdr::Geometry geometry;
  geometry.chips_per_board = 2;
  geometry.blocks = 4;
  geometry.pes_per_block = 4;
  for (std::size_t ni : {1, 16, 17, 128, 300})
    for (std::size_t nj : {1, 8, 100, 1000}) {
      const double targets = counted_clocks("targets", ni, nj);
      const double sources = counted_clocks("sources", ni, nj);
      INFO("ni " << ni << " nj " << nj);
      CHECK(gdr::predicted_clocks(cost, geometry, gdr::ChipPartition::TargetsOverBlocks, ni, nj) ==
            Approx(targets).epsilon(0.1));
      CHECK(gdr::predicted_clocks(cost, geometry, gdr::ChipPartition::SourcesOverBlocks, ni, nj) ==
            Approx(sources).epsilon(0.1));
      // Auto may select the slower one only if the two are close.
      const double chosen = counted_clocks("auto", ni, nj);
      CHECK(chosen <= 1.1 * std::min(targets, sources));
    }
}

TEST_CASE("kernels without reduction use the i-parallel partition") {
  gdr::KernelCost cost = gdr::kernel_cost(spring().program());
  const gdr::Geometry real;
  CHECK(gdr::choose_partition(cost, real, gdr::Partition::Auto, 10, 100000) ==
        gdr::ChipPartition::SourcesOverBlocks);
  CHECK(gdr::choose_partition(cost, real, gdr::Partition::Auto, 8192, 100000) ==
        gdr::ChipPartition::TargetsOverBlocks);
  cost.reducible = false;
  CHECK(gdr::choose_partition(cost, real, gdr::Partition::Auto, 10, 100000) ==
        gdr::ChipPartition::TargetsOverBlocks);
  CHECK_THROWS_AS(gdr::choose_partition(cost, real, gdr::Partition::SourcesOverBlocks, 10, 100),
                  gdr::Error);
}
