// The kernels of libg6: one job for each of them, and the choice among them.
#pragma once

#include <array>
#include <memory>
#include <optional>
#include <span>

#include "gdr/device.hpp"
#include "gdr/error.hpp"
#include "gdr/moving_sources.hpp"

namespace gdr::compat::grape {

/// What a kernel computes beside accelerations, their derivatives and potentials.
struct KernelFeatures {
  bool nearest = false;  ///< the nearest particle; each target has a softening of its own
  bool lists = false;    ///< neighbour lists
  friend bool operator==(const KernelFeatures&, const KernelFeatures&) = default;
};

/// The job that computes, and whether it does so in the background.
class KernelJobs {
 public:
  KernelJobs();
  void open_device();
  /// Selects the job of a kernel, and tells the sources what it needs. Without lists if the device
  /// cannot run such kernels. A calculation of another job is forgotten.
  void select(KernelFeatures wanted, MovingSources& sources);
  /// Disables lists by the device, and its predictions, from the next calculation on.
  void disable_lists();

  const KernelFeatures& features() const noexcept { return features_; }
  /// Whether the device runs kernels with lists, as far as is known.
  bool device_makes_lists() const noexcept { return device_makes_lists_; }
  Job& job() noexcept { return *job_; }

  void start(std::span<const NamedResult> results);
  bool is_running() const noexcept { return running_; }
  /// Waits for the results of a start.
  void wait();
  /// The results of a start are not asked for; another calculation of the job waits by itself.
  void drop() noexcept { running_ = false; }

 private:
  /// Waits for a calculation whose results are not wanted, so that it does not fill them later.
  void forget();
  const char* kernel_name(KernelFeatures features) const noexcept;

  KernelFeatures features_;  ///< features of the selected job
  bool device_makes_lists_ = true;
  bool device_predicts_;  ///< whether the device predicts in calls without nearest particle and
                          ///< lists
  bool running_ = false;  ///< started, and nobody has waited for it
  std::shared_ptr<Device> device_;
  std::array<std::array<std::optional<Job>, 2>, 2> jobs_;  ///< [nearest][lists]
  Job* job_ = nullptr;                                     ///< the selected one
};

/// Whether an error of a calculation with valid arguments is due to the kernel: the device has too
/// little memory in its PEs, or cannot combine lists (partition=sources).
bool is_of_kernel(const Error& e);

}  // namespace gdr::compat::grape
