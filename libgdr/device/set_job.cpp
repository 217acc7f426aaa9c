// SetJob: checks of all sets, then their computation in this thread or in the background.
#include <string>
#include <string_view>
#include <utility>

#include "emulator/host/parallel.hpp"
#include "emulator/host/stopwatch.hpp"
#include "emulator/host/thread_choice.hpp"
#include "gdr/error.hpp"
#include "gdr/sets.hpp"
#include "libgdr/device/queued_calls.hpp"
#include "libgdr/device/set_workers.hpp"

namespace gdr {
namespace {

/// Work of sets, which determines the number of threads.
struct SetWork {
  double pairs = 0, items = 0;
  explicit SetWork(std::span<const InteractionSet> sets) {
    for (const InteractionSet& set : sets) {
      std::size_t sources = 0;
      for (const SourceSegment& segment : set.sources) sources += segment.n;
      const auto ni = static_cast<double>(set.targets), nj = static_cast<double>(sources);
      pairs += ni * nj;
      items += ni + nj;
    }
  }
};

double pairs_of(const PackedSet& set) {
  return static_cast<double>(set.target_count) * static_cast<double>(set.source_count);
}

/// The call as ranks compare it: all must have the same number of sets.
std::string call_of(std::span<const InteractionSet> sets) {
  return "run of " + std::to_string(sets.size()) + " sets";
}

}  // namespace

struct SetJob::Impl {
  Impl(std::shared_ptr<DeviceCore> device, const Kernel& kernel, bool alone)
      : core(std::move(device)), job(job_data(kernel)), calls(core, alone) {
    job.alone = alone;
    if (!job.outputs_group.fields.empty())
      throw Error(ErrorCategory::Unsupported,
                  "kernel \"" + kernel.name() +
                      "\" has outputs, one for each source; use a Job for each set");
  }

  void check(std::span<const InteractionSet> sets) {
    job.images.check(job.params);
    for (std::size_t k = 0; k < sets.size(); ++k) packer.check(sets[k], k);
  }

  /// Calls task(worker, number) for every set.
  template <typename Task>
  void compute(std::size_t sets, const SetWork& size, const Task& task) {
    constexpr double pairs_of_an_item = 50, pairs_of_a_set = 20'000;
    const double units =
        size.pairs + pairs_of_an_item * size.items + pairs_of_a_set * static_cast<double>(sets);
    const unsigned threads = choice.choose(units, 0, core->threads);
    const Stopwatch timer;
    workers.run(sets, threads, task);
    choice.record(units, threads, timer.seconds() * 1e9);
  }

  /// Packs all sets into `packed`.
  void pack_all(std::span<const InteractionSet> sets) {
    if (packed.size() < sets.size()) packed.resize(sets.size());
    const auto pack = [&](SetPacker& with, std::size_t k) {
      with.pack(sets[k], k, shared, packed[k]);
    };
    const HostSpan span(core->spans, "convert sets");
    const Stopwatch timer;
    shared.convert(sets, core->threads);
    if (workers.useful_for(sets.size())) {
      constexpr double ns_of_an_item = 15;
      workers.run(sets.size(), threads_for(SetWork(sets).items * ns_of_an_item, core->threads),
                  [&](SetWorker& worker, std::size_t k) { pack(worker.packer, k); });
    } else {
      for (std::size_t k = 0; k < sets.size(); ++k) pack(packer, k);
    }
    core->add_conversion_time(timer.seconds());
  }

  /// Makes `work` compute the sets in `packed`.
  void compute_packed(std::span<const InteractionSet> sets) {
    calls.work.body = [this, n = sets.size(), size = SetWork(sets)](const std::stop_token& stop) {
      const ProgressScope progress(core->progress, size.pairs);
      if (!workers.useful_for(n)) {
        for (std::size_t k = 0; k < n; ++k) run_set(*core, job, packed[k], stop);
        return;
      }
      compute(n, size, [&](SetWorker& worker, std::size_t k) {
        worker.compute(packed[k], stop);
        core->progress.add(pairs_of(packed[k]));
      });
    };
  }

  std::shared_ptr<DeviceCore> core;
  JobData job;
  SetPacker packer{job};
  SharedSources shared{job.sources_group};
  SetWorkers workers{*core, job};
  ThreadChoice choice{0.5};       ///< units: pairs
  std::vector<PackedSet> packed;  ///< sets of a run whose inputs were copied
  QueuedCalls calls;
};

SetJob::SetJob(Device& device, const Kernel& kernel) : SetJob(device, kernel, false) {}
SetJob::SetJob(Device& device, const Kernel& kernel, bool alone)
    : SetJob(device.next_queue(), device.prepare(kernel), alone) {}
SetJob::SetJob(std::shared_ptr<DeviceCore> queue, const Kernel& kernel, bool alone)
    : impl_(std::make_unique<Impl>(std::move(queue), kernel, alone)) {}
SetJob::~SetJob() = default;
SetJob::SetJob(SetJob&&) noexcept = default;
SetJob& SetJob::operator=(SetJob&&) noexcept = default;

void SetJob::set(std::string_view name, std::span<const double> values) {
  impl_->calls.settle();
  JobData& job = impl_->job;
  impl_->calls.collectively("set", [&] { set_params(job.params_group, name, values, job.params); });
}

void SetJob::run(std::span<const InteractionSet> sets) {
  Impl& impl = *impl_;
  impl.calls.settle();
  impl.calls.collectively(call_of(sets), [&] { impl.check(sets); });
  if (impl.workers.useful_for(sets.size())) {
    impl.calls.work.body = [&](const std::stop_token& stop) {
      const Stopwatch conversion;
      impl.shared.convert(sets, impl.core->threads);
      impl.core->add_conversion_time(conversion.seconds());
      const SetWork size(sets);
      const ProgressScope progress(impl.core->progress, size.pairs);
      impl.compute(sets.size(), size, [&](SetWorker& worker, std::size_t k) {
        const Stopwatch timer;
        worker.packer.pack(sets[k], k, impl.shared, worker.set);
        worker.core.add_conversion_time(timer.seconds());
        worker.compute(worker.set, stop);
        impl.core->progress.add(pairs_of(worker.set));
      });
    };
  } else {
    impl.calls.collectively(call_of(sets), [&] { impl.pack_all(sets); });
    impl.compute_packed(sets);
  }
  impl.calls.run();
}

void SetJob::start(std::span<const InteractionSet> sets) {
  Impl& impl = *impl_;
  impl.calls.settle();
  impl.calls.collectively(call_of(sets), [&] {
    impl.check(sets);
    impl.pack_all(sets);
  });
  impl.compute_packed(sets);
  impl.calls.start();
}

bool SetJob::ready() const { return impl_->calls.ready(); }
void SetJob::wait() { impl_->calls.settle(); }

}  // namespace gdr
