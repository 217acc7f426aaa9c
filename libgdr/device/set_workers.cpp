#include "libgdr/device/set_workers.hpp"

#include <atomic>
#include <exception>
#include <mutex>
#include <utility>

#include "emulator/engine/api/engine.hpp"
#include "emulator/host/parallel.hpp"
#include "emulator/host/stopwatch.hpp"

namespace gdr {
void run_set(DeviceCore& device, JobData& job, PackedSet& set, const std::stop_token& stop) {
  job.target_count = set.target_count;
  job.targets.swap(set.targets);
  job.sources.replace(set.source_count, job.sources_group.words, set.sources);
  job.results.swap(set.results);
  run_job(device, job, stop);
}

SetWorker::SetWorker(DeviceCore& device, const Kernel& kernel) : job(job_data(kernel)) {
  std::string isa;
  {
    const std::scoped_lock lock(device.counters);
    core.statistics.engine = device.statistics.engine;
    isa = device.statistics.isa;
  }
  core.geometry = device.geometry;
  core.engine = device.engine;
  core.partition = device.partition;
  core.boards.push_back(
      {emulate_board(core.geometry, make_engine(core.statistics.engine, isa), 1)});
}

void SetWorker::compute(PackedSet& packed, const std::stop_token& stop) {
  run_set(core, job, packed, stop);
}

bool SetWorkers::useful_for(std::size_t sets) const {
  return sets >= device_.threads && (!device_.ranks || job_.alone) && !device_.needs_schedule() &&
         !device_.preserve_chip_state && device_.boards.front().board->emulated() != nullptr;
}

void SetWorkers::prepare(unsigned threads) {
  while (workers_.size() < threads)
    workers_.push_back(std::make_unique<SetWorker>(device_, job_.kernel));
  for (const std::unique_ptr<SetWorker>& worker : workers_) worker->job.params = job_.params;
}

void SetWorkers::run(std::size_t sets, unsigned threads,
                     const std::function<void(SetWorker&, std::size_t)>& task) {
  const Stopwatch timer;
  prepare(threads);
  std::atomic<std::size_t> first_failed = sets;
  std::exception_ptr error;
  std::mutex mutex;
  // Sets before a failed one are computed, so that the error does not depend on the threads.
  parallel_for(sets, threads - 1, [&](unsigned slot, std::size_t k) {
    if (k > first_failed) return;
    try {
      task(*workers_[slot], k);
    } catch (...) {
      const std::scoped_lock lock(mutex);
      if (k > first_failed) return;
      first_failed = k;
      error = std::current_exception();
    }
  });
  collect_statistics(timer.seconds());
  if (error) std::rethrow_exception(error);
}

void SetWorkers::collect_statistics(double seconds) {
  const std::scoped_lock lock(device_.counters);
  device_.statistics.fallback_reason.clear();
  for (const std::unique_ptr<SetWorker>& worker : workers_) {
    Statistics& s = worker->core.statistics;
    Statistics fresh;
    fresh.engine = s.engine;
    add_counters(device_.statistics, std::exchange(s, std::move(fresh)));
  }
  device_.statistics.host_seconds += seconds;
}

}  // namespace gdr
