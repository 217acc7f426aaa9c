// Devices with several queues: jobs of different queues overlap, with the results of one queue.
#include <array>
#include <atomic>
#include <chrono>
#include <cmath>
#include <future>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "gdr/error.hpp"
#include "gdr/sets.hpp"
#include "libgdr/ranks/ranks.hpp"
#include "library/kernels.hpp"
#include "library/refused.hpp"
#include "support/catch.hpp"
#include "support/text.hpp"

using namespace library_test;
using gdr::test::contains;
using gdr::test::refused;

namespace {

/// mass_i = sum over j of m_j, in few registers.
constexpr const char* sum_text = R"(
.kernel sum
ivar  long xi f64to72
jvar  long mj f64to72
fvar  long mass f64to72 fadd at $lr8v
.start
    upass mass 0
.body
    vlen 1
    bget $lr2 mj
    vlen 4
    fadd mass mass $lr2
)";

const std::string tiny_queues = tiny + ",queues=2";

/// Keeps the first queue of a device busy until release() or its destruction.
class BusyQueue {
 public:
  explicit BusyQueue(gdr::Device& device) : core_(gdr::DeviceRanks::core(device)) {
    work_.body = [this](const std::stop_token&) {
      begun_.set_value();
      released_.get_future().wait();
    };
    core_->queue.submit(work_);
    begun_.get_future().wait();
  }
  BusyQueue(const BusyQueue&) = delete;
  BusyQueue& operator=(const BusyQueue&) = delete;
  ~BusyQueue() {
    if (!released_already_) release();
    core_->queue.cancel(work_);
  }
  void release() {
    released_.set_value();
    released_already_ = true;
  }

 private:
  std::shared_ptr<gdr::DeviceCore> core_;
  std::promise<void> begun_, released_;
  bool released_already_ = false;
  gdr::Work work_;
};

std::string device_error(gdr::Job& job) {
  try {
    job.wait();
  } catch (const gdr::Error& e) {
    return e.category() == gdr::ErrorCategory::Device ? e.what() : "another category";
  }
  return "no error";
}

/// Results of a set of targets with SetJob.
SpringResult run_as_set(gdr::Device& device, const SpringInput& in) {
  gdr::SetJob job(device, spring());
  job.set("k", std::array{in.k});
  SpringResult out;
  out.force.assign(in.xi.size(), -77);
  out.mass.assign(in.xi.size(), -77);
  const std::vector<gdr::NamedInput> sources{{"xj", in.xj}, {"mj", in.mj}}, targets{{"xi", in.xi}};
  const std::vector<gdr::NamedResult> results{{"force", out.force}, {"mass", out.mass}};
  const std::vector<gdr::SourceSegment> segments{{in.xj.size(), sources}};
  const std::vector<gdr::InteractionSet> sets{{in.xi.size(), targets, segments, results}};
  job.start(sets);
  job.wait();
  return out;
}

std::vector<double> product_on(gdr::Device& device, std::size_t n) {
  const std::vector<double> a = rough_values(n * n, 5), b = rough_values(n * n, 6);
  std::vector<double> c(n * n, -77);
  gdr::MatrixProduct product(device);
  product.start(n, n, n, 1.0, {a.data(), n}, {b.data(), n}, 0.0, {c.data(), n});
  product.wait();
  return c;
}

}  // namespace

TEST_CASE("every queue computes the bits of a device with one queue, in every engine") {
  const SpringInput in = rough_input(137, 211);
  for (const char* const engine :
       {"reference", "vector", "native", "native-mixed", "native-float", "native-fast"})
    for (const char* const partition : {"targets", "sources"}) {
      const std::string name =
          "emulator:chips=2,blocks=2,pes=3,threads=3,engine=" + std::string(engine) +
          ",partition=" + partition;
      INFO(name);
      const SpringResult wanted = run_on(name, in);
      gdr::Device device = gdr::Device::open(name + ",queues=3");
      std::vector<gdr::Job> jobs;
      std::vector<std::vector<double>> forces(6, std::vector<double>(137, -77));
      for (std::size_t k = 0; k < forces.size(); ++k) {
        jobs.push_back(device.job(spring()));
        give(jobs[k], in);
        jobs[k].start({{"force", forces[k]}});
      }
      for (std::size_t k = 0; k < forces.size(); ++k) {
        jobs[k].wait();
        CHECK(forces[k] == wanted.force);
        CHECK(run(jobs[k]) == wanted);
      }
      for (int k = 0; k < 3; ++k) CHECK(run_as_set(device, in) == wanted);
    }
}

TEST_CASE("matrix products of every queue have the bits of one queue") {
  for (const std::string engine : {"vector", "native"}) {
    gdr::Device one = gdr::Device::open("emulator:chips=1,engine=" + engine);
    gdr::Device two = gdr::Device::open("emulator:chips=1,queues=2,engine=" + engine);
    const std::vector<double> wanted = product_on(one, 70);
    for (int k = 0; k < 2; ++k) CHECK(product_on(two, 70) == wanted);
  }
}

TEST_CASE("a job of a free queue completes while another queue is busy") {
  gdr::Device device = gdr::Device::open(tiny_queues);
  const SpringInput in = exact_input(50, 60);
  const SpringResult wanted = spring_reference(in);
  gdr::Job first = device.job(spring()), second = device.job(spring()),
           third = device.job(spring());  // of queues 1, 2 and 1
  for (gdr::Job* const job : {&first, &second, &third}) give(*job, in);
  std::vector<double> force(50), later(50), force_of_second(50);
  BusyQueue busy(device);
  first.start({{"force", force}});
  third.start({{"force", later}});
  second.start({{"force", force_of_second}});
  second.wait();
  CHECK(force_of_second == wanted.force);
  CHECK(run(second) == wanted);
  CHECK_FALSE(first.ready());
  CHECK_FALSE(third.ready());
  busy.release();
  third.wait();
  CHECK(first.ready());  // a queue keeps the order
  first.wait();
  CHECK(force == wanted.force);
  CHECK(later == wanted.force);
}

TEST_CASE("a long job does not delay the job of another queue, and an interrupt ends it") {
  gdr::Device device = gdr::Device::open("emulator:threads=2,queues=2,engine=reference");
  const SpringInput in = exact_input(20, 30);
  gdr::Job minutes = device.job(spring()), small = device.job(spring());
  give(minutes, rough_input(200'000, 200'000));
  give(small, in);
  std::vector<double> force(200'000);
  minutes.start({{"force", force}});
  for (int k = 0; k < 3; ++k) CHECK(run(small) == spring_reference(in));
  CHECK_FALSE(minutes.ready());
  while (!minutes.ready()) {
    device.interrupt();
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
  }
  CHECK(contains(device_error(minutes), "cancelled"));
  give(minutes, in);
  CHECK(run(minutes) == spring_reference(in));
}

TEST_CASE("an interrupt cancels the running work of all queues") {
  gdr::Device device = gdr::Device::open("emulator:threads=2,queues=2,engine=reference");
  const SpringInput large = rough_input(200'000, 200'000), small = exact_input(20, 30);
  gdr::Job first = device.job(spring()), second = device.job(spring());
  std::vector<double> force(200'000), other(200'000);
  give(first, large);
  give(second, large);
  first.start({{"force", force}});
  second.start({{"force", other}});
  while (!first.ready() || !second.ready()) {  // an interrupt before their start has no effect
    device.interrupt();
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
  }
  for (gdr::Job* const job : {&first, &second}) {
    CHECK(contains(device_error(*job), "cancelled"));
    give(*job, small);
    CHECK(run(*job) == spring_reference(small));
  }
}

TEST_CASE("statistics are sums over the queues") {
  const SpringInput in = rough_input(50, 60);
  const auto statistics_with = [&](const std::string& name) {
    gdr::Device device = gdr::Device::open(name);
    for (int k = 0; k < 7; ++k) {
      if (k == 2) device.reset_statistics();  // all boards hold the program
      gdr::Job job = device.job(spring());
      give(job, in);
      run(job);
    }
    const gdr::Statistics s = device.statistics();
    CHECK(run_as_set(device, in) == run_as_set(device, in));
    CHECK(device.statistics().runs == s.runs + 2);
    device.reset_statistics();
    CHECK(device.statistics().runs == 0);
    CHECK(device.statistics().host_seconds == 0);
    CHECK(device.statistics().engine == s.engine);
    return s;
  };
  for (const std::string engine : {"vector", "native"}) {
    const std::string name = "emulator:chips=2,blocks=2,pes=3,threads=3,engine=" + engine;
    const gdr::Statistics one = statistics_with(name), two = statistics_with(name + ",queues=2");
    CHECK(two.runs == 5);
    CHECK(two.interactions == 5 * 50 * 60);
    CHECK(two.flops == one.flops);
    CHECK(two.compute_clocks == one.compute_clocks);
    CHECK(two.chip_clocks == one.chip_clocks);
    CHECK(two.bytes_to_board == one.bytes_to_board);
    CHECK(two.bytes_from_board == one.bytes_from_board);
    CHECK(std::abs(two.predicted_seconds / one.predicted_seconds - 1) < 1e-12);
    // The native engines count a piece of the work for each thread.
    if (engine == "vector") CHECK(two.fast_runs == one.fast_runs);
    CHECK(two.fast_runs > 0);
    CHECK(two.fallback_runs == one.fallback_runs);
    CHECK(two.host_seconds > 0);
    CHECK(two.threads == one.threads);
  }
}

TEST_CASE("the threads of a device are divided among its queues, at least one for each") {
  CHECK(gdr::Device::open("exact:threads=5,queues=2").statistics().threads == 5);
  CHECK(gdr::Device::open("exact:threads=1,queues=3").statistics().threads == 3);
  gdr::Device device = gdr::Device::open("exact:threads=5,queues=2");
  CHECK(gdr::DeviceRanks::core(device)->threads == 3);
}

TEST_CASE("boards of all queues are tested and recorded") {
  gdr::Device device = gdr::Device::open(tiny_queues + ",boards=2,health_check=0.001");
  CHECK(device.test().size() == 4);
  CHECK(contains(device.description(), "emulator: 2 boards of 2 chips"));
  CHECK(device.description().ends_with(", 2 queues"));
  while (device.statistics().checks < 2) std::this_thread::yield();
  CHECK(device.statistics().failed_boards == 0);

  gdr::Device recorded = gdr::Device::open(tiny_queues + ",boards=2");
  gdr::Job first = recorded.job(spring()), second = recorded.job(spring());
  recorded.record_timeline(true);
  std::vector<unsigned> boards;
  for (gdr::Job* const job : {&first, &second}) {
    give(*job, exact_input(200, 20));  // several batches, for all boards
    run(*job);
  }
  for (const gdr::TimelineEvent& event : recorded.timeline())
    if (event.part != "host" && (boards.empty() || boards.back() != event.board))
      boards.push_back(event.board);
  CHECK(boards == std::vector<unsigned>{0, 1, 2, 3});
  recorded.record_timeline(false);
  CHECK(recorded.timeline().empty());
}

TEST_CASE("closing a device ends the work of all queues") {
  auto device = std::make_unique<gdr::Device>(
      gdr::Device::open("emulator:threads=2,queues=2,engine=reference"));
  std::vector<gdr::Job> jobs;
  std::vector<std::vector<double>> forces(4, std::vector<double>(200'000));
  const SpringInput in = rough_input(200'000, 200'000);
  for (std::size_t k = 0; k < forces.size(); ++k) {
    jobs.push_back(device->job(spring()));
    give(jobs[k], in);
    jobs[k].start({{"force", forces[k]}});
  }
  device.reset();
  for (gdr::Job& job : jobs) {
    CHECK(device_error(job) != "no error");
    CHECK_THROWS_AS(run(job), gdr::Error);
  }
}

TEST_CASE("an error of one queue does not affect the others") {
  gdr::Device device = gdr::Device::open("exact:threads=2,queues=2,registers=16");
  gdr::Job unfit = device.job(spring()), other = device.job(gdr::Kernel::assemble(sum_text));
  give(unfit, exact_input(5, 5));
  other.sources(3, {{"mj", std::vector<double>{1, 2, 4}}});
  other.targets(2, {{"xi", std::vector<double>{0, 0}}});
  std::vector<double> force(5), mass(2);
  unfit.start({{"force", force}});
  other.start({{"mass", mass}});
  CHECK_THROWS_AS(unfit.wait(), gdr::Error);  // its program needs more registers
  other.wait();
  CHECK(mass == std::vector<double>{7, 7});
}

TEST_CASE("host threads share the queues of a device under load") {
  gdr::Device device = gdr::Device::open("exact:chips=2,blocks=2,pes=3,threads=4,queues=2");
  const SpringInput in = exact_input(70, 90);
  const SpringResult wanted = spring_reference(in);
  constexpr std::size_t threads = 4;
  constexpr int rounds = 10;
  std::vector<int> good(threads, 0);
  std::atomic<bool> ended = false;
  std::thread reader([&] {
    while (!ended) {
      device.statistics();
      device.description();
      std::this_thread::yield();
    }
  });
  std::vector<std::thread> users;
  for (std::size_t t = 0; t < threads; ++t)
    users.emplace_back([&, t] {
      gdr::Job kept = device.job(spring());
      give(kept, in);
      std::vector<double> force(70);
      for (int round = 0; round < rounds; ++round) {
        gdr::Job job = device.job(spring());
        give(job, in);
        job.start({{"force", force}});
        const bool same = run(kept) == wanted;
        job.wait();
        good[t] += same && force == wanted.force ? 1 : 0;
      }
    });
  for (std::thread& user : users) user.join();
  ended = true;
  reader.join();
  CHECK(good == std::vector<int>(threads, rounds));
  CHECK(device.statistics().runs == 2 * threads * rounds);
}

TEST_CASE("devices that cannot have several queues say what to do instead") {
  const auto refused_name = [](const std::string& name, const gdr::DeviceOptions& options = {}) {
    return refused([&] { gdr::Device::open(name, options); });
  };
  CHECK(refused_name("board:0,queues=2") ==
        "device option queues=2: a device of kind \"board\" has one queue, only \"emulator\" may "
        "have several; open a device for each board, or write emulator:queues=N");
  CHECK(contains(refused_name("auto:queues=3"), "a device of kind \"auto\" has one queue"));
  CHECK(contains(refused_name("mpi:queues=2"), "\"mpi\" has one queue"));
  CHECK(contains(refused_name("mpi:queues=2"), "remove the option"));
  CHECK(contains(refused_name("emulator:queues=0"), "give a number from 1 to 64"));
  CHECK(contains(refused_name("emulator:queues=65"), "give a number from 1 to 64"));
  CHECK(contains(refused_name("emulator:queue=2"), "did you mean \"queues\"?"));
  gdr::DeviceOptions options;
  options.queues = 0;
  CHECK(refused_name("emulator", options) == "a device has from 1 to 64 queues, not 0");
  options.queues = 2;
  CHECK(gdr::Device::open("emulator", options).description().ends_with(", 2 queues"));
}
