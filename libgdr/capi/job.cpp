// C interface: jobs and gravity.
#include "libgdr/capi/enums.hpp"
#include "libgdr/capi/guard.hpp"
#include "libgdr/capi/handles.hpp"

using gdr::capi::guarded;
using gdr::capi::need;

namespace {

constexpr std::ptrdiff_t element_bytes[] = {sizeof(double), sizeof(float), sizeof(std::int64_t)};

/// Type and stride of an array for the C++ interface. A raw array must give its stride, as its
/// width depends on the variable.
template <typename Array, typename Given>
Array array_of(const Given& given) {
  const int type = gdr::capi::number_of(given.type);
  if (type < GDR_F64 || type > GDR_RAW)
    throw gdr::Error(gdr::ErrorCategory::Usage,
                     std::string("array \"") + given.name + "\" has an unknown type");
  if (given.type == GDR_RAW && given.stride == 0)
    throw gdr::Error(gdr::ErrorCategory::Usage,
                     std::string("give raw array \"") + given.name + "\" its stride in bytes");
  Array array;
  array.data = given.data;
  array.type = static_cast<gdr::HostNumber>(given.type);
  array.stride = given.stride != 0 ? given.stride : element_bytes[given.type];
  return array;
}

template <typename Named, typename Array, typename Given>
void convert(const Given* given, size_t count, std::vector<Named>& out) {
  if (count > 0) need(given, "arrays");
  out.clear();
  for (size_t k = 0; k < count; ++k) {
    need(given[k].name, "name");
    out.push_back({given[k].name, array_of<Array>(given[k])});
  }
}

void set_inputs(gdr_job* job, const gdr_input* arrays, size_t count) {
  need(job, "job");
  convert<gdr::NamedInput, gdr::ConstArray>(arrays, count, job->inputs);
}

void set_results(gdr_job* job, const gdr_result* arrays, size_t count) {
  need(job, "job");
  convert<gdr::NamedResult, gdr::MutableArray>(arrays, count, job->results);
}

}  // namespace

gdr_status gdr_job_create(gdr_device* device, const gdr_kernel* kernel, gdr_job** job) {
  return guarded([&] {
    need(job, "job");
    *job = nullptr;
    need(device, "device");
    need(kernel, "kernel");
    *job = new gdr_job{device->device.job(kernel->kernel), {}, {}};
  });
}

void gdr_job_free(gdr_job* job) { delete job; }

gdr_status gdr_job_set(gdr_job* job, const char* name, double value) {
  return guarded([&] {
    need(job, "job");
    need(name, "name");
    job->job.set(name, value);
  });
}

gdr_status gdr_job_sources(gdr_job* job, size_t n, const gdr_input* arrays, size_t count) {
  return guarded([&] {
    set_inputs(job, arrays, count);
    job->job.sources(n, job->inputs);
  });
}

gdr_status gdr_job_targets(gdr_job* job, size_t n, const gdr_input* arrays, size_t count) {
  return guarded([&] {
    set_inputs(job, arrays, count);
    job->job.targets(n, job->inputs);
  });
}

gdr_status gdr_job_update_sources(gdr_job* job, size_t first, size_t n, const gdr_input* arrays,
                                  size_t count) {
  return guarded([&] {
    set_inputs(job, arrays, count);
    job->job.update_sources(first, n, job->inputs);
  });
}

gdr_status gdr_job_run(gdr_job* job, const gdr_result* results, size_t count) {
  return guarded([&] {
    set_results(job, results, count);
    job->job.run(job->results);
  });
}

gdr_status gdr_job_start(gdr_job* job, const gdr_result* results, size_t count) {
  return guarded([&] {
    set_results(job, results, count);
    job->job.start(job->results);
  });
}

gdr_status gdr_job_wait(gdr_job* job) {
  return guarded([&] {
    need(job, "job");
    job->job.wait();
  });
}

int gdr_job_ready(const gdr_job* job) { return job == nullptr || job->job.ready() ? 1 : 0; }

gdr_status gdr_gravity_create(gdr_device* device, gdr_gravity** gravity) {
  return guarded([&] {
    need(gravity, "gravity");
    *gravity = nullptr;
    need(device, "device");
    *gravity = new gdr_gravity{gdr::Gravity(device->device)};
  });
}

void gdr_gravity_free(gdr_gravity* gravity) { delete gravity; }

gdr_status gdr_gravity_compute(gdr_gravity* gravity, size_t n, const double* position,
                               const double* mass, double eps, double* acceleration,
                               double* potential) {
  return guarded([&] {
    need(gravity, "gravity");
    gravity->gravity.compute(n, position, mass, eps, acceleration, potential);
  });
}

gdr_status gdr_gravity_compute_on(gdr_gravity* gravity, size_t n_targets, const double* target,
                                  size_t n_sources, const double* source, const double* mass,
                                  double eps, double* acceleration, double* potential) {
  return guarded([&] {
    need(gravity, "gravity");
    gravity->gravity.compute_on(n_targets, target, n_sources, source, mass, eps, acceleration,
                                potential);
  });
}
