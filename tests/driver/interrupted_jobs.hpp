// Jobs that are interrupted on a device of any kind.
#pragma once

#include <algorithm>
#include <chrono>
#include <random>
#include <thread>
#include <vector>

#include "driver/server_process.hpp"
#include "emulator/host/stopwatch.hpp"
#include "library/kernels.hpp"
#include "support/catch.hpp"
#include "support/iterations.hpp"

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
    CHECK(stopwatch.seconds() < 20);  // 0.1 s on an idle host, minutes without an interrupt
    CHECK(forces(device, 300, 50) == expected_forces(300, 50));
  }
  CHECK(device.statistics().failed_boards == 0);
}

/// Interrupts short jobs of many command lists at random times, also shortly before their end, on a
/// device with the small geometry. Each job returns its results or is cancelled, and the next job
/// returns its own.
inline void check_late_interrupts(gdr::Device& device) {
  const std::vector<double> expected = forces(device, 3000, 90),
                            next_expected = forces(device, 300, 50, 2);
  const gdr::Stopwatch stopwatch;
  forces(device, 3000, 90);
  std::uniform_real_distribution<double> when(0, 1.2 * stopwatch.seconds());
  std::mt19937_64 random(52);
  const std::uint64_t repetitions = gdr::test::test_iterations(100);
  for (std::uint64_t k = 0; k < repetitions; ++k) {
    INFO("repetition " << k);
    std::vector<double> results;
    std::thread interrupter([&device, seconds = when(random)] {
      std::this_thread::sleep_for(std::chrono::duration<double>(seconds));
      device.interrupt();
    });
    const std::string error = error_of([&] { results = forces(device, 3000, 90); });
    interrupter.join();
    if (error == "no error") {
      REQUIRE((results == expected));  // without the numbers
    } else {
      REQUIRE(contains(error, "cancelled"));
    }
    REQUIRE(error_of([&] { results = forces(device, 300, 50, 2); }) == "no error");
    REQUIRE((results == next_expected));
  }
  CHECK(device.statistics().failed_boards == 0);
}

}  // namespace driver_test
