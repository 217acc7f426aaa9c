#include "libgdr/compat/grape/g6_jobs.hpp"

#include <utility>

#include "libgdr/compat/grape/calls.hpp"

namespace gdr::compat::grape {

bool is_of_kernel(const Error& e) {
  return e.category() == ErrorCategory::Program || e.category() == ErrorCategory::Usage;
}

KernelJobs::KernelJobs()
    : device_predicts_(environment_number("GDR_G6_DEVICE_PREDICTION", 0, 0, 1) == 1) {}

void KernelJobs::open_device() {
  if (!device_) device_ = grape::open_device();
}

void KernelJobs::select(KernelFeatures wanted, MovingSources& sources) {
  if (job_ != nullptr && features_ == wanted) return;
  open_device();
  // Floats are too few digits for positions that are predicted.
  if (computes_in_floats(*device_)) device_predicts_ = false;
  forget();
  job_ = nullptr;
  std::optional<Job>& job = jobs_[wanted.nearest ? 1 : 0][wanted.lists ? 1 : 0];
  try {
    if (!job) job.emplace(device_->job(Kernel::builtin(kernel_name(wanted))));
  } catch (const Error& e) {
    if (!wanted.lists || !is_of_kernel(e)) throw;
    device_makes_lists_ = false;
    return select({wanted.nearest, false}, sources);
  }
  job_ = &*job;
  features_ = wanted;
  sources.name_slots(wanted.lists ? "slotj" : "");
  sources.predict_on_device(device_predicts_ && !wanted.nearest && !wanted.lists);
}

void KernelJobs::disable_lists() {
  device_makes_lists_ = device_predicts_ = false;
  jobs_[0][0].reset();
}

void KernelJobs::start(std::span<const NamedResult> results) {
  job_->start(results);
  running_ = true;
}

void KernelJobs::wait() {
  if (std::exchange(running_, false)) job_->wait();
}

void KernelJobs::forget() {
  try {
    wait();
  } catch (const Error&) {
    // Nobody has asked for the results.
  }
}

const char* KernelJobs::kernel_name(KernelFeatures features) const noexcept {
  if (features.lists)
    return features.nearest ? "gravity_hermite_neighbours" : "gravity_jerk_neighbours";
  if (features.nearest) return "gravity_hermite";
  return device_predicts_ ? "gravity_jerk_moving" : "gravity_jerk_long";
}

}  // namespace gdr::compat::grape
