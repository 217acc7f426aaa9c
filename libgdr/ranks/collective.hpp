// The processes that share a device: interface to their communication, which the MPI plugin
// implements, and collective errors: an error on one rank is thrown on all ranks, so that none
// waits for a rank that has left the call.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "gdr/error.hpp"
#include "gdr/ranks.hpp"

namespace gdr {

/// A message to or from a rank; the rank may be this one.
struct RankTransfer {
  unsigned peer = 0;
  void* data = nullptr;
  std::size_t bytes = 0;
};

/// Nonblocking communication in progress. The destructor waits for its completion.
class RankPending {
 public:
  virtual ~RankPending() = default;
  /// Progresses the communication; returns whether it is complete.
  virtual bool test() = 0;
  virtual void wait() = 0;
};

/// A group of ranks, numbered from 0. All calls except those on a RankPending are collective: every
/// rank makes them in the same order. They throw Error (Device) if another rank has failed, or
/// after a wait of GDR_MPI_TIMEOUT seconds (default 0: no limit). If the MPI supports rank
/// failures, the error is RankFailure, and all later calls on this group and on groups split from
/// it throw it on all ranks, except agreed() and shrink().
class RankGroup {
 public:
  virtual ~RankGroup() = default;
  virtual unsigned rank() const noexcept = 0;
  virtual unsigned size() const noexcept = 0;
  /// Whether threads other than the one that created the group may call it.
  virtual bool any_thread() const noexcept = 0;
  /// The MPI library: "Open MPI v4.1.4".
  virtual std::string library() const = 0;

  /// All-gather of `bytes` of every rank, in rank order.
  virtual void gather(const void* mine, std::size_t bytes, void* all) = 0;
  virtual void broadcast(void* data, std::size_t bytes, unsigned root) = 0;
  /// Starts an in-place all-gather: rank r contributes the words offsets[r] .. offsets[r + 1] - 1
  /// of `all`.
  virtual std::unique_ptr<RankPending> start_gather(std::uint64_t* all,
                                                    std::span<const std::size_t> offsets) = 0;
  /// Starts an exchange of messages; messages between two ranks are matched in order.
  virtual std::unique_ptr<RankPending> start_exchange(std::span<const RankTransfer> receives,
                                                      std::span<const RankTransfer> sends) = 0;
  /// The group of the ranks with the same colour, in rank order.
  virtual std::unique_ptr<RankGroup> split(unsigned colour) = 0;
  /// Whether the MPI lets the remaining ranks continue after a rank failure.
  virtual bool supports_shrink() const noexcept = 0;
  /// Whether no rank has failed and `success` is true on every rank; the same on all remaining
  /// ranks.
  virtual bool agreed(bool success) = 0;
  /// Removes the failed ranks and returns their numbers; the others are renumbered in their order.
  /// Groups split from this one must be split again.
  virtual std::vector<unsigned> shrink() = 0;
  /// Ends the processes of all ranks at once.
  [[noreturn]] virtual void abort(int status) = 0;
};

/// A group of one rank.
std::unique_ptr<RankGroup> single_rank();

/// The entry point of the MPI plugin. Its number is the version of the RankGroup interface.
constexpr const char* rank_plugin_symbol = "gdr_mpi_ranks_2";

/// Type of the entry point: creates a group over the communicator with this Fortran handle, or, if
/// `world`, over all processes, and initialises MPI if necessary. Returns null on failure, with the
/// reason in `error`.
using RankPlugin = RankGroup* (*)(std::int32_t communicator, bool world, char* error,
                                  std::size_t error_size);

/// An error that every rank throws with the same category and message.
class CollectiveError : public Error {
 public:
  using Error::Error;
};

/// Exchanges the error of each rank, if any; collective. If a rank has one, all ranks throw the
/// CollectiveError of the first such rank, with its number before the message. `call` describes
/// this rank's call and all arguments that must be equal on all ranks; all ranks throw if it
/// differs.
void agree(RankGroup& ranks, const std::optional<Error>& error, std::string_view call = {});

/// The current exception as an Error.
Error current_error();

/// Runs `work`, and throws on all ranks if it throws on one, or if `call` differs between ranks.
/// Without a group, runs `work` only.
template <typename Work>
void collectively(RankGroup* ranks, std::string_view call, const Work& work) {
  if (ranks == nullptr) return work();
  std::optional<Error> error;
  try {
    work();
  } catch (const CollectiveError&) {
    throw;
  } catch (const RankFailure&) {
    throw;  // the group cannot communicate
  } catch (...) {
    error = current_error();
  }
  agree(*ranks, error, call);
}
/// The same for a step within a call.
template <typename Work>
void collectively(RankGroup* ranks, const Work& work) {
  collectively(ranks, {}, work);
}

/// First element of the part of rank r in a block distribution of n elements.
constexpr std::size_t part_begin(std::size_t n, std::size_t r, std::size_t ranks) {
  return n / ranks * r + n % ranks * r / ranks;
}
/// All-gather in place: `values` holds n elements of `each` words, of which every rank has its
/// part.
void gather_parts(RankGroup& ranks, void* values, std::size_t n, std::size_t each);

/// Throws CollectiveError on all ranks, "rank R `difference`", if the hash of a rank differs from
/// that of rank 0; collective.
void require_equal(RankGroup& ranks, std::uint64_t hash, const std::string& difference);

}  // namespace gdr
