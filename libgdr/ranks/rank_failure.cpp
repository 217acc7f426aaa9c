#include <exception>
#include <string>

#include "gdr/error.hpp"
#include "libgdr/device/core.hpp"
#include "libgdr/ranks/collective.hpp"
#include "libgdr/ranks/ranks.hpp"

namespace gdr {
namespace {

/// Waits for submitted work, which ends with an error because its group is revoked.
void drain(DeviceCore& device) {
  Work nothing;
  nothing.body = [](const std::stop_token&) {};
  device.queue.run(nothing);
}

/// Further ranks may fail during the recovery.
std::vector<unsigned> shrink(Ranks& ranks) {
  std::vector<unsigned> failed;
  for (bool complete = false; !complete;) {
    const std::vector<unsigned> more = ranks.calls->shrink();
    for (auto k = more.rbegin(); k != more.rend(); ++k) {
      failed.push_back(ranks.numbers.at(*k));
      ranks.numbers.erase(ranks.numbers.begin() + *k);
    }
    bool split = false;
    try {
      ranks.work = ranks.calls->split(0);
      split = true;
    } catch (const RankFailure&) {  // handled in the next iteration
    }
    complete = ranks.calls->agreed(split);
  }
  return {failed.rbegin(), failed.rend()};
}

/// Shrinks the device to the remaining ranks and returns the failed ones.
std::vector<unsigned> recover(DeviceCore& device) {
  drain(device);
  Ranks& ranks = ranks_of(device);
  ranks.retried = true;
  std::vector<unsigned> failed = shrink(ranks);
  {
    const std::scoped_lock lock(device.counters);
    std::vector<unsigned>& all = device.statistics.failed_ranks;
    all.insert(all.end(), failed.begin(), failed.end());
  }
  if (!failed.empty() && ranks.on_failure) ranks.on_failure(failed);
  return failed;
}

[[noreturn]] void throw_no_failed_rank() {
  throw CollectiveError(ErrorCategory::Device,
                        "a transfer between ranks failed, but no rank has failed");
}

}  // namespace

std::vector<unsigned> Ranks::shrink(DeviceCore& device) {
  if (!calls->supports_shrink())
    throw Error(ErrorCategory::Unsupported,
                "this device cannot continue after a rank failure: that requires an MPI with ULFM "
                "(Open MPI 5, started with mpirun --with-ft ulfm)");
  std::vector<unsigned> failed = recover(device);
  if (failed.empty()) throw_no_failed_rank();
  return failed;
}

void Ranks::retry_on_rank_failure(DeviceCore& device, const std::function<void()>& body) {
  if (!calls->supports_shrink()) return body();
  // The error of a background run may be reported after the recovery from its rank failure.
  constexpr int max_without_failure = 3;
  for (int without_failure = 0;;) {
    std::exception_ptr error;
    bool complete = true;
    try {
      body();
    } catch (const RankFailure&) {
      complete = false;
    } catch (const CollectiveError&) {
      // All ranks throw it, unless some saw a rank failure first: then all ranks retry.
      error = std::current_exception();
    }
    if (calls->agreed(complete)) {
      if (error) std::rethrow_exception(error);
      return;
    }
    without_failure = recover(device).empty() ? without_failure + 1 : 0;
    if (without_failure > max_without_failure) throw_no_failed_rank();
  }
}

}  // namespace gdr
