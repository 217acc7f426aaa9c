// Background work: results, errors, order, cancellation, concurrent threads.
#include <chrono>
#include <memory>
#include <optional>
#include <thread>

#include "gdr/error.hpp"
#include "library/kernels.hpp"
#include "support/catch.hpp"

using namespace library_test;

TEST_CASE("results of started work are available after wait, and the job can be reused") {
  gdr::Device device = gdr::Device::open(tiny);
  gdr::Job job = device.job(spring());
  CHECK(job.ready());
  CHECK_NOTHROW(job.wait());
  const SpringInput in = exact_input(50, 60);
  const SpringResult expected = spring_reference(in);
  give(job, in);
  for (int round = 0; round < 50; ++round) {
    std::vector<double> force(50);
    job.start({{"force", force}});
    job.wait();
    CHECK(job.ready());
    CHECK(force == expected.force);
  }
}

TEST_CASE("queued jobs run in order, and the next call on a job waits for it") {
  gdr::Device device = gdr::Device::open(tiny);
  const SpringInput in = exact_input(50, 60);
  const SpringResult expected = spring_reference(in);
  std::vector<gdr::Job> jobs;
  std::vector<std::vector<double>> forces(8, std::vector<double>(50));
  for (int k = 0; k < 8; ++k) jobs.push_back(device.job(spring()));
  for (std::size_t k = 0; k < 8; ++k) {
    give(jobs[k], in);
    jobs[k].start({{"force", forces[k]}});
  }
  CHECK(run(jobs[7]) ==
        expected);  // waits for its background run, which is queued after the others
  for (std::size_t k = 0; k < 8; ++k) {
    jobs[k].wait();
    CHECK(forces[k] == expected.force);
  }
  std::vector<double> force(50);
  jobs[0].start({{"force", force}});
  jobs[0].set("k", 0);  // settles first: the started run used the old value
  CHECK(force == expected.force);
  CHECK(run(jobs[0]).force == std::vector<double>(50, 0.0));
}

TEST_CASE("ready becomes true without a wait") {
  gdr::Device device = gdr::Device::open(tiny);
  gdr::Job job = device.job(spring());
  give(job, exact_input(10, 10));
  std::vector<double> force(10);
  job.start({{"force", force}});
  const auto limit = std::chrono::steady_clock::now() + std::chrono::seconds(60);
  while (!job.ready() && std::chrono::steady_clock::now() < limit) std::this_thread::yield();
  CHECK(job.ready());
  job.wait();
}

TEST_CASE("wait throws an error of background work once") {
  gdr::Device device = gdr::Device::open("exact:threads=1,registers=8");
  gdr::Job job = device.job(spring());
  give(job, exact_input(5, 5));
  std::vector<double> force(5);
  job.start({{"force", force}});
  CHECK_THROWS_AS(job.wait(), gdr::Error);
  CHECK_NOTHROW(job.wait());
  job.start({{"force", force}});
  CHECK_THROWS_AS(job.set("k", 1), gdr::Error);
}

TEST_CASE("cancelled work leaves the device usable") {
  // Long enough to be still running: seconds in the reference engine.
  const SpringInput in = rough_input(2000, 20000);
  std::vector<double> force(2000), other(10);
  gdr::Device device =
      gdr::Device::open("emulator:threads=1,engine=reference,chips=1,blocks=1,pes=2");
  {
    gdr::Job running = device.job(spring()), queued = device.job(spring());
    give(running, in);
    give(queued, in);
    running.start({{"force", force}});
    queued.start({{"force", force}});
  }
  gdr::Job job = device.job(spring());
  const SpringInput small = exact_input(10, 10);
  give(job, small);
  CHECK(run(job) == spring_reference(small));
}

TEST_CASE("a device may be closed before its jobs") {
  auto device = std::make_unique<gdr::Device>(gdr::Device::open(tiny));
  gdr::Job job = device->job(spring()), busy = device->job(spring());
  const SpringInput in = exact_input(10, 10);
  give(job, in);
  give(busy, rough_input(1000, 3000));
  std::vector<double> force(10), forces(1000);
  busy.start({{"force", forces}});
  job.start({{"force", force}});
  device.reset();
  try {
    job.wait();  // done before the device closed, or not at all
    CHECK(force == spring_reference(in).force);
  } catch (const gdr::Error& error) {
    CHECK(error.category() == gdr::ErrorCategory::Device);
  }
  CHECK_THROWS_AS(run(job), gdr::Error);
}

TEST_CASE("devices in several threads are independent") {
  const SpringInput in = exact_input(70, 90);
  const SpringResult expected = spring_reference(in);
  std::vector<int> good(4, 0);
  std::vector<std::thread> threads;
  for (std::size_t t = 0; t < good.size(); ++t)
    threads.emplace_back([&, t] {
      gdr::Device device =
          gdr::Device::open(tiny + (t % 2 == 0 ? ",boards=2" : ",partition=sources"));
      gdr::Job job = device.job(spring());
      give(job, in);
      std::vector<double> force(70);
      for (int round = 0; round < 10; ++round) {
        job.start({{"force", force}});
        device.statistics();
        job.wait();
        good[t] += force == expected.force && run(job) == expected ? 1 : 0;
      }
    });
  for (std::thread& t : threads) t.join();
  CHECK(good == std::vector<int>(4, 10));
}
