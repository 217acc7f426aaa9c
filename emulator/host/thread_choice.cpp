#include "emulator/host/thread_choice.hpp"

#include <algorithm>

#include "emulator/host/parallel.hpp"

namespace gdr {
namespace {

/// Minimum work per thread. Less than elsewhere: where several threads do not pay, the times show
/// it.
constexpr double worth_trying_ns = 6'000;
/// For longer work, a time slice of another program is negligible.
constexpr double long_work_ns = 20e6;
/// A trial takes so many calls, of one thread and of several. One of several also takes so long: a
/// thread that sleeps begins some hundred microseconds after it was woken, and until then the
/// caller works alone.
constexpr unsigned calls_of_one = 3, calls_of_several = 8;
constexpr double waking_ns = 500e3;
/// A trial that loses more time ends earlier.
constexpr double max_lost_ns = 300e3;
/// Trials are rare where they find no change.
constexpr unsigned first_pause = 64, longest_pause = 512;
/// Minimum of a step that prepares input, for threads that are awake.
constexpr double worth_dividing_ns = 1'000;

thread_local unsigned last_choice = 1;

}  // namespace

/// The minimum in a trial; the median afterwards, to ignore outliers.
void ThreadChoice::Timing::record(double ns_a_unit, bool trial) noexcept {
  constexpr double step = 1.25;
  if (!measured)
    ns = ns_a_unit;
  else if (ns_a_unit > ns)
    ns = std::min(ns_a_unit, ns * step);
  else
    ns = trial ? ns_a_unit : std::max(ns_a_unit, ns / step);
  measured = true;
}

unsigned ThreadChoice::choose(double units, double not_shared, unsigned threads) noexcept {
  const double work = units * alone_.ns;
  const unsigned most = threads_for(work - not_shared, threads, worth_trying_ns);
  last_choice = most <= 1 || work > long_work_ns || several_ ? most : 1;
  return last_choice;
}

unsigned threads_for_input(double nanoseconds, unsigned threads) noexcept {
  const unsigned several = threads_for(nanoseconds, threads);
  if (several > 1 || last_choice == 1) return several;
  return std::min(last_choice, threads_for(nanoseconds, threads, worth_dividing_ns));
}

void ThreadChoice::record(double units, unsigned threads, double ns) noexcept {
  if (ns < worth_trying_ns || ns > long_work_ns) return;
  const bool several = threads > 1;
  if (several == several_) ns_since_change_ += ns;
  const bool waking = several && several_ && ns_since_change_ < waking_ns;
  if (waking && !trial_) return;
  Timing& used = timing(several);
  if (trial_ && calls_ == 0) used.measured = false;
  used.record(ns / units, trial_);
  // Initial estimate, rather too high.
  if (several && !alone_.measured) alone_.ns = together_.ns * threads;
  if (several != several_) return;  // There was no choice.
  ++calls_;
  const Timing& other = timing(!several);
  if (!trial_) {
    if (calls_ >= between_trials_ || used.ns > other.ns) begin_trial();
    return;
  }
  // A call during which the host took a thread off its core says nothing about the others.
  if (other.measured) lost_ns_ += std::min(ns - units * other.ns, max_lost_ns / 3);
  if ((calls_ >= (several ? calls_of_several : calls_of_one) && !waking) || lost_ns_ > max_lost_ns)
    end_trial();
}

void ThreadChoice::begin_trial() noexcept {
  several_ = !several_;
  trial_ = true;
  calls_ = 0;
  ns_since_change_ = lost_ns_ = 0;
}

void ThreadChoice::end_trial() noexcept {
  Timing& tried = timing(several_);
  const Timing& other = timing(!several_);
  if (!other.measured) return begin_trial();
  if (lost_ns_ > max_lost_ns) tried.ns = std::max(tried.ns, 2 * other.ns);
  const bool better = tried.ns < other.ns;
  between_trials_ = better ? first_pause : std::min(2 * between_trials_, longest_pause);
  if (!better) {
    several_ = !several_;
    ns_since_change_ = 0;
  }
  trial_ = false;
  calls_ = 0;
}

}  // namespace gdr
