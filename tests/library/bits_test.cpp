// The bits of a result depend on data, kernel, geometry and partition only.
#include <string>

#include "emulator/engine/api/engine.hpp"
#include "library/kernels.hpp"
#include "support/catch.hpp"

using namespace library_test;

namespace {

const std::string small_machine = "exact:chips=2,blocks=4,pes=4";

}  // namespace

TEST_CASE("results have the same bits for any number of threads and boards in every engine") {
  for (const char* partition : {",partition=targets", ",partition=sources", ""}) {
    const SpringInput in = rough_input(401, 257);
    const SpringResult expected =
        run_on(small_machine + ",threads=1,engine=reference" + partition, in);
    for (const char* threads : {",threads=1", ",threads=2", ",threads=5"})
      for (const char* boards : {",boards=1", ",boards=2", ",boards=7"})
        CHECK(run_on(small_machine + threads + boards + partition, in) == expected);
    for (const gdr::Isa isa : gdr::host_isas())
      CHECK(run_on(small_machine + ",isa=" + std::string(gdr::isa_name(isa)) + partition, in) ==
            expected);
  }
}

TEST_CASE("the choice of partition does not depend on boards or threads") {
  // Few targets, many sources: the sources are split; bits would differ if the choice did.
  const SpringInput in = rough_input(7, 999);
  const SpringResult expected = run_on(small_machine + ",threads=1,partition=sources", in);
  CHECK(run_on(small_machine + ",threads=1", in) == expected);
  CHECK(run_on(small_machine + ",threads=4,boards=5", in) == expected);
}

TEST_CASE("both partitions agree with sums in double") {
  const SpringInput in = rough_input(60, 500);
  const SpringResult expected = spring_reference(in);
  for (const char* partition : {",partition=targets", ",partition=sources"}) {
    const SpringResult got = run_on(small_machine + partition, in);
    for (std::size_t i = 0; i < in.xi.size(); ++i) {
      CHECK(got.force[i] == Approx(expected.force[i]).epsilon(1e-11).margin(1e-10));
      CHECK(got.mass[i] == Approx(expected.mass[i]).epsilon(1e-13).margin(1e-12));
    }
  }
}

TEST_CASE("clocks and bytes do not depend on engine or threads") {
  const SpringInput in = rough_input(100, 90);
  const auto counted = [&](const std::string& name) {
    gdr::Device device = gdr::Device::open(name);
    gdr::Job job = device.job(spring());
    give(job, in);
    run(job);
    return device.statistics();
  };
  const gdr::Statistics a = counted(small_machine + ",threads=1,engine=reference");
  const gdr::Statistics b = counted(small_machine + ",threads=3");
  CHECK(a.compute_clocks == b.compute_clocks);
  CHECK(a.chip_clocks == b.chip_clocks);
  CHECK(a.bytes_to_board == b.bytes_to_board);
  CHECK(a.bytes_from_board == b.bytes_from_board);
  CHECK(a.predicted_seconds == b.predicted_seconds);
  CHECK(a.interactions == 9000);
  CHECK(a.flops == 4 * 9000);
  CHECK(a.runs == 1);
  CHECK(a.compute_clocks > 0);
  CHECK(a.chip_clocks >= a.compute_clocks);
  CHECK(a.predicted_gflops() > 0);
}

TEST_CASE("every part of a long pass contributes in every engine") {
  // One source dominates: the sum shows it at every position.
  constexpr std::size_t n = 9000;
  const double place = 0;
  const gdr::Kernel kernel = gdr::Kernel::builtin("lennard_jones");
  for (const char* const engine : {"vector", "native"}) {
    gdr::Device device = gdr::Device::open(
        std::string("emulator:partition=targets,chips=1,blocks=1,engine=") + engine);
    for (const std::size_t near : {0, 4000, 4100, 8990}) {
      INFO(engine << ", source " << near);
      std::vector<double> x(n, 5), y(n, 0);
      x[near] = 0.5;
      double u = 0;
      gdr::Job job = device.job(kernel);
      job.set("rc2", 100);
      job.sources(n, {{"xj", x}, {"yj", y}, {"zj", y}});
      job.targets(1, {{"xi", &place}, {"yi", &place}, {"zi", &place}});
      job.run({{"u", &u}});
      CHECK(u > 16000);
      CHECK(u < 16130);
    }
  }
}
