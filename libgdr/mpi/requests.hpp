// Nonblocking MPI communication in progress.
#pragma once

#include <mpi.h>

#include <chrono>
#include <cstddef>
#include <memory>
#include <mutex>
#include <utility>
#include <vector>

#include "libgdr/mpi/shutdown.hpp"
#include "libgdr/mpi/ulfm.hpp"
#include "libgdr/mpi/wait.hpp"
#include "libgdr/ranks/group.hpp"

namespace gdr {

/// A buffer of the library that a transfer uses.
using Buffer = std::unique_ptr<std::byte[]>;

/// Leaks a buffer to which an unfinished transfer may still write.
inline void leak(Buffer memory) {
  static std::mutex mutex;
  static auto* const leaked = new std::vector<Buffer>;
  const std::scoped_lock lock(mutex);
  leaked->push_back(std::move(memory));
}

/// The requests of one collective call; throws meaningful errors if they fail.
class Requests final : public RankPending {
 public:
  Requests(std::shared_ptr<CommunicatorGroup> communicators,
           std::shared_ptr<ShutdownProtocol> shutdown, std::uint64_t call)
      : communicators_(std::move(communicators)), shutdown_(std::move(shutdown)), call_(call) {}
  ~Requests() override {
    try {
      if (!failed_) wait();
    } catch (...) {  // an error is being thrown already
    }
    release();
  }
  Requests(const Requests&) = delete;
  Requests& operator=(const Requests&) = delete;

  MPI_Request* add() { return &list_.emplace_back(MPI_REQUEST_NULL); }
  /// Allocates a buffer that exists at least until the transfer ends.
  std::byte* allocate(std::size_t bytes) {
    return buffers_.emplace_back(std::make_unique<std::byte[]>(bytes)).get();
  }
  void check(int code) {
    failed_ = failed_ || code != MPI_SUCCESS;
    communicators_->check(code);
  }

  bool test() override {
    if (done_) return true;
    int all = 0;
    check(MPI_Testall(static_cast<int>(list_.size()), list_.data(), &all, MPI_STATUSES_IGNORE));
    done_ = all != 0;
    return done_;
  }

  void wait() override {
    try {
      wait_until([this] { return test(); }, [this] { shutdown_->check(call_); });
    } catch (...) {
      failed_ = true;
      throw;
    }
  }

 private:
  /// Ensures that no transfer writes to freed memory. In a revoked communicator every transfer
  /// ends; otherwise unfinished transfers are abandoned and their buffers are leaked.
  void release() noexcept {
    using Clock = std::chrono::steady_clock;
    const Clock::time_point limit = Clock::now() + std::chrono::seconds(10);
    bool unfinished = false;
    for (MPI_Request& request : list_) {
      int done = 0;
      while (has_ulfm && any_failed && failed_ && request != MPI_REQUEST_NULL && done == 0 &&
             Clock::now() < limit)
        if (MPI_Test(&request, &done, MPI_STATUS_IGNORE) != MPI_SUCCESS) break;
      unfinished = unfinished || request != MPI_REQUEST_NULL;
    }
    if (!unfinished) return;
    shutdown_->abandon();
    for (Buffer& memory : buffers_) leak(std::move(memory));
  }

  std::shared_ptr<CommunicatorGroup> communicators_;
  std::shared_ptr<ShutdownProtocol> shutdown_;
  const std::uint64_t call_;
  std::vector<MPI_Request> list_;
  std::vector<Buffer> buffers_;
  bool done_ = false, failed_ = false;
};

}  // namespace gdr
