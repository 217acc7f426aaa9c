// One run of a job on all boards, and what it adds to the statistics.
#include <algorithm>

#include "libgdr/device/account.hpp"
#include "libgdr/device/board_run.hpp"
#include "libgdr/device/core.hpp"

namespace gdr {
namespace {

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
  Account account(device);
  for (std::size_t b = 0; b * part < n; ++b)
    BoardRun(device, device.boards[b], job, share, abandoned)
        .run(b * part, std::min(part, n - b * part));
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
