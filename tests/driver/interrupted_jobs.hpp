// Jobs that are interrupted on boards of servers.
#pragma once

#include <chrono>
#include <thread>
#include <vector>

#include "driver/server_process.hpp"
#include "emulator/host/stopwatch.hpp"
#include "library/kernels.hpp"
#include "support/catch.hpp"

namespace driver_test {

/// Interrupts long jobs on a device with the small geometry, which then computes others.
inline void check_interrupts(gdr::Device& device) {
  const std::vector<double> xi = library_test::rough_values(100'000, 1),
                            xj = library_test::rough_values(1'000'000, 2), mj = xj;
  std::vector<double> force(xi.size());
  gdr::Job job = device.job(library_test::spring());
  job.sources(xj.size(), {{"xj", xj}, {"mj", mj}});
  job.targets(xi.size(), {{"xi", xi}});
  for (int k = 0; k < 2; ++k) {
    job.start({{"force", force}});
    std::this_thread::sleep_for(std::chrono::milliseconds(200));
    const gdr::Stopwatch stopwatch;
    for (device.interrupt(); !job.ready(); device.interrupt())  // the job may not have started yet
      std::this_thread::sleep_for(std::chrono::milliseconds(10));
    CHECK(contains(error_of([&] { job.wait(); }), "cancelled"));
    CHECK(stopwatch.seconds() < 5);  // 0.1 s on an idle host
    CHECK(forces(device, 300, 50) == expected_forces(300, 50));
  }
  CHECK(device.statistics().failed_boards == 0);
}

}  // namespace driver_test
