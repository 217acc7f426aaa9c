// Transfer of sources overlapped with work of the boards: which transfers the boards wait for,
// order of blocks, errors. Transfers progress by polls, not by time, so that other load does not
// matter.
#include "libgdr/ranks/source_pipeline.hpp"

#include <array>
#include <atomic>
#include <chrono>
#include <thread>

#include "gdr/ranks.hpp"
#include "support/catch.hpp"
#include "support/environment_variable.hpp"

using namespace gdr;

namespace {

constexpr std::size_t blocks = 6;
constexpr int polls_needed = 20;
constexpr std::chrono::microseconds between_polls{200};

/// Six transfers.
struct Transfers {
  std::array<std::atomic<bool>, blocks> complete = {};
  std::vector<std::size_t> order;  ///< blocks, as their transfers began
  unsigned waits = 0;              ///< number of blocks that were waited for
  double waiting = 0;              ///< seconds within these waits
};

/// A transfer that progresses only when it is polled, like those of most MPIs.
class Polled final : public RankPending {
 public:
  Polled(Transfers& all, std::size_t block) : all_(all), block_(block) {
    all.order.push_back(block);
  }

  bool test() override {
    if (++polls_ < polls_needed) return false;
    all_.complete[block_] = true;
    return true;
  }
  void wait() override {
    const Stopwatch stopwatch;
    ++all_.waits;
    while (!test()) std::this_thread::sleep_for(between_polls);
    all_.waiting += stopwatch.seconds();
  }

 private:
  Transfers& all_;
  const std::size_t block_;
  int polls_ = 0;
};

class Lost final : public RankPending {
 public:
  explicit Lost(std::atomic<bool>& polled) : polled_(polled) {}
  bool test() override {
    polled_ = true;
    throw RankFailure("rank 1 has ended");
  }
  void wait() override { test(); }

 private:
  std::atomic<bool>& polled_;
};

/// Returns once the flag is set; without an end if nothing sets it.
void until(const std::atomic<bool>& flag) {
  while (!flag) std::this_thread::sleep_for(between_polls);
}

/// Six blocks of ten sources. `overlap`: boards work on a block until the next one has arrived.
unsigned waits_of(bool thread, bool overlap) {
  const test::EnvironmentVariable variable("GDR_MPI_OVERLAP", overlap ? "1" : "0");
  Transfers transfers;
  double working = 0;
  const Stopwatch all;
  SourcePipeline arrivals;
  for (std::size_t k = 0; k < blocks; ++k)
    arrivals.add({10 * k, 10}, 1U << 20,
                 [&transfers, k] { return std::make_unique<Polled>(transfers, k); });
  arrivals.begin(thread);
  for (std::size_t k = 0; k < blocks; ++k) {
    arrivals.wait_for({10 * k, 10});
    CHECK(transfers.complete[k]);
    const Stopwatch work;
    if (thread && k + 1 < blocks) until(transfers.complete[k + 1]);
    std::this_thread::sleep_for(between_polls);
    working += work.seconds();
  }
  arrivals.finish();
  CHECK(transfers.order == std::vector<std::size_t>{0, 1, 2, 3, 4, 5});
  CHECK(arrivals.waiting_seconds() >= transfers.waiting);
  CHECK(arrivals.waiting_seconds() <= all.seconds() - working);
  CHECK(arrivals.seconds() >= transfers.waiting / blocks);
  CHECK(arrivals.seconds() <= all.seconds());
  return transfers.waits;
}

}  // namespace

TEST_CASE("the transfer of all blocks but the first is overlapped with work") {
  CHECK(waits_of(true, true) == 1);
  // Without a progress thread, transfers progress only in the calls that wait for them.
  CHECK(waits_of(false, true) == blocks);
  CHECK(waits_of(true, false) == blocks);
}

TEST_CASE("a rank failure found by the progress thread is thrown where sources are awaited") {
  Transfers transfers;
  std::atomic<bool> polled = false;
  SourcePipeline arrivals;
  arrivals.add({0, 10}, 1U << 20, [&] { return std::make_unique<Polled>(transfers, 0); });
  arrivals.add({10, 10}, 1U << 20, [&] { return std::make_unique<Lost>(polled); });
  arrivals.begin(true);
  until(polled);
  CHECK_THROWS_AS(arrivals.wait_for({10, 10}), RankFailure);
  CHECK_THROWS_AS(arrivals.finish(), RankFailure);
}

TEST_CASE("an empty transfer completes immediately") {
  SourcePipeline arrivals;
  arrivals.begin(true);
  arrivals.wait_for({0, 10});
  arrivals.finish();
  CHECK(arrivals.seconds() == 0);
}
