// Commands on many ranks: every rank runs the same command, and the first one reports.
#pragma once

#include <functional>

#include "gdr/device.hpp"
#include "libgdr/cli/device_choice.hpp"
#include "libgdr/cli/json.hpp"
#include "libgdr/nbody/run.hpp"

namespace gdr::cli {

/// Remember the ranks of a device that a command opens, and silence all ranks but the first.
void attach_ranks(Device& device);

/// Whether the chosen device is of kind "mpi".
bool is_on_ranks(const DeviceChoice& choice);
/// True on the rank that reports and writes files.
bool is_first_rank() noexcept;

/// Open the device and run `read`, which reads the command's inputs. On many ranks the device is
/// opened first and reading is collective, so that one rank reports what is wrong.
Device open_and_read(const DeviceChoice& choice, const std::function<void()>& read);

/// End all ranks where one of them ends with an error that the others do not have: does not return
/// then. Otherwise returns whether this rank is the one that reports the error.
bool abort_ranks(const std::exception& error, int status);

/// Run work that may fail on one rank; all ranks throw what one throws. After the failure of ranks
/// the remaining ones run it again.
void on_all_ranks(const std::function<void()>& work);
/// Collective: true on all ranks if it is true on any.
bool any_rank(bool here);
/// Collective: the words of every rank in the order of ranks.
std::vector<std::uint64_t> gather_from_ranks(const std::vector<std::uint64_t>& own);
/// Collective: the reports of all remaining ranks.
std::vector<RankReport> rank_reports(Device& device);

/// Where snapshots are written: the first rank writes.
SnapshotOutput snapshot_place(const std::string& folder, SnapshotFormat format);

/// Statistics with the pairs and bytes of all ranks; clocks and predictions stay those of this
/// rank.
Statistics sum_over_ranks(Statistics own, const std::vector<RankReport>& reports);

/// Reports of ranks, for --json and for people.
Json ranks_json(const std::vector<RankReport>& reports);
std::string ranks_text(const std::vector<RankReport>& reports);

}  // namespace gdr::cli
