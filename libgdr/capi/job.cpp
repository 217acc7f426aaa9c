// C interface: kernels, jobs and gravity.
#include <algorithm>
#include <string>
#include <string_view>
#include <vector>

#include "libgdr/capi/arrays.hpp"
#include "libgdr/capi/capi.hpp"

using gdr::capi::create;
using gdr::capi::guarded;
using gdr::capi::need;
using gdr::capi::required_device;

gdr_status gdr_kernel_assemble(const char* text, const char* name, gdr_kernel** kernel) {
  return create(kernel, "kernel", [&] {
    need(text, "text");
    return gdr_kernel{gdr::Kernel::assemble(text, name == nullptr ? "kernel" : name)};
  });
}

gdr_status gdr_kernel_compile(const char* text, const char* name, gdr_kernel** kernel) {
  return create(kernel, "kernel", [&] {
    need(text, "text");
    return gdr_kernel{gdr::Kernel::compile(text, name == nullptr ? "kernel" : name)};
  });
}

gdr_status gdr_kernel_load(const char* path, gdr_kernel** kernel) {
  return create(kernel, "kernel", [&] {
    need(path, "path");
    return gdr_kernel{gdr::Kernel::load(path)};
  });
}

gdr_status gdr_kernel_object(const void* bytes, size_t size, gdr_kernel** kernel) {
  return create(kernel, "kernel",
                [&] { return gdr_kernel{gdr::Kernel::from_object(bytes, size)}; });
}

gdr_status gdr_kernel_builtin(const char* name, gdr_kernel** kernel) {
  return create(kernel, "kernel", [&] {
    need(name, "name");
    return gdr_kernel{gdr::Kernel::builtin(name)};
  });
}

namespace {

/// "x, y" as x and y: names between commas, without blanks around them.
std::vector<std::string> names_of_list(std::string_view list) {
  std::vector<std::string> names;
  while (!list.empty()) {
    const std::size_t end = std::min(list.find(','), list.size());
    std::string_view name = list.substr(0, end);
    list.remove_prefix(std::min(end + 1, list.size()));
    const std::size_t first = std::min(name.find_first_not_of(' '), name.size());
    name.remove_prefix(first);
    name.remove_suffix(name.size() - (name.find_last_not_of(' ') + 1));
    if (!name.empty()) names.emplace_back(name);
  }
  return names;
}

}  // namespace

gdr_status gdr_kernel_adjoint(const gdr_kernel* kernel, const char* variables,
                              gdr_kernel** adjoint) {
  return create(adjoint, "adjoint", [&] {
    need(kernel, "kernel");
    need(variables, "variables");
    return gdr_kernel{kernel->kernel.adjoint(names_of_list(variables))};
  });
}

void gdr_kernel_free(gdr_kernel* kernel) { delete kernel; }

const char* gdr_kernel_name(const gdr_kernel* kernel) {
  return kernel == nullptr ? "" : kernel->kernel.name().c_str();
}

size_t gdr_kernel_variable_count(const gdr_kernel* kernel) {
  return kernel == nullptr ? 0 : kernel->kernel.variables().size();
}

namespace {

/// An element of a list of the kernel, or an error that says what there is.
template <class T>
const T& element(const gdr_kernel* kernel, const std::vector<T>& all, size_t index,
                 const std::string& plural) {
  if (index < all.size()) return all[index];
  throw gdr::Error(gdr::ErrorCategory::Usage, "kernel \"" + kernel->kernel.name() + "\" has " +
                                                  std::to_string(all.size()) + " " + plural +
                                                  ", there is no number " + std::to_string(index));
}

}  // namespace

gdr_status gdr_kernel_variable(const gdr_kernel* kernel, size_t index, gdr_variable* variable) {
  return guarded({{kernel, "kernel"}, {variable, "variable"}}, [&] {
    const gdr::KernelVariable& v = element(kernel, kernel->kernel.variables(), index, "variables");
    *variable = {v.name.c_str(),       static_cast<gdr_role>(v.role), static_cast<gdr_type>(v.type),
                 v.conversion.c_str(), v.reduction.c_str(),           v.host_bytes};
  });
}

size_t gdr_kernel_array_count(const gdr_kernel* kernel) {
  return kernel == nullptr ? 0 : kernel->kernel.arrays().size();
}

gdr_status gdr_kernel_array(const gdr_kernel* kernel, size_t index, gdr_variable_array* array) {
  return guarded({{kernel, "kernel"}, {array, "array"}}, [&] {
    const gdr::KernelArray& a = element(kernel, kernel->kernel.arrays(), index, "arrays");
    *array = {a.name.c_str(), a.first, a.count, a.sizes.size(), a.sizes.data()};
  });
}

gdr_status gdr_kernel_cost(const gdr_kernel* kernel, double* clocks, double* flops) {
  return guarded({{kernel, "kernel"}}, [&] {
    if (clocks != nullptr) *clocks = kernel->kernel.clocks_per_interaction();
    if (flops != nullptr) *flops = kernel->kernel.flops_per_interaction();
  });
}

namespace {

const std::vector<gdr::NamedInput>& inputs_of(gdr_job* job, const gdr_input* arrays, size_t count) {
  return gdr::capi::convert<gdr::ConstArray>(arrays, count, job->inputs);
}

const std::vector<gdr::NamedResult>& results_of(gdr_job* job, const gdr_result* arrays,
                                                size_t count) {
  return gdr::capi::convert<gdr::MutableArray>(arrays, count, job->results);
}

}  // namespace

gdr_status gdr_job_create(gdr_device* device, const gdr_kernel* kernel, gdr_job** job) {
  return create(job, "job", [&] {
    gdr::Device& opened = required_device(device);
    need(kernel, "kernel");
    return gdr_job{opened.job(kernel->kernel)};
  });
}

void gdr_job_free(gdr_job* job) { delete job; }

gdr_status gdr_job_set(gdr_job* job, const char* name, double value) {
  return guarded({{job, "job"}, {name, "name"}}, [&] { job->job.set(name, value); });
}

gdr_status gdr_job_set_values(gdr_job* job, const char* name, size_t n, const double* values) {
  return guarded({{job, "job"}, {name, "name"}}, [&] {
    if (n > 0) need(values, "values");
    job->job.set(name, std::span(values, n));
  });
}

gdr_status gdr_job_sources(gdr_job* job, size_t n, const gdr_input* arrays, size_t count) {
  return guarded({{job, "job"}}, [&] { job->job.sources(n, inputs_of(job, arrays, count)); });
}

gdr_status gdr_job_targets(gdr_job* job, size_t n, const gdr_input* arrays, size_t count) {
  return guarded({{job, "job"}}, [&] { job->job.targets(n, inputs_of(job, arrays, count)); });
}

gdr_status gdr_job_update_sources(gdr_job* job, size_t first, size_t n, const gdr_input* arrays,
                                  size_t count) {
  return guarded({{job, "job"}},
                 [&] { job->job.update_sources(first, n, inputs_of(job, arrays, count)); });
}

gdr_status gdr_job_update_sources_at(gdr_job* job, size_t n, const int32_t* places,
                                     const gdr_input* arrays, size_t count) {
  return guarded({{job, "job"}}, [&] {
    if (n > 0) need(places, "places");
    job->job.update_sources(std::span(places, n), inputs_of(job, arrays, count));
  });
}

gdr_status gdr_job_run(gdr_job* job, const gdr_result* results, size_t count) {
  return guarded({{job, "job"}}, [&] { job->job.run(results_of(job, results, count)); });
}

gdr_status gdr_job_start(gdr_job* job, const gdr_result* results, size_t count) {
  return guarded({{job, "job"}}, [&] { job->job.start(results_of(job, results, count)); });
}

gdr_status gdr_job_wait(gdr_job* job) {
  return guarded({{job, "job"}}, [&] { job->job.wait(); });
}

int gdr_job_ready(const gdr_job* job) { return job == nullptr || job->job.ready() ? 1 : 0; }

gdr_status gdr_gravity_create(gdr_device* device, gdr_gravity** gravity) {
  return create(gravity, "gravity",
                [&] { return gdr_gravity{gdr::Gravity(required_device(device))}; });
}

void gdr_gravity_free(gdr_gravity* gravity) { delete gravity; }

gdr_status gdr_gravity_set_softening(gdr_gravity* gravity, size_t n_sources,
                                     const double* source_eps, size_t n_targets,
                                     const double* target_eps) {
  return guarded({{gravity, "gravity"}}, [&] {
    if ((n_sources > 0 && source_eps == nullptr) || (n_targets > 0 && target_eps == nullptr))
      throw gdr::Error(gdr::ErrorCategory::Usage,
                       "gdr_gravity_set_softening: an array of lengths is a null pointer");
    if (n_sources == 0 && n_targets > 0)
      throw gdr::Error(gdr::ErrorCategory::Usage,
                       "gdr_gravity_set_softening: targets have lengths, and sources have none");
    std::optional<std::vector<double>> sources, targets;
    if (n_sources > 0) sources.emplace(source_eps, source_eps + n_sources);
    if (n_targets > 0) targets.emplace(target_eps, target_eps + n_targets);
    gravity->source_eps = std::move(sources);
    gravity->target_eps = std::move(targets);
  });
}

gdr_status gdr_gravity_compute(gdr_gravity* gravity, size_t n, const double* position,
                               const double* mass, double eps, double* acceleration,
                               double* potential) {
  return guarded({{gravity, "gravity"}}, [&] {
    gravity->gravity.compute(n, position, mass, gravity->softening(eps, true), acceleration,
                             potential);
  });
}

gdr_status gdr_gravity_compute_on(gdr_gravity* gravity, size_t n_targets, const double* target,
                                  size_t n_sources, const double* source, const double* mass,
                                  double eps, double* acceleration, double* potential) {
  return guarded({{gravity, "gravity"}}, [&] {
    gravity->gravity.compute_on(n_targets, target, n_sources, source, mass,
                                gravity->softening(eps, false), acceleration, potential);
  });
}
