// The communicators of a group of ranks: failure of ranks, shutdown, and waits for communication.
//
// Rank failures need ULFM (user-level failure mitigation), an MPI extension for jobs that continue
// after rank failures. Open MPI supports it from version 5. MPICH 4.0 to 5.0 declares the same
// functions, but they abort the process (ch4), so they are not used.
//
// Shutdown protocol: a rank that closes its device or exits sends the number of its collective
// calls to all other ranks, so that ranks in a later call throw an error and do not wait forever.
#pragma once

#include <mpi.h>
#if __has_include(<mpi-ext.h>)
#include <mpi-ext.h>
#endif
#include <sched.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdint>
#include <cstdlib>
#include <memory>
#include <mutex>
#include <sstream>
#include <string>
#include <string_view>
#include <vector>

#include "emulator/host/parse_number.hpp"
#include "gdr/ranks.hpp"
#include "libgdr/ranks/collective.hpp"

namespace gdr {

#ifdef OMPI_HAVE_MPI_EXT_FTMPI
constexpr bool has_ulfm = true;
#else
constexpr bool has_ulfm = false;
// Stubs, so that the code below compiles without ULFM.
inline int MPIX_Comm_revoke(MPI_Comm) { return MPI_ERR_OTHER; }
inline int MPIX_Comm_shrink(MPI_Comm, MPI_Comm*) { return MPI_ERR_OTHER; }
inline int MPIX_Comm_iagree(MPI_Comm, int*, MPI_Request*) { return MPI_ERR_OTHER; }
#endif

inline std::string text_of(int code) {
  char text[MPI_MAX_ERROR_STRING] = "";
  int length = 0;
  MPI_Error_string(code, text, &length);
  return {text, static_cast<std::size_t>(length)};
}

/// Whether a rank of one of this process's groups may have failed.
inline std::atomic<bool> any_failed = false;

/// Communicators derived from one another. After a rank failure all of them are revoked: otherwise
/// a rank might wait in one communicator for a rank that has detected the failure in another.
class CommunicatorGroup {
 public:
  void add(MPI_Comm comm) {
    const std::scoped_lock lock(mutex_);
    members_.push_back(comm);
  }
  void remove(MPI_Comm comm) {
    const std::scoped_lock lock(mutex_);
    std::erase(members_, comm);
  }
  /// Whether a rank has failed and the communicators are revoked.
  bool revoked() const noexcept { return revoked_; }
  void revoke() noexcept {
    any_failed = revoked_ = true;
    const std::scoped_lock lock(mutex_);
    for (const MPI_Comm comm : members_) MPIX_Comm_revoke(comm);
  }
  /// Throws the error for a return code other than MPI_SUCCESS.
  void check(int code) {
    if (code == MPI_SUCCESS) return;
    if (!has_ulfm)
      throw Error(ErrorCategory::Device,
                  "the transfer between ranks failed (" + text_of(code) +
                      "): another rank has failed or cannot be reached; restart the job, from its "
                      "last snapshot if there is one");
    revoke();
    throw RankFailure("another rank has failed (" + text_of(code) +
                      "); Device::shrink() continues with the remaining ranks");
  }

 private:
  std::mutex mutex_;
  std::vector<MPI_Comm> members_;
  std::atomic<bool> revoked_ = false;
};

/// Numbers in `before` of the ranks that are not in `after`.
inline std::vector<unsigned> failed_ranks(MPI_Comm before, MPI_Comm after) {
  MPI_Group old = MPI_GROUP_NULL, remaining = MPI_GROUP_NULL;
  MPI_Comm_group(before, &old);
  MPI_Comm_group(after, &remaining);
  int n = 0;
  MPI_Group_size(old, &n);
  std::vector<unsigned> failed;
  for (int rank = 0; rank < n; ++rank) {
    int found = MPI_UNDEFINED;
    MPI_Group_translate_ranks(old, 1, &rank, remaining, &found);
    if (found == MPI_UNDEFINED) failed.push_back(static_cast<unsigned>(rank));
  }
  MPI_Group_free(&old);
  MPI_Group_free(&remaining);
  return failed;
}

/// Waits until `done` returns true, by polling and sleeping, so that ranks can share cores; throws
/// after GDR_MPI_TIMEOUT seconds, if set. During longer waits `check` is called periodically and
/// may throw.
template <typename Done, typename Check>
void wait_until(const Done& done, const Check& check) {
  using Clock = std::chrono::steady_clock;
  const char* const text = std::getenv("GDR_MPI_TIMEOUT");
  std::string_view front = text == nullptr ? "" : text;
  const double limit = take_number<double>(front).value_or(0);
  const Clock::time_point begin = Clock::now();
  for (unsigned tries = 0; !done(); ++tries) {
    if (tries < 2000) {
      sched_yield();
      continue;
    }
    usleep(tries < 20000 ? 20 : 200);
    if (tries % 64 == 0) check();
    const std::chrono::duration<double> waited = Clock::now() - begin;
    if (limit > 0 && waited.count() > limit)
      throw Error(ErrorCategory::Device,
                  (std::ostringstream() << "no data from other ranks within " << limit
                                        << " s (GDR_MPI_TIMEOUT); a rank hangs or made a different "
                                           "call")
                      .str());
  }
}

/// The shutdown messages of the ranks of one communicator.
class ShutdownProtocol {
 public:
  explicit ShutdownProtocol(MPI_Comm comm) : comm_(comm) {
    int rank = 0, size = 1;
    MPI_Comm_rank(comm, &rank);
    MPI_Comm_size(comm, &size);
    rank_ = static_cast<std::size_t>(rank);
    calls_of_.assign(static_cast<std::size_t>(size), no_end);
    sends_.assign(calls_of_.size(), MPI_REQUEST_NULL);
  }

  /// Starts a collective call and returns its number. Throws like check().
  std::uint64_t begin() {
    const std::scoped_lock lock(mutex_);
    ++calls_;
    throw_if_shut_down(calls_);
    return calls_;
  }
  /// The number of the current call.
  std::uint64_t current() {
    const std::scoped_lock lock(mutex_);
    return calls_;
  }
  /// Throws CollectiveError if a rank has shut down without making this call.
  void check(std::uint64_t call) {
    const std::scoped_lock lock(mutex_);
    receive();
    throw_if_shut_down(call);
  }
  /// Sends the shutdown message to all other ranks.
  void send() noexcept {
    const std::scoped_lock lock(mutex_);
    if (sent_) return;
    sent_ = true;
    for (std::size_t r = 0; r < sends_.size(); ++r)
      if (r != rank_)
        MPI_Isend(&calls_, 1, MPI_UINT64_T, static_cast<int>(r), tag, comm_, &sends_[r]);
  }
  /// Whether all shutdown messages have been sent and received: the communicator is idle.
  bool complete() noexcept {
    const std::scoped_lock lock(mutex_);
    receive();
    int sent = 0;
    const int n = static_cast<int>(sends_.size());
    if (MPI_Testall(n, sends_.data(), &sent, MPI_STATUSES_IGNORE) != MPI_SUCCESS) broken_ = true;
    if (broken_) return true;
    const auto missing = std::ranges::count(calls_of_, no_end);
    return sent_ && sent != 0 && missing == 1;  // a rank sends no message to itself
  }
  /// Records that the last call cannot complete.
  void abandon() noexcept { abandoned_ = true; }
  bool abandoned() const noexcept { return abandoned_; }
  MPI_Comm comm() const noexcept { return comm_; }

 private:
  static constexpr int tag = 18;
  static constexpr std::uint64_t no_end = ~std::uint64_t{0};

  void receive() noexcept {
    for (int available = 1; !broken_ && available != 0;) {
      MPI_Status status;
      // If a rank has failed, the transfers report it.
      if (MPI_Iprobe(MPI_ANY_SOURCE, tag, comm_, &available, &status) != MPI_SUCCESS) return;
      if (available == 0) return;
      std::uint64_t calls = 0;
      broken_ = MPI_Recv(&calls, 1, MPI_UINT64_T, status.MPI_SOURCE, tag, comm_,
                         MPI_STATUS_IGNORE) != MPI_SUCCESS;
      if (!broken_) calls_of_[static_cast<std::size_t>(status.MPI_SOURCE)] = calls;
    }
  }
  void throw_if_shut_down(std::uint64_t call) const {
    for (std::size_t r = 0; r < calls_of_.size(); ++r)
      if (calls_of_[r] < call)
        throw CollectiveError(
            ErrorCategory::Usage,
            "rank " + std::to_string(r) +
                " has closed the device or exited while other ranks still call it; "
                "all ranks must make the same calls in the same order");
  }

  const MPI_Comm comm_;
  std::mutex mutex_;
  std::size_t rank_ = 0;
  std::uint64_t calls_ = 0;              ///< calls started by this rank
  std::vector<std::uint64_t> calls_of_;  ///< number of calls of each rank that has shut down
  std::vector<MPI_Request> sends_;
  bool sent_ = false, broken_ = false;
  std::atomic<bool> abandoned_ = false;
};

/// Communicators that this process has closed. They are freed when all ranks have closed them,
/// because a late shutdown message might be received in a new communicator with the same context.
class ClosedCommunicators {
 public:
  /// Never destroyed: MPI may be finalised after static destructors have run.
  static ClosedCommunicators& of_process() {
    static auto* const one = new ClosedCommunicators;
    return *one;
  }
  /// Registers an open communicator, which is closed at the latest when MPI is finalised.
  void add_open(const std::shared_ptr<ShutdownProtocol>& group) {
    const std::scoped_lock lock(mutex_);
    if (key_ == MPI_KEYVAL_INVALID) {
      // MPI_Finalize first deletes the attributes of MPI_COMM_SELF.
      MPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, &ClosedCommunicators::on_finalize, &key_,
                             nullptr);
      MPI_Comm_set_attr(MPI_COMM_SELF, key_, this);
    }
    std::erase_if(open_, [](const auto& other) { return other.expired(); });
    open_.push_back(group);
  }
  void close(std::shared_ptr<ShutdownProtocol> group) {
    const std::scoped_lock lock(mutex_);
    group->send();
    closed_.push_back(std::move(group));
    free_complete();
  }

 private:
  static int on_finalize(MPI_Comm, int, void* communicators, void*) {
    static_cast<ClosedCommunicators*>(communicators)->finalize();
    return MPI_SUCCESS;
  }
  /// Closes and frees all communicators. All ranks reach this point or have ended.
  void finalize() {
    const std::scoped_lock lock(mutex_);
    for (const auto& open : open_)
      if (const auto group = open.lock();
          group && std::ranges::find(closed_, group) == closed_.end()) {
        group->send();
        closed_.push_back(group);
      }
    open_.clear();
    try {
      wait_until([this] { return free_complete(); }, [] {});
    } catch (...) {  // timeout: a rank hangs
    }
  }
  bool free_complete() {
    std::erase_if(closed_, [](const std::shared_ptr<ShutdownProtocol>& group) {
      if (!group->complete()) return false;
      MPI_Comm comm = group->comm();
      if (!group->abandoned()) MPI_Comm_free(&comm);
      return true;
    });
    return closed_.empty();
  }

  std::mutex mutex_;
  int key_ = MPI_KEYVAL_INVALID;
  std::vector<std::weak_ptr<ShutdownProtocol>> open_;
  std::vector<std::shared_ptr<ShutdownProtocol>> closed_;
};

}  // namespace gdr
