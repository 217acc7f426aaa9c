// One run of a job: cut into parts, the parts on all boards, and what it adds to the statistics.
#include <algorithm>

#include "libgdr/device/account.hpp"
#include "libgdr/device/board_run.hpp"
#include "libgdr/device/core.hpp"
#include "libgdr/device/slices.hpp"
#include "libgdr/ranks/run_ranks.hpp"

namespace gdr {
namespace {

/// All of a job on this process's boards.
void run_here(DeviceCore& device, JobData& job, const std::atomic<bool>& abandoned) {
  const std::size_t n = job.target_count, sources = job.sources.count();
  const JobCut cut = cut_job(job.cost, device.geometry, device.sharing, n, sources);
  job.slices.clear();
  for (std::size_t s = 0; s < cut.slices; ++s)
    job.slices.push_back(slice_of(cut, job.cost.group, sources, s));
  Account account(device);
  if (cut.slices == 1) {
    run_part(device, job, {cut.share, 0, {0, n}}, abandoned);
  } else {
    const SliceJoin join(job.kernel.program());
    std::vector<std::uint64_t> raw(cut.slices * n * join.raw_words()), records;
    for (std::size_t s = 0; s < cut.slices; ++s)
      run_part(device, job, {cut.share, s, {0, n}, raw.data() + s * n * join.raw_words(), true},
               abandoned);
    join.join(cut.slices, n, raw, records);
    unpack(job.results_group, job.results, 0, n, records.data(), device.threads);
  }
  const std::uint64_t pairs = std::uint64_t{n} * sources;
  account.done(pairs, static_cast<double>(pairs) * job.kernel.flops_per_interaction());
}

}  // namespace

void run_part(DeviceCore& device, JobData& job, const JobPart& part,
              const std::atomic<bool>& abandoned) {
  const std::size_t n = part.targets.count;
  if (n == 0) return;
  const std::size_t slots = board_slots(job.cost, device.geometry, part.share);
  const std::size_t batches = (n + slots - 1) / slots;
  // More boards than batches would only send the same sources to more memories. Boards take whole
  // batches, the same ones whatever their number: outputs are joined batch by batch.
  const std::size_t boards = std::min(batches, device.boards.size());
  const std::size_t each = (batches + boards - 1) / boards * slots;
  for (std::size_t b = 0; b * each < n; ++b)
    BoardRun(device, device.boards[b], job, part, abandoned)
        .run(part.targets.first + b * each, std::min(each, n - b * each));
}

void run_job(DeviceCore& device, JobData& job, const std::atomic<bool>& abandoned) {
  if (device.ranks) return run_on_ranks(device, job, abandoned);
  job.wants_outputs = !job.outputs.empty();
  if (job.outputs_group.words > 0) {
    job.output_items = OutputJoin(job.kernel.program());
    job.output_items.begin(job.outputs.empty() ? 0 : job.sources.count());
  }
  if (job.target_count > 0) run_here(device, job, abandoned);
  unpack(job.outputs_group, job.outputs, 0, job.outputs.empty() ? 0 : job.sources.count(),
         job.output_items.words(), device.threads);
}

}  // namespace gdr
