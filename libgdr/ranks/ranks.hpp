// The ranks of a device, and where they come from.
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "gdr/ranks.hpp"
#include "libgdr/device/core.hpp"
#include "libgdr/ranks/group.hpp"

namespace gdr {

/// Two groups of the same ranks, so that what the caller's thread agrees on does not get between
/// the transfers of a run in the background.
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
  std::vector<unsigned> recover(DeviceCore& device) override;
  void despite_losses(DeviceCore& device, const std::function<void()>& body) override;

  std::unique_ptr<RankGroup> calls;  ///< of the thread that calls
  std::unique_ptr<RankGroup> work;   ///< of the thread that runs
  RankReport report;                 ///< this rank's; guarded by DeviceCore::counters
  /// Of the ranks that are left, when the device was opened.
  std::vector<unsigned> numbers = {};
  /// Called on all that are left when some were lost, with the numbers of these.
  std::function<void(const std::vector<unsigned>& lost)> on_loss = {};
  /// Jobs that were made here. Those of all ranks with the same number belong together, until calls
  /// were done again: not all ranks may have come as far the first time.
  std::atomic<unsigned> jobs = 0;
  std::atomic<bool> done_again = false;
};

/// The ranks of a device that has some.
inline Ranks& ranks_of(DeviceCore& device) { return static_cast<Ranks&>(*device.ranks); }

/// The ranks of a communicator, given by its Fortran handle, or of all processes; through the
/// library beside this one, which knows MPI. Throws Error (Unsupported) if it is not there, Error
/// (Device) if MPI cannot be started.
std::unique_ptr<RankGroup> mpi_ranks(std::optional<std::int32_t> communicator);

/// The name of that library, GDR_MPI_LIBRARY or the one for the MPI that this process has or was
/// started by.
std::string mpi_library_path();

/// An emulator as the rest of the name says, on every rank. Collective; errors agree.
std::shared_ptr<DeviceCore> open_on_ranks(const DeviceName& name,
                                          std::optional<std::int32_t> communicator);

}  // namespace gdr
