// How many threads work gets that is done again and again, by what it took before.
#pragma once

namespace gdr {

/// Several threads are slower than one where another program has the cores, or where there is too
/// little work to wake them. Which of both takes less time is tried now and then, for work below
/// 20 ms; of more they always have their part. A trial is some calls in a row, as a thread that has
/// to be woken comes too late for the first.
class ThreadChoice {
 public:
  /// `ns_a_unit`: a guess of what one thread takes for a unit of work.
  explicit ThreadChoice(double ns_a_unit) noexcept : alone_{ns_a_unit, false} {}

  /// For so many units, of at most `threads` (0: as many as OpenMP would take). `not_shared`: how
  /// many ns other threads need on top, to fetch what this one has in its caches.
  unsigned choose(double units, double not_shared, unsigned threads) noexcept;
  /// What that took.
  void record(double units, unsigned threads, double ns) noexcept;

 private:
  /// From begin to end, for a unit.
  struct Way {
    double ns = 0;
    bool measured = false;
    void record(double ns_a_unit, bool trial) noexcept;
  };

  Way& way(bool several) noexcept { return several ? together_ : alone_; }
  void begin_trial() noexcept;
  void end_trial() noexcept;

  Way alone_, together_;
  bool several_ = true;  ///< what is done now
  bool trial_ = true;    ///< or tried
  unsigned calls_ = 0;   ///< since that began
  double lost_ns_ = 0;   ///< in this trial
  unsigned between_trials_ = 64;
};

}  // namespace gdr
