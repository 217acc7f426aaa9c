// The ranks of a device.
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "gdr/device.hpp"
#include "gdr/ranks.hpp"
#include "libgdr/device/core.hpp"
#include "libgdr/ranks/collective.hpp"

namespace gdr {

/// Two groups of the same ranks, so that collective checks of the calling thread do not interfere
/// with the communication of a background run.
struct Ranks : RankRunner {
  unsigned rank() const noexcept override { return calls->rank(); }
  unsigned size() const noexcept override { return calls->size(); }
  std::string library() const override { return calls->library(); }
  bool any_thread() const noexcept override { return work->any_thread(); }
  void run(DeviceCore& device, JobData& job, const std::stop_token& stop) override;
  unsigned add_job() override { return ++jobs; }
  void collectively(std::string_view member, unsigned job,
                    const std::function<void()>& step) override;
  std::vector<RankReport> reports(DeviceCore& device) override;
  std::vector<unsigned> shrink(DeviceCore& device) override;
  void retry_on_rank_failure(DeviceCore& device, const std::function<void()>& body) override;

  std::unique_ptr<RankGroup> calls;  ///< group of the calling thread
  std::unique_ptr<RankGroup> work;   ///< group of the thread of runs
  RankReport report;                 ///< report of this rank; guarded by DeviceCore::counters
  /// Numbers of the remaining ranks when the device was opened.
  std::vector<unsigned> numbers = {};
  /// Called on all remaining ranks after a rank failure, with the numbers of the failed ranks.
  std::function<void(const std::vector<unsigned>& failed)> on_failure = {};
  /// Number of jobs created on this rank. Jobs with equal numbers correspond on all ranks, until
  /// work is retried after a rank failure, because ranks may have failed at different points.
  std::atomic<unsigned> jobs = 0;
  std::atomic<bool> retried = false;
};

/// The ranks of a device that has some.
inline Ranks& ranks_of(DeviceCore& device) { return static_cast<Ranks&>(*device.ranks); }

/// The ranks of an open device, for users outside of the core: the command, the integrator,
/// distributed matrices.
struct DeviceRanks {
  static std::shared_ptr<DeviceCore> core(Device& device) { return device.core(); }
  /// Null if the device belongs to this process only.
  static std::shared_ptr<Ranks> of(Device& device) {
    return std::static_pointer_cast<Ranks>(device.core()->ranks);
  }
  /// The group for calls from the user's thread, or null.
  static RankGroup* group(Device& device) {
    const auto ranks = of(device);
    return ranks ? ranks->calls.get() : nullptr;
  }
};

/// Adds work outside of Ranks::run to the report of this rank.
void add_to_report(DeviceCore& device, const RankReport& work);

/// The ranks of a communicator, given by its Fortran handle, or of all processes, through the MPI
/// plugin. Throws Error (Unsupported) if the plugin is missing, Error (Device) if MPI cannot be
/// initialised.
std::unique_ptr<RankGroup> mpi_ranks(std::optional<std::int32_t> communicator);

/// Opens an emulator on every rank with the options in the name. Collective, with collective
/// errors.
std::shared_ptr<DeviceCore> open_on_ranks(const DeviceName& name,
                                          std::optional<std::int32_t> communicator);

}  // namespace gdr
