#include <exception>
#include <string>

#include "gdr/error.hpp"
#include "libgdr/device/core.hpp"
#include "libgdr/ranks/agree.hpp"
#include "libgdr/ranks/ranks.hpp"

namespace gdr {
namespace {

/// What was submitted ends by itself: nothing of the old groups works any more.
void drain(DeviceCore& device) {
  Work nothing;
  nothing.body = [](const std::stop_token&) {};
  device.queue.run(nothing);
}

/// Losses may come while others are dealt with.
std::vector<unsigned> shrink(Ranks& ranks) {
  std::vector<unsigned> lost;
  for (bool whole = false; !whole;) {
    const std::vector<unsigned> more = ranks.calls->shrink();
    for (auto k = more.rbegin(); k != more.rend(); ++k) {
      lost.push_back(ranks.numbers.at(*k));
      ranks.numbers.erase(ranks.numbers.begin() + *k);
    }
    bool made = false;
    try {
      ranks.work = ranks.calls->split(0);
      made = true;
    } catch (const RanksLost&) {  // the next turn finds out who
    }
    whole = ranks.calls->agreed(made);
  }
  return {lost.rbegin(), lost.rend()};
}

/// Makes the device one of the ranks that are left.
std::vector<unsigned> go_on(DeviceCore& device) {
  drain(device);
  Ranks& ranks = ranks_of(device);
  ranks.done_again = true;
  std::vector<unsigned> lost = shrink(ranks);
  {
    const std::scoped_lock lock(device.counters);
    std::vector<unsigned>& all = device.statistics.lost_ranks;
    all.insert(all.end(), lost.begin(), lost.end());
  }
  if (!lost.empty() && ranks.on_loss) ranks.on_loss(lost);
  return lost;
}

[[noreturn]] void none_is_lost() {
  throw AgreedError(ErrorCategory::Device,
                    "a transfer between ranks failed, but none of them is lost");
}

}  // namespace

std::vector<unsigned> Ranks::recover(DeviceCore& device) {
  if (!calls->outlives_losses())
    throw Error(ErrorCategory::Unsupported,
                "this device cannot go on without ranks that are lost: that takes an MPI with ULFM "
                "(Open MPI 5, started with mpirun --with-ft ulfm)");
  std::vector<unsigned> lost = go_on(device);
  if (lost.empty()) none_is_lost();
  return lost;
}

void Ranks::despite_losses(DeviceCore& device, const std::function<void()>& body) {
  if (!calls->outlives_losses()) return body();
  // The error of a run in the background may be told late, when its loss is dealt with already.
  constexpr int most_in_vain = 3;
  for (int in_vain = 0;;) {
    std::exception_ptr error;
    bool whole = true;
    try {
      body();
    } catch (const RanksLost&) {
      whole = false;
    } catch (const AgreedError&) {
      // All threw it, unless some lost a rank first: then all try again.
      error = std::current_exception();
    }
    if (calls->agreed(whole)) {
      if (error) std::rethrow_exception(error);
      return;
    }
    in_vain = go_on(device).empty() ? in_vain + 1 : 0;
    if (in_vain > most_in_vain) none_is_lost();
  }
}

}  // namespace gdr
