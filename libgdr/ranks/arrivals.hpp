// Sources on their way from other ranks, in pieces, while the boards work on those that are there.
#pragma once

#include <cstddef>
#include <exception>
#include <memory>
#include <mutex>
#include <thread>
#include <vector>

#include "libgdr/device/sources.hpp"
#include "libgdr/device/stopwatch.hpp"
#include "libgdr/ranks/group.hpp"

namespace gdr {

/// Most MPIs move data only while they are called: where they allow it, a thread calls them until
/// everything is there. GDR_MPI_OVERLAP=0 does without all this, to show what it gains: the boards
/// begin when everything is there.
class Arrivals {
 public:
  Arrivals() = default;
  Arrivals(const Arrivals&) = delete;
  Arrivals& operator=(const Arrivals&) = delete;
  ~Arrivals() { stop(); }

  /// `bytes` of these sources are on their way, or (an empty range) are being sent.
  void add(IndexRange sources, std::size_t bytes, std::unique_ptr<RankPending> pending);
  bool empty() const noexcept { return pieces_.empty(); }
  /// All have been added; `any_thread`: the MPI may be called from another one.
  void begin(bool any_thread);
  /// Return when all sources of this range are there; the others are helped along.
  void wait_for(IndexRange sources);
  /// Return when everything has arrived and been sent.
  void finish();

  /// From begin() until everything was there, and of these, in wait_for() and finish().
  double seconds() const noexcept { return seconds_; }
  double waiting_seconds() const noexcept { return waiting_; }

 private:
  struct Piece {
    IndexRange sources;
    std::unique_ptr<RankPending> pending;
  };
  template <typename Wanted>
  void wait(const Wanted& wanted);
  bool help();
  void follow(const std::stop_token& stop);
  void stop() noexcept;

  std::mutex mutex_;  ///< guards all but the thread, once it runs
  std::vector<Piece> pieces_;
  std::size_t bytes_ = 0;
  std::exception_ptr error_;  ///< of the thread
  Stopwatch since_;
  double seconds_ = 0, waiting_ = 0;
  std::jthread thread_;
};

}  // namespace gdr
