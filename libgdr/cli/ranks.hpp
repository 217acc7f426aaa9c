// Commands on many ranks: every rank runs the same command, and the first one reports.
#pragma once

#include <functional>
#include <initializer_list>
#include <string_view>

#include "emulator/host/hash.hpp"
#include "gdr/device.hpp"
#include "libgdr/cli/device_choice.hpp"
#include "libgdr/cli/output.hpp"
#include "libgdr/nbody/run.hpp"

namespace gdr::cli {

/// Remember the ranks of a device that a command opens, and silence all ranks but the first.
void attach_ranks(Device& device);

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
/// Collective: the words of every rank in the order of ranks.
std::vector<std::uint64_t> gather_from_ranks(const std::vector<std::uint64_t>& own);
/// Collective: a text of every rank in the order of ranks.
std::vector<std::string> texts_of_ranks(const std::string& own);
/// Collective: the reports of all remaining ranks.
std::vector<RankReport> rank_reports(Device& device);

/// Hash of particles and time.
Hash hash_of(const Snapshot& snapshot);

/// An input of every rank, by its hash.
struct RankInput {
  std::string_view difference;  ///< "has another --eps": message about a rank that differs
  Hash hash;
};
/// Collective. Throws Error (Usage) on all ranks if an input differs from that of rank 0: another
/// file under the same name on one node, or another option in one rank's command line, would give
/// wrong results without any error.
void require_same_on_ranks(std::initializer_list<RankInput> inputs);

/// Where snapshots are written: the first rank writes.
SnapshotOutput snapshot_place(const std::string& folder, SnapshotFormat format);

/// Statistics with the pairs and bytes of all ranks; clocks and predictions stay those of this
/// rank.
Statistics sum_over_ranks(Statistics own, const std::vector<RankReport>& reports);

/// Reports of ranks, for --json and for people.
Json ranks_json(const std::vector<RankReport>& reports);
std::string ranks_text(const std::vector<RankReport>& reports);

}  // namespace gdr::cli
