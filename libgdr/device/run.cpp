// One run of a job on all boards, and what it adds to the statistics.
#include <algorithm>
#include <chrono>

#include "libgdr/device/board_run.hpp"
#include "libgdr/device/core.hpp"

namespace gdr {
namespace {

/// Boards work side by side: the slowest counts for clocks and time, all of them for bytes.
WorkCounts combined(const std::vector<BoardSlot>& boards) {
  WorkCounts all;
  for (const BoardSlot& slot : boards) {
    const WorkCounts& c = slot.board.counts();
    all.compute_clocks = std::max(all.compute_clocks, c.compute_clocks);
    all.chip_clocks = std::max(all.chip_clocks, c.chip_clocks);
    all.predicted_seconds = std::max(all.predicted_seconds, c.predicted_seconds);
    all.link_write_bytes += c.link_write_bytes;
    all.link_read_bytes += c.link_read_bytes;
  }
  return all;
}

/// All boards' engines together.
EngineWork engine_work(const std::vector<BoardSlot>& boards) {
  EngineWork all;
  for (const BoardSlot& slot : boards) {
    const EngineWork work = slot.board.engine_work();
    all.fast_runs += work.fast_runs;
    all.slow_runs += work.slow_runs;
    all.compile_seconds += work.compile_seconds;
    if (all.reason.empty()) all.reason = work.reason;
  }
  return all;
}

/// Adds what a run counted when it goes out of scope, however it ends.
class Account {
 public:
  Account(DeviceCore& device, const JobData& job)
      : device_(device), job_(job), before_(engine_work(device.boards)) {
    for (BoardSlot& slot : device.boards) slot.board.reset_counts();
  }
  Account(const Account&) = delete;
  Account& operator=(const Account&) = delete;
  ~Account() {
    const std::chrono::duration<double> spent = std::chrono::steady_clock::now() - begin_;
    const WorkCounts counts = combined(device_.boards);
    const std::scoped_lock lock(device_.counters);
    Statistics& s = device_.statistics;
    s.compute_clocks += counts.compute_clocks;
    s.chip_clocks += counts.chip_clocks;
    s.bytes_to_board += counts.link_write_bytes;
    s.bytes_from_board += counts.link_read_bytes;
    s.predicted_seconds += counts.predicted_seconds;
    s.host_seconds += spent.count();
    const EngineWork work = engine_work(device_.boards);
    s.fast_runs += work.fast_runs - before_.fast_runs;
    s.slow_runs += work.slow_runs - before_.slow_runs;
    s.compile_seconds += work.compile_seconds - before_.compile_seconds;
    s.slow_reason = work.reason;
    if (!done) return;
    const std::uint64_t pairs = std::uint64_t{job_.target_count} * job_.sources.count();
    ++s.runs;
    s.interactions += pairs;
    s.flops += static_cast<double>(pairs) * job_.kernel.flops_per_interaction();
  }

  bool done = false;  ///< the run came to its end

 private:
  DeviceCore& device_;
  const JobData& job_;
  EngineWork before_;
  std::chrono::steady_clock::time_point begin_ = std::chrono::steady_clock::now();
};

/// All batches of targets on as many boards as they need.
void run_boards(DeviceCore& device, JobData& job, const std::atomic<bool>& abandoned) {
  const std::size_t n = job.target_count;
  const Share share =
      choose_share(job.cost, device.geometry, device.sharing, n, job.sources.count());
  const std::size_t slots = board_slots(job.cost, device.geometry, share);
  const std::size_t batches = (n + slots - 1) / slots;
  // More boards than batches would only send the same sources to more memories. Boards take whole
  // batches, the same ones whatever their number: outputs are joined batch by batch.
  const std::size_t boards = std::min(batches, device.boards.size());
  const std::size_t part = (batches + boards - 1) / boards * slots;
  Account account(device, job);
  for (std::size_t b = 0; b * part < n; ++b)
    BoardRun(device, device.boards[b], job, share, abandoned)
        .run(b * part, std::min(part, n - b * part));
  account.done = true;
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
