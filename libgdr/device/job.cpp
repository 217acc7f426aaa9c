// Jobs: conversion of the user's arrays, and runs in this thread or in the background.
#include <algorithm>
#include <bit>
#include <cmath>
#include <functional>
#include <limits>
#include <utility>

#include "emulator/host/stopwatch.hpp"
#include "gdr/error.hpp"
#include "libgdr/device/job_impl.hpp"
#include "libgdr/device/names.hpp"

namespace gdr {
namespace {

[[noreturn]] void usage(const std::string& message) { throw Error(ErrorCategory::Usage, message); }

/// A double as the host bits of a param, whatever its declared type.
std::uint64_t param_bits(const LinkField& field, double value) {
  if (!std::isfinite(value))
    throw Error(ErrorCategory::Input, "param \"" + field.name + "\" must be finite");
  if (field.type == HostNumber::F64) return std::bit_cast<std::uint64_t>(value);
  if (field.type == HostNumber::F32) {
    const auto narrow = static_cast<float>(value);
    if (!std::isfinite(narrow))
      throw Error(ErrorCategory::Input, "param \"" + field.name + "\" is float32 and cannot hold " +
                                            std::to_string(value));
    return std::bit_cast<std::uint32_t>(narrow);
  }
  if (value != std::nearbyint(value) || std::abs(value) > 0x1p63 || value == 0x1p63)
    throw Error(ErrorCategory::Input,
                "param \"" + field.name + "\" takes a whole number of 64 bits");
  if (field.short_integer && (value < -0x1p35 || value >= 0x1p35))
    throw Error(ErrorCategory::Input, "param \"" + field.name + "\" has 36 bits and cannot hold " +
                                          std::to_string(static_cast<std::int64_t>(value)));
  return static_cast<std::uint64_t>(static_cast<std::int64_t>(value));
}

}  // namespace

JobData job_data(std::uint64_t number, const Kernel& kernel) {
  const Program& p = kernel.program();
  JobData data{.number = number,
               .kernel = kernel,
               .cost = kernel_cost(p),
               .targets_group = link_group(p, VarKind::Target),
               .sources_group = link_group(p, VarKind::Source),
               .results_group = link_group(p, VarKind::Result),
               .outputs_group = link_group(p, VarKind::Output),
               .params_group = link_group(p, VarKind::Param),
               .params = {},
               .targets = {},
               .sources = {},
               .results = {},
               .outputs = {}};
  data.params.assign(2 * data.params_group.fields.size(), 0);
  return data;
}

Job::Impl::Impl(std::shared_ptr<DeviceCore> device, const Kernel& k)
    : core(std::move(device)), data(job_data(++core->jobs, k)) {
  work.body = [this](const std::stop_token& stop) { run_job(*core, data, stop); };
  if (core->ranks) rank_job = core->ranks->add_job();
}

Job::Impl::~Impl() {
  // Ranks that cancel at different points would deadlock.
  if (core->ranks) {
    try {
      settle();
    } catch (...) {  // a destructor cannot report it
    }
  }
  core->queue.cancel(work);
}

void Job::Impl::bind(std::span<const NamedResult> results) {
  // All names but those of outputs are results, including unknown ones, for the error message.
  const auto is_output = [&](const NamedResult& r) {
    return std::ranges::any_of(data.outputs_group.fields,
                               [&](const LinkField& f) { return f.name == r.name; });
  };
  std::vector<NamedResult> wanted(results.begin(), results.end());
  const auto outputs = std::stable_partition(wanted.begin(), wanted.end(), std::not_fn(is_output));
  bind_results(data.results_group, data.target_count, {wanted.begin(), outputs}, data.results);
  bind_results(data.outputs_group, data.sources.count(), {outputs, wanted.end()}, data.outputs);
}

void Job::Impl::pack_inputs(const LinkGroup& group, std::size_t n,
                            std::span<const NamedInput> arrays, std::vector<std::uint64_t>& words) {
  const Stopwatch timer;
  pack(group, n, arrays, words, core->job_threads());
  core->add_conversion_time(timer.seconds());
}

Job::Job(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
Job::~Job() = default;
Job::Job(Job&&) noexcept = default;
Job& Job::operator=(Job&&) noexcept = default;

void Job::set(std::string_view name, double value) {
  impl_->settle();
  impl_->collectively("set", [&] { impl_->set(name, value); });
}

void Job::Impl::set(std::string_view name, double value) {
  JobData& d = data;
  std::vector<std::string_view> known;
  for (std::size_t k = 0; k < d.params_group.fields.size(); ++k) {
    const LinkField& field = d.params_group.fields[k];
    if (field.name == name) {
      d.params[2 * k] = param_bits(field, value);
      return;
    }
    known.push_back(field.name);
  }
  usage(unknown_name("param", name, known));
}

void Job::sources(std::size_t n, std::span<const NamedInput> arrays) {
  impl_->settle();
  JobData& d = impl_->data;
  impl_->collectively("sources", [&] {
    check_count(n, d.sources_group.words, "sources");
    check_inputs(d.sources_group, n, arrays, true);
    impl_->pack_inputs(d.sources_group, n, arrays, d.new_sources);
  });
  d.sources.replace(n, d.sources_group.words, d.new_sources);
}

void Job::update_sources(std::size_t first, std::size_t n, std::span<const NamedInput> arrays) {
  impl_->settle();
  JobData& d = impl_->data;
  impl_->collectively("update_sources", [&] {
    const std::size_t have = d.sources.count();
    if (first > have || n > have - first)
      usage("sources " + std::to_string(first) + " to " + std::to_string(first + n) +
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

void Job::targets(std::size_t n, std::span<const NamedInput> arrays) {
  impl_->settle();
  JobData& d = impl_->data;
  impl_->collectively("targets", [&] {
    check_count(n, d.targets_group.words, "targets");
    check_inputs(d.targets_group, n, arrays, true);
    impl_->pack_inputs(d.targets_group, n, arrays, d.new_targets);
  });
  d.targets.swap(d.new_targets);
  d.target_count = n;
}

void Job::run(std::span<const NamedResult> results) {
  impl_->settle();
  impl_->collectively("run", [&] { impl_->bind(results); });
  impl_->core->queue.run(impl_->work);
}

void Job::start(std::span<const NamedResult> results) {
  impl_->settle();
  impl_->collectively("start", [&] { impl_->bind(results); });
  // Without MPI_THREAD_MULTIPLE there is no background execution.
  if (impl_->core->ranks && !impl_->core->ranks->any_thread())
    impl_->core->queue.run(impl_->work);
  else
    impl_->core->queue.submit(impl_->work);
}

void Job::sources(std::size_t n, std::initializer_list<NamedInput> arrays) {
  sources(n, std::span(arrays.begin(), arrays.size()));
}
void Job::update_sources(std::size_t first, std::size_t n,
                         std::initializer_list<NamedInput> arrays) {
  update_sources(first, n, std::span(arrays.begin(), arrays.size()));
}
void Job::targets(std::size_t n, std::initializer_list<NamedInput> arrays) {
  targets(n, std::span(arrays.begin(), arrays.size()));
}
void Job::run(std::initializer_list<NamedResult> results) {
  run(std::span(results.begin(), results.size()));
}
void Job::start(std::initializer_list<NamedResult> results) {
  start(std::span(results.begin(), results.size()));
}

bool Job::ready() const { return impl_->core->queue.ready(impl_->work); }
void Job::wait() { impl_->settle(); }

std::size_t Job::target_count() const noexcept { return impl_->data.target_count; }
std::size_t Job::source_count() const noexcept { return impl_->data.sources.count(); }

}  // namespace gdr
