// One run of a job: partition into parts, execution on all boards, statistics.
#include <algorithm>
#include <atomic>
#include <exception>
#include <optional>
#include <string>

#include "libgdr/device/board_run.hpp"
#include "libgdr/device/concurrently.hpp"
#include "libgdr/device/core.hpp"
#include "libgdr/device/job_partition.hpp"
#include "libgdr/device/statistics_scope.hpp"
#include "libgdr/driver/access.hpp"

namespace gdr {
namespace {

/// Batches assigned to a board, and the outcome.
struct BoardAssignment {
  BoardSlot* slot = nullptr;
  IndexRange batches;
  std::exception_ptr error = {};
  std::string lost = {};  ///< why the board failed; empty: it did not
};

std::vector<BoardAssignment> assign(const std::vector<BoardSlot*>& boards, IndexRange range) {
  std::vector<BoardAssignment> assignments;
  for (const IndexRange& batches : divide_batches(range, boards.size()))
    assignments.push_back({boards[assignments.size()], batches});
  return assignments;
}

/// A part of a job on the boards of this process. Boards compute whole batches of targets, which do
/// not depend on the number of boards, so the results do not either.
class PartExecution {
 public:
  PartExecution(DeviceCore& device, JobData& job, const JobPart& part, const std::stop_token& stop)
      : device_(device),
        job_(job),
        part_(part),
        stop_(stop),
        slots_(board_slots(job.cost, device.geometry, part.partition)) {}

  /// Runs until every batch is complete.
  void run() {
    const IndexRange all{0, (part_.targets.count + slots_ - 1) / slots_};
    // Output items are reduced in the order of the batches: boards work in that order, and start
    // again if one fails.
    const bool in_order = job_.outputs_group.words > 0;
    std::optional<OutputReduction> before;
    std::vector<IndexRange> left{all};
    while (!left.empty()) {
      std::vector<BoardAssignment> assignments = assign(device_.usable(), left.back());
      left.pop_back();
      const bool elsewhere = assignments.front().slot->board->is_remote();
      if (in_order && elsewhere && !before) before = job_.output_items;
      const bool concurrent = !in_order && assignments.size() > 1 && elsewhere;
      if (concurrent)
        concurrently(assignments.size(), [&](std::size_t s) { work(assignments[s]); });
      else
        run_sequentially(assignments);
      for (const BoardAssignment& assignment : assignments) {
        if (assignment.lost.empty()) continue;
        device_.fail(*assignment.slot, assignment.lost);
        left.push_back(assignment.batches);
      }
      for (const BoardAssignment& assignment : assignments)
        if (assignment.error) std::rethrow_exception(assignment.error);
      if (!in_order || left.empty()) continue;
      job_.output_items = *before;
      left = {all};
    }
  }

  double conversion_seconds() const noexcept { return conversion_seconds_; }

 private:
  void work(BoardAssignment& assignment) noexcept {
    const std::size_t first = assignment.batches.first * slots_;
    const std::size_t n = std::min(assignment.batches.count * slots_, part_.targets.count - first);
    try {
      BoardRun board(device_, *assignment.slot, job_, part_, stop_);
      board.run(part_.targets.first + first, n);
      conversion_seconds_ += board.conversion_seconds();
    } catch (const driver::BoardFailure& e) {
      assignment.lost = e.what();
    } catch (...) {
      assignment.error = std::current_exception();
    }
  }

  /// Stops at the first error: later work would be discarded or repeated.
  void run_sequentially(std::vector<BoardAssignment>& assignments) {
    for (BoardAssignment& assignment : assignments) {
      work(assignment);
      if (assignment.error) return;
    }
  }

  DeviceCore& device_;
  JobData& job_;
  const JobPart& part_;
  const std::stop_token& stop_;
  const std::size_t slots_;
  std::atomic<double> conversion_seconds_ = 0;
};

/// Runs a whole job on the boards of this process.
void run_locally(DeviceCore& device, JobData& job, const std::stop_token& stop) {
  const std::size_t n = job.target_count, sources = job.sources.count();
  const JobPartition partition =
      partition_job(job.cost, device.geometry, device.partition, n, sources);
  job.slices = slice_ranges(partition, job.cost.group, sources);
  StatisticsScope scope(device);
  if (partition.slices == 1) {
    run_part(device, job, {partition.partition, 0, {0, n}}, scope, stop);
  } else {
    const SliceReduction join(job.kernel.program());
    std::vector<std::uint64_t> raw(partition.slices * n * join.raw_words()), records;
    for (std::size_t s = 0; s < partition.slices; ++s)
      run_part(device, job,
               {partition.partition, s, {0, n}, raw.data() + s * n * join.raw_words(), true}, scope,
               stop);
    join.join(partition.slices, n, raw, records);
    unpack(job.results_group, job.results, 0, n, records.data(), device.job_threads());
  }
  const std::uint64_t pairs = std::uint64_t{n} * sources;
  scope.complete(pairs, static_cast<double>(pairs) * job.kernel.flops_per_interaction());
}

}  // namespace

// Using more boards than batches would only send the sources to more memories.
std::vector<IndexRange> divide_batches(IndexRange batches, std::size_t boards) {
  std::vector<IndexRange> parts;
  const std::size_t used = std::max<std::size_t>(1, std::min(batches.count, boards));
  const std::size_t each = (batches.count + used - 1) / used;
  for (std::size_t done = 0; done < batches.count; done += each)
    parts.push_back({batches.first + done, std::min(each, batches.count - done)});
  return parts;
}

void run_part(DeviceCore& device, JobData& job, const JobPart& part, StatisticsScope& scope,
              const std::stop_token& stop) {
  if (part.targets.count == 0) return;
  PartExecution run(device, job, part, stop);
  run.run();
  scope.add_conversion_time(run.conversion_seconds());
}

void run_job(DeviceCore& device, JobData& job, const std::stop_token& stop) {
  if (device.ranks) return device.ranks->run(device, job, stop);
  job.fetch_outputs = !job.outputs.empty();
  if (job.outputs_group.words > 0) {
    job.output_items = OutputReduction(job.kernel.program());
    job.output_items.begin(job.outputs.empty() ? 0 : job.sources.count());
  }
  if (job.target_count > 0) run_locally(device, job, stop);
  unpack(job.outputs_group, job.outputs, 0, job.outputs.empty() ? 0 : job.sources.count(),
         job.output_items.words(), device.job_threads());
}

}  // namespace gdr
