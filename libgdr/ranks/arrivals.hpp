// Sources on their way from other ranks, in pieces, while the boards work on those that are there.
#pragma once

#include <cstddef>
#include <exception>
#include <functional>
#include <memory>
#include <mutex>
#include <thread>
#include <vector>

#include "emulator/host/stopwatch.hpp"
#include "libgdr/device/sources.hpp"
#include "libgdr/ranks/group.hpp"

namespace gdr {

/// Pieces set out in the order in which they were added, the same on all ranks; few at a time,
/// since the first is needed first. MPIs move data while they are called, some as soon as a
/// transfer is begun: so a thread of its own begins the transfers and sees to them, where the MPI
/// allows it. Without it the caller begins all at once. GDR_MPI_OVERLAP=0 does without all this, to
/// show what it gains: the boards begin when everything is there.
class Arrivals {
 public:
  using Start = std::function<std::unique_ptr<RankPending>()>;

  Arrivals() = default;
  Arrivals(const Arrivals&) = delete;
  Arrivals& operator=(const Arrivals&) = delete;
  ~Arrivals() { stop(); }

  /// `start` begins a transfer that brings `bytes` of these sources, or (an empty range) sends.
  void add(IndexRange sources, std::size_t bytes, Start start);
  /// All have been added; `any_thread`: the MPI may be called from another one. Returns when the
  /// first piece is there: the boards have nothing else to begin with.
  void begin(bool any_thread);
  /// Return when all sources of this range are there.
  void wait_for(IndexRange sources);
  /// Return when everything has arrived and been sent. What others wait for must be sent even when
  /// the work here has failed.
  void finish();

  /// Until everything was there, and of these, for which boards were kept waiting.
  double seconds() const noexcept { return seconds_; }
  double waiting_seconds() const noexcept { return waiting_; }

 private:
  struct Piece {
    IndexRange sources;
    Start start;
    std::unique_ptr<RankPending> pending = {};
    bool there = false;
  };
  void wait_until(std::size_t end);
  void set_out(std::size_t end);
  bool help();
  void follow(const std::stop_token& stop);
  void stop() noexcept;

  std::mutex mutex_;  ///< guards all but the thread, once it runs
  std::vector<Piece> pieces_;
  std::size_t bytes_ = 0, begun_ = 0;  ///< pieces that have set out
  std::exception_ptr error_;           ///< of the thread
  Stopwatch since_;
  double seconds_ = 0, waiting_ = 0;
  std::jthread thread_;
};

}  // namespace gdr
