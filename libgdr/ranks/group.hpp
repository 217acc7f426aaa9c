// Interface to the processes that share a device: their number and their communication. The
// implementation over MPI is a plugin.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

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
  /// End all of them at once.
  [[noreturn]] virtual void abort(int status) = 0;
};

/// A group of one.
std::unique_ptr<RankGroup> single_rank();

}  // namespace gdr
