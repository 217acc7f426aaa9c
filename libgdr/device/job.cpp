// Jobs: conversion of the user's arrays, and runs in this thread or in the background: partition
// into parts, execution on all boards, statistics.
#include <algorithm>
#include <atomic>
#include <functional>
#include <memory>
#include <optional>
#include <utility>

#include "emulator/host/parallel.hpp"
#include "emulator/host/stopwatch.hpp"
#include "emulator/host/thread_choice.hpp"
#include "gdr/error.hpp"
#include "libgdr/device/core.hpp"
#include "libgdr/device/partition.hpp"
#include "libgdr/device/queued_calls.hpp"

namespace gdr {
namespace {

/// Whether slices of the sources cannot be joined in words of the network. Engines among doubles
/// execute the program in longs, in which a minimum and its index are two results; in the words of
/// the kernel's own program the key would be a short.
bool needs_all_sources(DeviceCore& device, const JobData& job) {
  const Program& program = job.kernel.program();
  return device.computes_in_doubles() && !program.in_longs.empty() &&
         !reduces_alike(program, program.in_longs.front());
}

/// Runs a whole job on the boards of this process.
void run_locally(DeviceCore& device, JobData& job, const std::stop_token& stop) {
  const std::size_t n = job.target_count, sources = job.sources.count();
  const JobPartition partition = partition_of(device, job, n, sources);
  slice_ranges(partition, job.cost.group, sources, job.slices);
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

JobPartition partition_of(DeviceCore& device, const JobData& job, std::size_t targets,
                          std::size_t sources) {
  JobPartition partition =
      partition_job(job.cost, device.geometry, device.partition, targets, sources);
  if (needs_all_sources(device, job)) {
    partition.slices = 1;
  } else if (!device.engine.exact() && may_slice(job.cost)) {
    const std::size_t at_once = sources_at_once(job.cost, device.geometry, partition.partition, 0);
    while (at_once != 0 && slice_range(partition, job.cost.group, sources, 0).count > at_once)
      partition.slices *= 2;
  }
  return partition;
}

// Using more boards than batches would only send the sources to more memories.
std::vector<IndexRange> divide_batches(IndexRange batches, std::size_t boards) {
  std::vector<IndexRange> parts;
  const std::size_t used = std::max<std::size_t>(1, std::min(batches.count, boards));
  const std::size_t each = (batches.count + used - 1) / used;
  for (std::size_t done = 0; done < batches.count; done += each)
    parts.push_back({batches.first + done, std::min(each, batches.count - done)});
  return parts;
}

// Boards compute whole batches of targets, which do not depend on the number of boards, so the
// results do not either.
void run_part(DeviceCore& device, JobData& job, const JobPart& part, StatisticsScope& scope,
              const std::stop_token& stop) {
  if (part.targets.count == 0) return;
  const std::size_t slots = board_slots(job.cost, device.geometry, part.partition);
  const IndexRange all{0, (part.targets.count + slots - 1) / slots};
  // Output items are reduced in the order of the batches: boards work in that order, and start
  // again if one fails.
  const bool in_order = job.outputs_group.words > 0;
  std::optional<OutputReduction> before;
  std::vector<IndexRange> left{all};
  std::atomic<double> conversion_seconds = 0;
  while (!left.empty()) {
    std::vector<BoardSlot*> boards = device.usable();
    const std::vector<IndexRange> batches = divide_batches(left.back(), boards.size());
    left.pop_back();
    boards.resize(batches.size());
    if (in_order && boards.front()->board->is_remote() && !before) before = job.output_items;
    const auto targets_of = [&](std::size_t k) {
      const std::size_t first = batches[k].first * slots;
      const std::size_t n = std::min(batches[k].count * slots, part.targets.count - first);
      return IndexRange{part.targets.first + first, n};
    };
    std::vector<std::unique_ptr<BoardWork>> works;
    const auto start = [&](std::size_t k) {
      works[k] = work_on_board(device, *boards[k], job, part, targets_of(k), stop);
      works[k]->start();
    };
    std::vector<std::size_t> failed;
    const auto finish = [&](std::size_t k) {
      if (std::ranges::find(failed, k) == failed.end()) conversion_seconds += works[k]->finish();
    };
    const auto do_all = [&](std::size_t k) {
      conversion_seconds += run_on_board(device, *boards[k], job, part, targets_of(k), stop);
    };
    // Boards in this process compute what was started on all of them together.
    const bool together = boards.size() > 1 && !in_order && !boards.front()->board->is_remote() &&
                          boards.front()->board->lists_ahead() > 0;
    if (together) {
      works.resize(boards.size());
      failed = device.run_on_boards(boards, in_order, start);
      const std::vector<std::size_t> more = device.run_on_boards(boards, in_order, finish);
      failed.insert(failed.end(), more.begin(), more.end());
    } else {
      failed = device.run_on_boards(boards, in_order, do_all);
    }
    for (const std::size_t board : failed) left.push_back(batches[board]);
    if (!in_order || left.empty()) continue;
    job.output_items = *before;
    left = {all};
  }
  scope.add_conversion_time(conversion_seconds);
}

void run_job(DeviceCore& device, JobData& job, const std::stop_token& stop) {
  const HostSpan span(device.spans, "run");
  if (device.ranks && !job.alone) return device.ranks->run(device, job, stop);
  const ProgressScope progress(device.progress, static_cast<double>(job.target_count) *
                                                    static_cast<double>(job.sources.count()));
  job.fetch_outputs = !job.outputs.empty();
  if (job.outputs_group.words > 0) {
    job.output_items = OutputReduction(job.kernel.program());
    job.output_items.begin(job.outputs.empty() ? 0 : job.sources.count());
  }
  if (job.target_count > 0) run_locally(device, job, stop);
  unpack(job.outputs_group, job.outputs, 0, job.outputs.empty() ? 0 : job.sources.count(),
         job.output_items.words(), device.job_threads());
}

JobData job_data(const Kernel& kernel) {
  const Program& p = kernel.program();
  JobData data{.kernel = kernel,
               .cost = kernel_cost(p),
               .targets_group = link_group(p, VarKind::Target),
               .sources_group = link_group(p, VarKind::Source),
               .results_group = link_group(p, VarKind::Result),
               .outputs_group = link_group(p, VarKind::Output),
               .params_group = link_group(p, VarKind::Param),
               .images = ImageCheck(kernel)};
  data.params.assign(2 * data.params_group.fields.size(), 0);
  return data;
}

struct Job::Impl {
  Impl(std::shared_ptr<DeviceCore> device, const Kernel& k)
      : core(std::move(device)),
        data(job_data(k)),
        sources(data.sources_group),
        targets(data.targets_group),
        calls(core) {
    calls.work.body = [this](const std::stop_token& stop) { run_job(*core, data, stop); };
  }

  /// Checks a run, and binds its result arrays.
  void bind(std::span<const NamedResult> results) {
    data.images.check(data.params);
    if (data.outputs_group.fields.empty() &&
        rebind_results(data.results_group, data.target_count, results, data.results))
      return;
    // All names but those of outputs are results, including unknown ones, for the error message.
    const auto is_output = [&](const NamedResult& r) {
      return has_fields(data.outputs_group, r.name);
    };
    std::vector<NamedResult> wanted(results.begin(), results.end());
    const auto outputs =
        std::stable_partition(wanted.begin(), wanted.end(), std::not_fn(is_output));
    bind_results(data.results_group, data.target_count, {wanted.begin(), outputs}, data.results);
    bind_results(data.outputs_group, data.sources.count(), {outputs, wanted.end()}, data.outputs);
  }

  /// Checks and packs the arrays of all variables, and adds the time to the statistics.
  void pack_all(const LinkGroup& group, InputPacker& packer, std::size_t n,
                std::span<const NamedInput> arrays, LinkWords& words, const FillArrays& fill = {}) {
    packer.check(n, arrays);
    const HostSpan span(core->spans,
                        &group == &data.targets_group ? "convert targets" : "convert sources");
    const Stopwatch timer;
    words.resize(n * group.words);
    packer.pack({n}, arrays, words.data(), core->job_threads(), fill);
    core->add_conversion_time(timer.seconds());
  }

  /// Packs the arrays of some variables, and adds the time to the statistics.
  void pack_inputs(const LinkGroup& group, std::size_t n, std::span<const NamedInput> arrays,
                   LinkWords& words) {
    const HostSpan span(core->spans, "convert sources");
    const Stopwatch timer;
    pack(group, n, arrays, false, words, core->job_threads());
    core->add_conversion_time(timer.seconds());
  }

  std::shared_ptr<DeviceCore> core;
  JobData data;
  InputPacker sources, targets;
  QueuedCalls calls;
};

Job Device::job(const Kernel& kernel) {
  return Job(std::make_unique<Job::Impl>(next_queue(), prepare(kernel)));
}

Job::Job(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
Job::~Job() = default;
Job::Job(Job&&) noexcept = default;
Job& Job::operator=(Job&&) noexcept = default;

void Job::set(std::string_view name, std::span<const double> values) {
  impl_->calls.settle();
  JobData& d = impl_->data;
  impl_->calls.collectively("set", [&] { set_params(d.params_group, name, values, d.params); });
}

void Job::sources(std::size_t n, std::span<const NamedInput> arrays) {
  fill_sources(n, arrays, {});
}

void Job::fill_sources(std::size_t n, std::span<const NamedInput> arrays,
                       const std::function<void(std::size_t, std::size_t)>& fill) {
  impl_->calls.settle();
  JobData& d = impl_->data;
  impl_->calls.collectively("sources", [&] {
    check_count(n, d.sources_group.words, "sources");
    impl_->pack_all(d.sources_group, impl_->sources, n, arrays, d.new_sources, fill);
  });
  d.sources.replace(n, d.sources_group.words, d.new_sources);
}

void Job::update_sources(std::size_t first, std::size_t n, std::span<const NamedInput> arrays) {
  impl_->calls.settle();
  JobData& d = impl_->data;
  impl_->calls.collectively("update_sources", [&] {
    const std::size_t have = d.sources.count();
    if (first > have || n > have - first)
      throw Error(ErrorCategory::Usage,
                  "sources " + std::to_string(first) + " to " + std::to_string(first + n) +
                      " exceed the number of sources, " + std::to_string(have) +
                      "; use sources() to replace all");
    check_inputs(d.sources_group, n, arrays, false);
    // Variables without an array keep their values.
    const std::uint64_t* const old = d.sources.words().data() + first * d.sources_group.words;
    d.new_sources.assign(old, old + n * d.sources_group.words);
    impl_->pack_inputs(d.sources_group, n, arrays, d.new_sources);
  });
  d.sources.update({first, n}, d.new_sources.data());
}

void Job::update_sources(std::span<const std::int32_t> places, std::span<const NamedInput> arrays) {
  impl_->calls.settle();
  JobData& d = impl_->data;
  impl_->calls.collectively("update_sources", [&] {
    const std::size_t have = d.sources.count(), words = d.sources_group.words;
    for (std::size_t k = 0; k < places.size(); ++k)
      if (places[k] < 0 || static_cast<std::size_t>(places[k]) >= have)
        throw Error(ErrorCategory::Usage, "places[" + std::to_string(k) + "] is " +
                                              std::to_string(places[k]) + ", but the job has " +
                                              std::to_string(have) + " sources");
    check_inputs(d.sources_group, places.size(), arrays, false);
    // Variables without an array keep their values.
    d.new_sources.resize(places.size() * words);
    for (std::size_t k = 0; k < places.size(); ++k)
      std::copy_n(d.sources.words().data() + static_cast<std::size_t>(places[k]) * words, words,
                  d.new_sources.data() + k * words);
    impl_->pack_inputs(d.sources_group, places.size(), arrays, d.new_sources);
  });
  d.sources.update(places, d.new_sources.data());
}

void Job::targets(std::size_t n, std::span<const NamedInput> arrays) {
  impl_->calls.settle();
  JobData& d = impl_->data;
  impl_->calls.collectively("targets", [&] {
    check_count(n, d.targets_group.words, "targets");
    impl_->pack_all(d.targets_group, impl_->targets, n, arrays, d.new_targets);
  });
  d.targets.swap(d.new_targets);
  d.target_count = n;
}

void Job::run(std::span<const NamedResult> results) {
  impl_->calls.settle();
  impl_->calls.collectively("run", [&] { impl_->bind(results); });
  impl_->calls.run();
}

void Job::start(std::span<const NamedResult> results) {
  impl_->calls.settle();
  impl_->calls.collectively("start", [&] { impl_->bind(results); });
  impl_->calls.start();
}

bool Job::ready() const { return impl_->calls.ready(); }
void Job::wait() { impl_->calls.settle(); }

std::size_t Job::target_count() const noexcept { return impl_->data.target_count; }
std::size_t Job::source_count() const noexcept { return impl_->data.sources.count(); }

}  // namespace gdr
