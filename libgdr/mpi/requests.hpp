// Waiting for what MPI has under way: by testing and sleeping, so that ranks that share cores let
// each other work, and a limit can be kept.
#pragma once

#include <mpi.h>
#include <sched.h>
#include <unistd.h>

#include <chrono>
#include <cstdlib>
#include <memory>
#include <string>
#include <vector>

#include "libgdr/mpi/losses.hpp"
#include "libgdr/ranks/group.hpp"

namespace gdr {

/// Until `done` returns true, or GDR_MPI_TIMEOUT seconds have passed, where it is set.
template <typename Done>
void wait_until(const Done& done) {
  using Clock = std::chrono::steady_clock;
  const char* const text = std::getenv("GDR_MPI_TIMEOUT");
  const double limit = text == nullptr ? 0 : std::atof(text);
  const Clock::time_point begin = Clock::now();
  for (unsigned tries = 0; !done(); ++tries) {
    if (tries < 2000) {
      sched_yield();
      continue;
    }
    usleep(tries < 20000 ? 20 : 200);
    const std::chrono::duration<double> waited = Clock::now() - begin;
    if (limit > 0 && waited.count() > limit)
      throw Error(ErrorCategory::Device,
                  "nothing came from other ranks within " + std::to_string(limit) +
                      " s (GDR_MPI_TIMEOUT); one of them hangs or made other calls");
  }
}

/// Requests that belong together; what fails is said with what it means.
class Requests final : public RankPending {
 public:
  explicit Requests(std::shared_ptr<Family> family) : family_(std::move(family)) {}
  ~Requests() override {
    try {
      if (!failed_) wait();
    } catch (...) {  // the others are lost: an error is on its way already
    }
    settle();
  }
  Requests(const Requests&) = delete;
  Requests& operator=(const Requests&) = delete;

  MPI_Request* add() { return &list_.emplace_back(MPI_REQUEST_NULL); }
  void check(int code) {
    failed_ = failed_ || code != MPI_SUCCESS;
    family_->check(code);
  }

  bool test() override {
    if (done_) return true;
    int all = 0;
    check(MPI_Testall(static_cast<int>(list_.size()), list_.data(), &all, MPI_STATUSES_IGNORE));
    done_ = all != 0;
    return done_;
  }

  void wait() override {
    wait_until([this] { return test(); });
  }

 private:
  /// Nothing may arrive in memory that is gone. In a revoked communicator every transfer ends, well
  /// or not; elsewhere what is left is let go, as the process will end.
  void settle() noexcept {
    using Clock = std::chrono::steady_clock;
    const Clock::time_point limit = Clock::now() + std::chrono::seconds(10);
    for (MPI_Request& request : list_) {
      int done = 0;
      while (has_ulfm && failed_ && request != MPI_REQUEST_NULL && done == 0 &&
             Clock::now() < limit)
        if (MPI_Test(&request, &done, MPI_STATUS_IGNORE) != MPI_SUCCESS) break;
      if (request != MPI_REQUEST_NULL) MPI_Request_free(&request);
    }
  }

  std::shared_ptr<Family> family_;
  std::vector<MPI_Request> list_;
  bool done_ = false, failed_ = false;
};

}  // namespace gdr
