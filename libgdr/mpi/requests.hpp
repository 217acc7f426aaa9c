// Transfers of MPI that are under way.
#pragma once

#include <mpi.h>

#include <chrono>
#include <cstddef>
#include <memory>
#include <mutex>
#include <utility>
#include <vector>

#include "libgdr/mpi/farewells.hpp"
#include "libgdr/mpi/losses.hpp"
#include "libgdr/mpi/waiting.hpp"
#include "libgdr/ranks/group.hpp"

namespace gdr {

/// Memory of the library's own that a transfer uses.
using Buffer = std::unique_ptr<std::byte[]>;

/// What transfers that will never end may still write to.
inline void keep_for_ever(Buffer memory) {
  static std::mutex mutex;
  static auto* const all = new std::vector<Buffer>;
  const std::scoped_lock lock(mutex);
  all->push_back(std::move(memory));
}

/// Requests that belong together, of a call that all ranks make; what fails is said with what it
/// means.
class Requests final : public RankPending {
 public:
  Requests(std::shared_ptr<Family> family, std::shared_ptr<Farewells> farewells, std::uint64_t call)
      : family_(std::move(family)), farewells_(std::move(farewells)), call_(call) {}
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
  /// Memory that lives as long as the transfer, also where nobody waits for its end.
  std::byte* keep(std::size_t bytes) {
    return kept_.emplace_back(std::make_unique<std::byte[]>(bytes)).get();
  }
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
    try {
      wait_until([this] { return test(); }, [this] { farewells_->check(call_); });
    } catch (...) {
      failed_ = true;
      throw;
    }
  }

 private:
  /// Nothing may arrive in memory that is gone. In a revoked communicator every transfer ends, well
  /// or not; elsewhere what is left is let go, with the memory that is the library's own.
  void settle() noexcept {
    using Clock = std::chrono::steady_clock;
    const Clock::time_point limit = Clock::now() + std::chrono::seconds(10);
    bool open = false;
    for (MPI_Request& request : list_) {
      int done = 0;
      while (has_ulfm && any_lost && failed_ && request != MPI_REQUEST_NULL && done == 0 &&
             Clock::now() < limit)
        if (MPI_Test(&request, &done, MPI_STATUS_IGNORE) != MPI_SUCCESS) break;
      open = open || request != MPI_REQUEST_NULL;
    }
    if (!open) return;
    farewells_->abandon();
    for (Buffer& memory : kept_) keep_for_ever(std::move(memory));
  }

  std::shared_ptr<Family> family_;
  std::shared_ptr<Farewells> farewells_;
  const std::uint64_t call_;
  std::vector<MPI_Request> list_;
  std::vector<Buffer> kept_;
  bool done_ = false, failed_ = false;
};

}  // namespace gdr
