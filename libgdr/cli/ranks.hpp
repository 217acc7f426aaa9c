// The command on many ranks: each runs the same, the first one speaks, and none is left waiting.
#pragma once

#include <nlohmann/json.hpp>

#include "gdr/device.hpp"
#include "libgdr/cli/options.hpp"
#include "libgdr/nbody/run.hpp"

namespace gdr::cli {

/// To be called with every device that a command opens: on ranks other than the first nothing is
/// written any more.
void follow_ranks(Device& device);

/// True if the device that was asked for is one of many ranks.
bool is_on_ranks(const DeviceChoice& choice);

/// What ends the command must end all of it: does not return where other ranks would wait for this
/// one (whose error they do not know of). Returns whether this rank is to report it.
bool end_on_ranks(const std::exception& error, int status);

/// Run what may fail on one rank; all throw what one throws. Where ranks are lost meanwhile, those
/// that are left run it again.
void together_on_ranks(const std::function<void()>& work);
/// True on all ranks if it is true on any.
bool any_rank(bool here);
/// The words of every rank, rank after rank; just these where there is one.
std::vector<std::uint64_t> words_of_ranks(const std::vector<std::uint64_t>& own);
/// True on the first rank, which writes files.
bool is_first_rank() noexcept;
/// What every rank that is left did.
std::vector<RankReport> reports_of(Device& device);
/// A place for snapshots that the first rank writes to.
SnapshotOutput shared_place(const std::string& folder, SnapshotFormat format);

/// Statistics with the pairs and bytes of all ranks; clocks and predictions stay this rank's.
Statistics of_all_ranks(Statistics own, const std::vector<RankReport>& reports);

/// What every rank did, for --json and for people.
nlohmann::ordered_json ranks_json(const std::vector<RankReport>& reports);
std::string ranks_text(const std::vector<RankReport>& reports);

}  // namespace gdr::cli
