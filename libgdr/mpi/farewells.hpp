// Ranks that make no more calls: a rank that closes its device, or ends, while others go on calling
// it would have them wait for ever. So it tells them, and how many calls it took part in: whoever
// waits in a later one throws.
#pragma once

#include <mpi.h>

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "libgdr/mpi/waiting.hpp"
#include "libgdr/ranks/agree.hpp"

namespace gdr {

/// The farewells of the ranks of one communicator.
class Farewells {
 public:
  explicit Farewells(MPI_Comm comm) : comm_(comm) {
    int rank = 0, size = 1;
    MPI_Comm_rank(comm, &rank);
    MPI_Comm_size(comm, &size);
    rank_ = static_cast<std::size_t>(rank);
    calls_of_.assign(static_cast<std::size_t>(size), no_end);
    sends_.assign(calls_of_.size(), MPI_REQUEST_NULL);
  }

  /// A call that all ranks make begins here; its number. Throws what check() does.
  std::uint64_t begin() {
    const std::scoped_lock lock(mutex_);
    ++calls_;
    throw_if_gone(calls_);
    return calls_;
  }
  /// The last of them, for what is part of it.
  std::uint64_t current() {
    const std::scoped_lock lock(mutex_);
    return calls_;
  }
  /// Throws AgreedError if a rank has left that never made this call.
  void check(std::uint64_t call) {
    const std::scoped_lock lock(mutex_);
    receive();
    throw_if_gone(call);
  }
  /// To all others: no further call comes from here.
  void say() noexcept {
    const std::scoped_lock lock(mutex_);
    if (said_) return;
    said_ = true;
    for (std::size_t r = 0; r < sends_.size(); ++r)
      if (r != rank_)
        MPI_Isend(&calls_, 1, MPI_UINT64_T, static_cast<int>(r), tag, comm_, &sends_[r]);
  }
  /// All farewells, both ways, have arrived: nothing is under way in the communicator any more.
  bool all_said() noexcept {
    const std::scoped_lock lock(mutex_);
    receive();
    int sent = 0;
    const int n = static_cast<int>(sends_.size());
    if (MPI_Testall(n, sends_.data(), &sent, MPI_STATUSES_IGNORE) != MPI_SUCCESS) broken_ = true;
    if (broken_) return true;
    const auto missing = std::ranges::count(calls_of_, no_end);
    return said_ && sent != 0 && missing == 1;  // this rank's own is sent to nobody
  }
  /// What was called last has not ended, nor will it.
  void abandon() noexcept { abandoned_ = true; }
  bool abandoned() const noexcept { return abandoned_; }
  MPI_Comm comm() const noexcept { return comm_; }

 private:
  static constexpr int tag = 18;
  static constexpr std::uint64_t no_end = ~std::uint64_t{0};

  void receive() noexcept {
    for (int there = 1; !broken_ && there != 0;) {
      MPI_Status status;
      // Where a rank is lost, the transfers themselves say it.
      if (MPI_Iprobe(MPI_ANY_SOURCE, tag, comm_, &there, &status) != MPI_SUCCESS) return;
      if (there == 0) return;
      std::uint64_t calls = 0;
      broken_ = MPI_Recv(&calls, 1, MPI_UINT64_T, status.MPI_SOURCE, tag, comm_,
                         MPI_STATUS_IGNORE) != MPI_SUCCESS;
      if (!broken_) calls_of_[static_cast<std::size_t>(status.MPI_SOURCE)] = calls;
    }
  }
  void throw_if_gone(std::uint64_t call) const {
    for (std::size_t r = 0; r < calls_of_.size(); ++r)
      if (calls_of_[r] < call)
        throw AgreedError(ErrorCategory::Usage,
                          "rank " + std::to_string(r) +
                              " has closed the device, or ended, while others still call it; all "
                              "ranks make the same calls in the same order");
  }

  const MPI_Comm comm_;
  std::mutex mutex_;
  std::size_t rank_ = 0;
  std::uint64_t calls_ = 0;              ///< begun by this rank
  std::vector<std::uint64_t> calls_of_;  ///< that a rank which has left took part in
  std::vector<MPI_Request> sends_;
  bool said_ = false, broken_ = false;
  std::atomic<bool> abandoned_ = false;
};

/// Communicators that this process has left, but perhaps not all others: freed when these have, as
/// a farewell that arrived later might be taken for one in the next that gets the same number.
class Departures {
 public:
  /// Never destroyed: MPI may be ended later than anything else.
  static Departures& of_process() {
    static auto* const one = new Departures;
    return *one;
  }
  /// A communicator that will be left before MPI ends.
  void expect(const std::shared_ptr<Farewells>& group) {
    const std::scoped_lock lock(mutex_);
    if (key_ == MPI_KEYVAL_INVALID) {
      // What belongs to this process's own communicator is deleted first when MPI ends.
      MPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, &Departures::mpi_ends, &key_, nullptr);
      MPI_Comm_set_attr(MPI_COMM_SELF, key_, this);
    }
    std::erase_if(open_, [](const auto& other) { return other.expired(); });
    open_.push_back(group);
  }
  void leave(std::shared_ptr<Farewells> group) {
    const std::scoped_lock lock(mutex_);
    group->say();
    left_.push_back(std::move(group));
    free_those_that_all_left();
  }

 private:
  static int mpi_ends(MPI_Comm, int, void* departures, void*) {
    static_cast<Departures*>(departures)->end();
    return MPI_SUCCESS;
  }
  /// All ranks come here, or are ended: so it is waited for the last of them.
  void end() {
    const std::scoped_lock lock(mutex_);
    for (const auto& still_open : open_)
      if (const auto group = still_open.lock();
          group && std::ranges::find(left_, group) == left_.end()) {
        group->say();
        left_.push_back(group);
      }
    open_.clear();
    try {
      wait_until([this] { return free_those_that_all_left(); }, [] {});
    } catch (...) {  // one of them hangs, and the limit has passed
    }
  }
  bool free_those_that_all_left() {
    std::erase_if(left_, [](const std::shared_ptr<Farewells>& group) {
      if (!group->all_said()) return false;
      MPI_Comm comm = group->comm();
      if (!group->abandoned()) MPI_Comm_free(&comm);
      return true;
    });
    return left_.empty();
  }

  std::mutex mutex_;
  int key_ = MPI_KEYVAL_INVALID;
  std::vector<std::weak_ptr<Farewells>> open_;
  std::vector<std::shared_ptr<Farewells>> left_;
};

}  // namespace gdr
