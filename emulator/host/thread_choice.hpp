// Adaptive number of threads for repeated work, from its measured times.
#pragma once

namespace gdr {

/// Several threads are slower than one if another program occupies the cores, or if there is too
/// little work to wake them. For work below 20 ms both are tried from time to time; longer work
/// always uses all threads. A trial takes several calls, since waking a thread delays the first.
class ThreadChoice {
 public:
  /// `ns_a_unit`: initial estimate of one thread's time for a unit of work.
  explicit ThreadChoice(double ns_a_unit) noexcept : alone_{ns_a_unit, false} {}

  /// Number of threads for `units`, at most `threads` (0: OpenMP's choice). `not_shared`: extra ns
  /// of other threads to fetch data from this one's caches.
  unsigned choose(double units, double not_shared, unsigned threads) noexcept;
  /// Records the measured time.
  void record(double units, unsigned threads, double ns) noexcept;

 private:
  /// Measured time per unit.
  struct Timing {
    double ns = 0;
    bool measured = false;
    void record(double ns_a_unit, bool trial) noexcept;
  };

  Timing& timing(bool several) noexcept { return several ? together_ : alone_; }
  void begin_trial() noexcept;
  void end_trial() noexcept;

  Timing alone_, together_;
  bool several_ = true;         ///< current choice
  bool trial_ = true;           ///< whether a trial is in progress
  unsigned calls_ = 0;          ///< calls since the last change
  double lost_ns_ = 0;          ///< lost time in this trial
  double ns_since_change_ = 0;  ///< time of calls since the last change
  unsigned between_trials_ = 64;
};

/// The number of threads for a step of `nanoseconds` that prepares the input of repeated work. If
/// it is too short to wake threads for it, those that this thread's last choice takes, which are
/// awake and compute with the same items, so that these stay in their caches. `threads` is the
/// user's limit, 0 for OpenMP's choice.
unsigned threads_for_input(double nanoseconds, unsigned threads) noexcept;

}  // namespace gdr
