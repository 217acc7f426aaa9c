// Interrupted work ends soon on every engine, and the device remains usable.
#include <chrono>
#include <string>
#include <thread>

#include "emulator/host/stopwatch.hpp"
#include "library/kernels.hpp"
#include "support/catch.hpp"

using namespace library_test;

namespace {

/// Interrupts a job of minutes; returns the seconds to its end, or -1 if it did not end with a
/// device error.
double seconds_to_end(gdr::Device& device, gdr::Job& job) {
  std::vector<double> force(job.target_count());
  job.start({{"force", force}});
  std::this_thread::sleep_for(std::chrono::milliseconds(150));
  // On a busy host it may not have started yet; an interrupt has no effect then.
  const gdr::Stopwatch stopwatch;
  for (device.interrupt(); !job.ready(); device.interrupt())
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
  bool ended = false;
  try {
    job.wait();
  } catch (const gdr::Error& e) {
    ended = e.category() == gdr::ErrorCategory::Device;
  }
  return ended ? stopwatch.seconds() : -1;
}

}  // namespace

TEST_CASE("an interrupt cancels a run at once in every engine and partition") {
  const SpringInput small = exact_input(100, 50);
  const SpringResult wanted = spring_reference(small);
  const SpringInput large = rough_input(200'000, 200'000);
  for (const char* const engine :
       {"engine=reference", "engine=vector,isa=portable", "engine=vector", "engine=native"})
    for (const char* const partition : {"targets", "sources"}) {
      const std::string name = std::string("exact:") + engine + ",partition=" + partition;
      INFO(name);
      gdr::Device device = gdr::Device::open(name);
      gdr::Job job = device.job(spring());
      give(job, large);
      const double seconds = seconds_to_end(device, job);
      CHECK(seconds >= 0);
      CHECK(seconds < 10);  // far less, but other processes may use the cores; else minutes
      give(job, small);
      CHECK(run(job) == wanted);
    }
}
