// C interface: a kernel on many sets of targets and sources.
#include <cstdint>
#include <span>

#include "libgdr/capi/arrays.hpp"
#include "libgdr/capi/capi.hpp"
#include "libgdr/device/arrays.hpp"

using gdr::capi::convert;
using gdr::capi::create;
using gdr::capi::guarded;
using gdr::capi::need;
using gdr::capi::required_device;

namespace {

/// The offsets of some sets. Throws Error (Usage) for a null pointer and for a number of sets that
/// no memory holds, such as a negative one.
std::span<const std::int64_t> offsets_of(std::size_t sets, const std::int64_t* offsets) {
  gdr::check_count(sets, 1, "sets");
  need(offsets, "offsets");
  return {offsets, sets + 1};
}

const std::vector<gdr::NamedInput>& inputs_of(gdr_set_job* job, const gdr_input* arrays,
                                              std::size_t count) {
  return convert<gdr::ConstArray>(arrays, count, job->inputs);
}

}  // namespace

gdr_status gdr_set_job_create(gdr_device* device, const gdr_kernel* kernel, gdr_set_job** job) {
  return create(job, "job", [&] {
    gdr::Device& opened = required_device(device);
    need(kernel, "kernel");
    return gdr_set_job{gdr::SetJob(opened, kernel->kernel)};
  });
}

void gdr_set_job_free(gdr_set_job* job) { delete job; }

gdr_status gdr_set_job_set(gdr_set_job* job, const char* name, double value) {
  return guarded({{job, "job"}, {name, "name"}}, [&] { job->job.set(name, value); });
}

gdr_status gdr_set_job_set_values(gdr_set_job* job, const char* name, size_t n,
                                  const double* values) {
  return guarded({{job, "job"}, {name, "name"}}, [&] {
    if (n > 0) need(values, "values");
    job->job.set(name, std::span(values, n));
  });
}

gdr_status gdr_set_job_clear(gdr_set_job* job) {
  return guarded({{job, "job"}}, [&] {
    job->list.clear();
    job->places.clear();
  });
}

gdr_status gdr_set_job_add_sets(gdr_set_job* job, size_t sets, const int64_t* offsets,
                                const gdr_input* targets, size_t count, const gdr_result* results,
                                size_t result_count) {
  return guarded({{job, "job"}}, [&] {
    const auto bounds = offsets_of(sets, offsets);
    job->list.add_sets(bounds, inputs_of(job, targets, count),
                       convert<gdr::MutableArray>(results, result_count, job->results));
  });
}

gdr_status gdr_set_job_add_sources(gdr_set_job* job, size_t sets, const int64_t* offsets, size_t n,
                                   const gdr_input* arrays, size_t count) {
  return guarded({{job, "job"}}, [&] {
    const auto bounds = offsets_of(sets, offsets);
    gdr::check_count(n, 1, "sources");
    job->list.add_source_lists(bounds, {n, inputs_of(job, arrays, count)});
  });
}

gdr_status gdr_set_job_add_sources_at(gdr_set_job* job, size_t sets, const int64_t* offsets,
                                      size_t n, const int32_t* places, size_t items,
                                      const gdr_input* arrays, size_t count) {
  return guarded({{job, "job"}}, [&] {
    const auto bounds = offsets_of(sets, offsets);
    gdr::check_count(n, 1, "places");
    gdr::check_count(items, 1, "items");
    if (n > 0) need(places, "places");
    const std::vector<gdr::NamedInput>& inputs = inputs_of(job, arrays, count);
    const std::vector<std::int32_t>& copy = job->places.emplace_back(places, places + n);
    job->list.add_source_lists(bounds, {n, inputs, copy.data(), items});
  });
}

gdr_status gdr_set_job_run(gdr_set_job* job) {
  return guarded({{job, "job"}}, [&] { job->job.run(job->list.sets()); });
}

gdr_status gdr_set_job_start(gdr_set_job* job) {
  return guarded({{job, "job"}}, [&] { job->job.start(job->list.sets()); });
}

gdr_status gdr_set_job_wait(gdr_set_job* job) {
  return guarded({{job, "job"}}, [&] { job->job.wait(); });
}

int gdr_set_job_ready(const gdr_set_job* job) { return job == nullptr || job->job.ready() ? 1 : 0; }
