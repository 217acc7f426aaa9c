// The processes that share a device, as the library sees them: who is there, and how bytes get from
// one to another. What carries them (MPI) stands behind this, in a library of its own.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

namespace gdr {

/// Bytes to or from another rank, or this one.
struct RankTransfer {
  unsigned peer = 0;
  void* data = nullptr;
  std::size_t bytes = 0;
};

/// Transfers under way. Its destructor waits for them, whatever else fails: the memory is in use.
class RankPending {
 public:
  virtual ~RankPending() = default;
  /// Help them along; true when all are done.
  virtual bool test() = 0;
  virtual void wait() = 0;
};

/// Some ranks, numbered from 0. All calls but those on a RankPending are collective: every rank
/// makes them in the same order. They throw Error (Device) when another rank is lost, or waits
/// longer than GDR_MPI_TIMEOUT seconds (0, as by default: no limit). Where ranks that are left can
/// go on, the error is RanksLost, and from then on it is thrown by all calls on all of them, and on
/// all groups that were split from this one, but for agreed() and shrink().
class RankGroup {
 public:
  virtual ~RankGroup() = default;
  virtual unsigned rank() const noexcept = 0;
  virtual unsigned size() const noexcept = 0;
  /// Calls from another thread than the one that made the group are allowed.
  virtual bool any_thread() const noexcept = 0;
  /// What carries the bytes: "Open MPI v4.1.4".
  virtual std::string library() const = 0;

  /// `bytes` of every rank, in the order of the ranks.
  virtual void gather(const void* mine, std::size_t bytes, void* all) = 0;
  virtual void broadcast(void* data, std::size_t bytes, unsigned root) = 0;
  /// Begin to gather words: rank r has the words offsets[r] .. offsets[r + 1] - 1 of `all` in their
  /// place, and every rank shall have all of them.
  virtual std::unique_ptr<RankPending> start_gather(std::uint64_t* all,
                                                    std::span<const std::size_t> offsets) = 0;
  /// Begin to exchange: what one rank sends to another arrives in the order of its receives.
  virtual std::unique_ptr<RankPending> start_exchange(std::span<const RankTransfer> receives,
                                                      std::span<const RankTransfer> sends) = 0;
  /// Those with the same colour, in the order of their ranks.
  virtual std::unique_ptr<RankGroup> split(unsigned colour) = 0;
  /// The MPI lets those that are left go on when ranks are lost.
  virtual bool outlives_losses() const noexcept = 0;
  /// The same on all ranks that are left: none is lost, and `fine` is true on every one.
  virtual bool agreed(bool fine) = 0;
  /// Leave out the ranks that are lost, whose numbers are returned; the others are numbered anew in
  /// their old order. What was split from the group must be made anew.
  virtual std::vector<unsigned> shrink() = 0;
  /// End all of them at once.
  [[noreturn]] virtual void abort(int status) = 0;
};

/// A group of one.
std::unique_ptr<RankGroup> single_rank();

}  // namespace gdr
