// One run of a job: cut into parts, the parts on all boards, and what it adds to the statistics.
#include <algorithm>
#include <atomic>
#include <exception>
#include <optional>
#include <string>

#include "libgdr/device/account.hpp"
#include "libgdr/device/board_run.hpp"
#include "libgdr/device/core.hpp"
#include "libgdr/device/side_by_side.hpp"
#include "libgdr/device/slices.hpp"
#include "libgdr/driver/access.hpp"

namespace gdr {
namespace {

/// Batches that a board is given, and what became of them.
struct BoardShare {
  BoardSlot* slot = nullptr;
  IndexRange batches;
  std::exception_ptr error = {};
  std::string lost = {};  ///< why its board was
};

std::vector<BoardShare> assign(const std::vector<BoardSlot*>& boards, IndexRange range) {
  std::vector<BoardShare> shares;
  for (const IndexRange& batches : divide_batches(range, boards.size()))
    shares.push_back({boards[shares.size()], batches});
  return shares;
}

/// A part of a job on the boards of this process. Boards take whole batches of targets, the same
/// ones whatever their number, so that results are too.
class PartRun {
 public:
  PartRun(DeviceCore& device, JobData& job, const JobPart& part, const std::stop_token& stop)
      : device_(device),
        job_(job),
        part_(part),
        stop_(stop),
        slots_(board_slots(job.cost, device.geometry, part.share)) {}

  /// Until every batch was done by some board.
  void run() {
    const IndexRange all{0, (part_.targets.count + slots_ - 1) / slots_};
    // Output items are joined batch by batch: what boards do is done in that order, and again from
    // the beginning if one is lost.
    const bool in_order = job_.outputs_group.words > 0;
    std::optional<OutputJoin> before;
    std::vector<IndexRange> left{all};
    while (!left.empty()) {
      std::vector<BoardShare> shares = assign(device_.usable(), left.back());
      left.pop_back();
      const bool elsewhere = shares.front().slot->board->is_remote();
      if (in_order && elsewhere && !before) before = job_.output_items;
      const bool together = !in_order && shares.size() > 1 && elsewhere;
      if (together)
        side_by_side(shares.size(), [&](std::size_t s) { work(shares[s]); });
      else
        in_turns(shares);
      for (const BoardShare& share : shares) {
        if (share.lost.empty()) continue;
        device_.fail(*share.slot, share.lost);
        left.push_back(share.batches);
      }
      for (const BoardShare& share : shares)
        if (share.error) std::rethrow_exception(share.error);
      if (!in_order || left.empty()) continue;
      job_.output_items = *before;
      left = {all};
    }
  }

  double conversion_seconds() const noexcept { return converted_; }

 private:
  void work(BoardShare& share) noexcept {
    const std::size_t first = share.batches.first * slots_;
    const std::size_t n = std::min(share.batches.count * slots_, part_.targets.count - first);
    try {
      BoardRun board(device_, *share.slot, job_, part_, stop_);
      board.run(part_.targets.first + first, n);
      converted_ += board.conversion_seconds();
    } catch (const driver::BoardFailure& e) {
      share.lost = e.what();
    } catch (...) {
      share.error = std::current_exception();
    }
  }

  /// Ends where one fails: what comes after it would be done in vain, or again.
  void in_turns(std::vector<BoardShare>& shares) {
    for (BoardShare& share : shares) {
      work(share);
      if (share.error) return;
    }
  }

  DeviceCore& device_;
  JobData& job_;
  const JobPart& part_;
  const std::stop_token& stop_;
  const std::size_t slots_;
  std::atomic<double> converted_ = 0;
};

/// All of a job on this process's boards.
void run_here(DeviceCore& device, JobData& job, const std::stop_token& stop) {
  const std::size_t n = job.target_count, sources = job.sources.count();
  const JobCut cut = cut_job(job.cost, device.geometry, device.partition, n, sources);
  job.slices = slices_of(cut, job.cost.group, sources);
  Account account(device);
  if (cut.slices == 1) {
    run_part(device, job, {cut.share, 0, {0, n}}, account, stop);
  } else {
    const SliceJoin join(job.kernel.program());
    std::vector<std::uint64_t> raw(cut.slices * n * join.raw_words()), records;
    for (std::size_t s = 0; s < cut.slices; ++s)
      run_part(device, job, {cut.share, s, {0, n}, raw.data() + s * n * join.raw_words(), true},
               account, stop);
    join.join(cut.slices, n, raw, records);
    unpack(job.results_group, job.results, 0, n, records.data(), device.job_threads());
  }
  const std::uint64_t pairs = std::uint64_t{n} * sources;
  account.done(pairs, static_cast<double>(pairs) * job.kernel.flops_per_interaction());
}

}  // namespace

/// More boards than batches would only send the same sources to more memories.
std::vector<IndexRange> divide_batches(IndexRange batches, std::size_t boards) {
  std::vector<IndexRange> parts;
  const std::size_t used = std::max<std::size_t>(1, std::min(batches.count, boards));
  const std::size_t each = (batches.count + used - 1) / used;
  for (std::size_t done = 0; done < batches.count; done += each)
    parts.push_back({batches.first + done, std::min(each, batches.count - done)});
  return parts;
}

void run_part(DeviceCore& device, JobData& job, const JobPart& part, Account& account,
              const std::stop_token& stop) {
  if (part.targets.count == 0) return;
  PartRun run(device, job, part, stop);
  run.run();
  account.converted(run.conversion_seconds());
}

void run_job(DeviceCore& device, JobData& job, const std::stop_token& stop) {
  if (device.ranks) return device.ranks->run(device, job, stop);
  job.wants_outputs = !job.outputs.empty();
  if (job.outputs_group.words > 0) {
    job.output_items = OutputJoin(job.kernel.program());
    job.output_items.begin(job.outputs.empty() ? 0 : job.sources.count());
  }
  if (job.target_count > 0) run_here(device, job, stop);
  unpack(job.outputs_group, job.outputs, 0, job.outputs.empty() ? 0 : job.sources.count(),
         job.output_items.words(), device.job_threads());
}

}  // namespace gdr
