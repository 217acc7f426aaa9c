// One run of a job on all boards, and what it adds to the statistics.
#include <algorithm>
#include <atomic>
#include <exception>
#include <string>
#include <thread>

#include "libgdr/device/account.hpp"
#include "libgdr/device/board_run.hpp"
#include "libgdr/device/core.hpp"
#include "libgdr/driver/access.hpp"

namespace gdr {
namespace {

/// Whole batches of targets: the same ones whatever the number of boards, so that results are too.
struct Batches {
  std::size_t targets, slots;
  std::size_t count() const { return (targets + slots - 1) / slots; }
};

/// What a board is given, and what became of it.
struct Part {
  BoardSlot* slot = nullptr;
  IndexRange batches;
  std::exception_ptr error = {};
  std::string lost = {};  ///< why its board was
};

/// Batches dealt out to as many boards as they need: more than batches would only send the same
/// sources to more memories.
std::vector<Part> deal(const std::vector<BoardSlot*>& boards, IndexRange range) {
  std::vector<Part> parts;
  const std::size_t used = std::min(range.count, boards.size());
  const std::size_t each = (range.count + used - 1) / used;
  for (std::size_t b = 0; b * each < range.count; ++b)
    parts.push_back({boards[b], {range.first + b * each, std::min(each, range.count - b * each)}});
  return parts;
}

class Run {
 public:
  Run(DeviceCore& device, JobData& job, const std::atomic<bool>& abandoned)
      : device_(device),
        job_(job),
        abandoned_(abandoned),
        share_(choose_share(job.cost, device.geometry, device.sharing, job.target_count,
                            job.sources.count())),
        batches_{job.target_count, board_slots(job.cost, device.geometry, share_)} {}

  /// Until every batch was done by some board.
  void run() {
    std::vector<IndexRange> left{{0, batches_.count()}};
    while (!left.empty()) {
      // Output items are joined batch by batch: what boards do is done in that order, and again
      // from the beginning if one is lost.
      const bool in_order = job_.outputs_group.words > 0;
      if (in_order) {
        begin_outputs();
        left = {{0, batches_.count()}};
      }
      std::vector<Part> parts = deal(device_.usable(), left.back());
      left.pop_back();
      const bool together = !in_order && parts.size() > 1 && parts.front().slot->board->elsewhere();
      together ? side_by_side(parts) : in_turns(parts);
      for (const Part& part : parts) {
        if (part.lost.empty()) continue;
        device_.lose(*part.slot, part.lost);
        left.push_back(part.batches);
      }
      for (const Part& part : parts)
        if (part.error) std::rethrow_exception(part.error);
    }
  }

  double conversion_seconds() const noexcept { return converted_; }

 private:
  void begin_outputs() {
    job_.output_items = OutputJoin(job_.kernel.program());
    job_.output_items.begin(job_.outputs.empty() ? 0 : job_.sources.count());
  }

  void work(Part& part) noexcept {
    const std::size_t first = part.batches.first * batches_.slots;
    const std::size_t end =
        std::min((part.batches.first + part.batches.count) * batches_.slots, batches_.targets);
    try {
      BoardRun board(device_, *part.slot, job_, share_, abandoned_);
      board.run(first, end - first);
      converted_ += board.conversion_seconds();
    } catch (const driver::BoardLost& e) {
      part.lost = e.what();
    } catch (...) {
      part.error = std::current_exception();
    }
  }

  void in_turns(std::vector<Part>& parts) {
    for (Part& part : parts) {
      work(part);
      if (part.error) return;
    }
  }

  /// A thread for each board but the first, whose work this one does.
  void side_by_side(std::vector<Part>& parts) {
    std::vector<std::thread> threads;
    for (std::size_t p = 1; p < parts.size(); ++p)
      threads.emplace_back([this, &part = parts[p]] { work(part); });
    work(parts.front());
    for (std::thread& thread : threads) thread.join();
  }

  DeviceCore& device_;
  JobData& job_;
  const std::atomic<bool>& abandoned_;
  const Share share_;
  const Batches batches_;
  std::atomic<double> converted_ = 0;
};

void run_boards(DeviceCore& device, JobData& job, const std::atomic<bool>& abandoned) {
  Account account(device);
  Run run(device, job, abandoned);
  run.run();
  account.converted(run.conversion_seconds());
  const std::uint64_t pairs = std::uint64_t{job.target_count} * job.sources.count();
  account.done(pairs, static_cast<double>(pairs) * job.kernel.flops_per_interaction());
}

}  // namespace

void run_job(DeviceCore& device, JobData& job, const std::atomic<bool>& abandoned) {
  if (job.outputs_group.words > 0) {
    job.output_items = OutputJoin(job.kernel.program());
    job.output_items.begin(job.outputs.empty() ? 0 : job.sources.count());
  }
  if (job.target_count > 0) run_boards(device, job, abandoned);
  unpack(job.outputs_group, job.outputs, 0, job.outputs.empty() ? 0 : job.sources.count(),
         job.output_items.words(), device.threads);
}

}  // namespace gdr
