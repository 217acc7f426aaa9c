// RankGroup over MPI: the plugin that libgdr loads for devices of kind "mpi".
#include <mpi.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <mutex>
#include <utility>
#include <vector>

#include "gdr/error.hpp"
#include "libgdr/mpi/communicators.hpp"
#include "libgdr/ranks/collective.hpp"

namespace gdr {
namespace {

/// Counts of MPI are ints: longer messages are split.
constexpr std::size_t max_message_bytes = std::size_t{1} << 30;
constexpr int exchange_tag = 17;

/// A buffer of the library that a transfer uses.
using Buffer = std::unique_ptr<std::byte[]>;

/// Leaks a buffer to which an unfinished transfer may still write.
void leak(Buffer memory) {
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
  /// Allocates a buffer of n elements that exists at least until the transfer ends.
  template <typename T = std::byte>
  T* allocate(std::size_t n) {
    return reinterpret_cast<T*>(
        buffers_.emplace_back(std::make_unique<std::byte[]>(n * sizeof(T))).get());
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

class MpiGroup final : public RankGroup {
 public:
  /// Takes ownership of the communicator, which was derived from those of the communicator group.
  MpiGroup(MPI_Comm comm, std::shared_ptr<CommunicatorGroup> communicators) {
    adopt(comm, std::move(communicators));
    int level = 0;
    MPI_Query_thread(&level);
    any_thread_ = level == MPI_THREAD_MULTIPLE;
  }
  ~MpiGroup() override { close(); }
  MpiGroup(const MpiGroup&) = delete;
  MpiGroup& operator=(const MpiGroup&) = delete;

  unsigned rank() const noexcept override { return rank_; }
  unsigned size() const noexcept override { return size_; }
  bool any_thread() const noexcept override { return any_thread_; }
  std::string library() const override {
    char text[MPI_MAX_LIBRARY_VERSION_STRING] = "";
    int length = 0;
    MPI_Get_library_version(text, &length);
    const std::string all(text, static_cast<std::size_t>(length));
    return all.substr(0, all.find_first_of(",\n"));
  }

  void gather(const void* mine, std::size_t bytes, void* all) override {
    const int n = count(bytes);
    Requests requests(communicators_, shutdown_, shutdown_->begin());
    std::byte* const out = requests.allocate(bytes);
    std::byte* const in = requests.allocate(bytes * size_);
    if (bytes > 0) std::memcpy(out, mine, bytes);
    requests.check(MPI_Iallgather(out, n, MPI_BYTE, in, n, MPI_BYTE, comm_, requests.add()));
    requests.wait();
    if (bytes > 0) std::memcpy(all, in, bytes * size_);
  }

  void broadcast(void* data, std::size_t bytes, unsigned root) override {
    auto* at = static_cast<char*>(data);
    while (bytes > 0) {
      const std::size_t n = std::min(bytes, max_message_bytes);
      Requests requests(communicators_, shutdown_, shutdown_->begin());
      requests.check(MPI_Ibcast(at, static_cast<int>(n), MPI_BYTE, static_cast<int>(root), comm_,
                                requests.add()));
      requests.wait();
      at += n;
      bytes -= n;
    }
  }

  std::unique_ptr<RankPending> start_gather(std::uint64_t* all,
                                            std::span<const std::size_t> offsets) override {
    auto requests = std::make_unique<Requests>(communicators_, shutdown_, shutdown_->begin());
    int* const counts = requests->allocate<int>(size_);
    int* const displacements = requests->allocate<int>(size_);
    for (std::size_t r = 0; r < size_; ++r) {
      counts[r] = count(offsets[r + 1] - offsets[r]);
      displacements[r] = count(offsets[r]);
    }
    requests->check(MPI_Iallgatherv(MPI_IN_PLACE, 0, MPI_DATATYPE_NULL, all, counts, displacements,
                                    MPI_UINT64_T, comm_, requests->add()));
    return requests;
  }

  std::unique_ptr<RankPending> start_exchange(std::span<const RankTransfer> receives,
                                              std::span<const RankTransfer> sends) override {
    auto requests = std::make_unique<Requests>(communicators_, shutdown_, shutdown_->current());
    for_each_message(receives, [&](char* data, int n, int peer) {
      requests->check(MPI_Irecv(data, n, MPI_BYTE, peer, exchange_tag, comm_, requests->add()));
    });
    for_each_message(sends, [&](char* data, int n, int peer) {
      requests->check(MPI_Isend(data, n, MPI_BYTE, peer, exchange_tag, comm_, requests->add()));
    });
    return requests;
  }

  std::unique_ptr<RankGroup> split(unsigned colour) override {
    MPI_Comm part = MPI_COMM_NULL;
    communicators_->check(
        MPI_Comm_split(comm_, static_cast<int>(colour), static_cast<int>(rank_), &part));
    return std::make_unique<MpiGroup>(part, communicators_);
  }

  bool supports_shrink() const noexcept override { return has_ulfm; }

  bool agreed(bool success) override {
    if (!has_ulfm) return success;
    const std::uint64_t call = shutdown_->begin();
    Buffer memory = std::make_unique<std::byte[]>(sizeof(int));
    int* const flag = new (memory.get()) int(success ? 1 : 0);
    MPI_Request request = MPI_REQUEST_NULL;
    int code = MPIX_Comm_iagree(comm_, flag, &request);
    try {
      const auto completed = [&] {
        int done = 1;
        if (code == MPI_SUCCESS) code = MPI_Test(&request, &done, MPI_STATUS_IGNORE);
        return done != 0 || code != MPI_SUCCESS;
      };
      wait_until(completed, [&] { shutdown_->check(call); });
    } catch (...) {
      shutdown_->abandon();
      leak(std::move(memory));
      throw;
    }
    return code == MPI_SUCCESS && *flag != 0;
  }

  std::vector<unsigned> shrink() override {
    if (!has_ulfm) return {};
    communicators_->revoke();
    MPI_Comm next = MPI_COMM_NULL;
    if (const int code = MPIX_Comm_shrink(comm_, &next); code != MPI_SUCCESS)
      throw Error(ErrorCategory::Device, "the remaining ranks cannot form a communicator (" +
                                             text_of(code) + "); restart the job");
    std::vector<unsigned> failed = failed_ranks(comm_, next);
    free();
    adopt(next, std::make_shared<CommunicatorGroup>());
    return failed;
  }

  [[noreturn]] void abort(int status) override {
    MPI_Abort(comm_, status);
    std::_Exit(status);
  }

 private:
  static int count(std::size_t n) {
    if (n > 0x7fffffffU)
      throw Error(
          ErrorCategory::Unsupported,
          std::to_string(n) + " words or bytes in one transfer exceed the range of MPI counts");
    return static_cast<int>(n);
  }

  template <typename Start>
  static void for_each_message(std::span<const RankTransfer> transfers, const Start& start) {
    for (const RankTransfer& t : transfers)
      for (std::size_t done = 0; done < t.bytes; done += max_message_bytes)
        start(static_cast<char*>(t.data) + done,
              static_cast<int>(std::min(max_message_bytes, t.bytes - done)),
              static_cast<int>(t.peer));
  }

  void adopt(MPI_Comm comm, std::shared_ptr<CommunicatorGroup> communicators) {
    comm_ = comm;
    communicators_ = std::move(communicators);
    communicators_->add(comm_);
    MPI_Comm_set_errhandler(comm_, MPI_ERRORS_RETURN);
    int value = 0;
    MPI_Comm_rank(comm_, &value);
    rank_ = static_cast<unsigned>(value);
    MPI_Comm_size(comm_, &value);
    size_ = static_cast<unsigned>(value);
    shutdown_ = std::make_shared<ShutdownProtocol>(comm_);
    if (size_ > 1) ClosedCommunicators::of_process().add_open(shutdown_);
  }
  void close() noexcept {
    int ended = 0;
    MPI_Finalized(&ended);
    if (ended != 0) return;
    if (communicators_->revoked() || size_ == 1) return free();
    communicators_->remove(comm_);
    ClosedCommunicators::of_process().close(std::move(shutdown_));
  }
  void free() noexcept {
    communicators_->remove(comm_);
    if (!shutdown_->abandoned()) MPI_Comm_free(&comm_);
  }

  MPI_Comm comm_ = MPI_COMM_NULL;
  std::shared_ptr<CommunicatorGroup> communicators_;
  std::shared_ptr<ShutdownProtocol> shutdown_;
  unsigned rank_ = 0, size_ = 1;
  bool any_thread_ = false;
};

/// Finalises MPI at exit if this library initialised it. Not after a rank failure: MPI_Finalize of
/// Open MPI 5 may then wait forever for the failed ranks (seen with 5.0.11 when two of five had
/// failed), and mpirun accepts that ranks of such a job exit without it.
void finalize() {
  int ended = 0;
  MPI_Finalized(&ended);
  if (ended == 0 && !any_failed) MPI_Finalize();
}

void start_mpi() {
  int running = 0, ended = 0;
  MPI_Initialized(&running);
  MPI_Finalized(&ended);
  if (ended != 0) throw Error(ErrorCategory::Device, "MPI_Finalize has been called already");
  if (running != 0) return;
  int level = 0;
  if (MPI_Init_thread(nullptr, nullptr, MPI_THREAD_MULTIPLE, &level) != MPI_SUCCESS)
    throw Error(ErrorCategory::Device, "MPI_Init_thread failed");
  // Rank failures are detected in the library's communicators; errors elsewhere must not abort.
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
  MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN);
  std::atexit(finalize);
}

RankGroup* make_group(std::int32_t communicator, bool world) {
  start_mpi();
  const MPI_Comm from = world ? MPI_COMM_WORLD : MPI_Comm_f2c(communicator);
  if (from == MPI_COMM_NULL) throw Error(ErrorCategory::Usage, "the communicator is null");
  MPI_Comm own = MPI_COMM_NULL;
  if (MPI_Comm_dup(from, &own) != MPI_SUCCESS)
    throw Error(ErrorCategory::Device, "MPI_Comm_dup failed");
  return new MpiGroup(own, std::make_shared<CommunicatorGroup>());
}

}  // namespace
}  // namespace gdr

extern "C" __attribute__((visibility("default"))) gdr::RankGroup* gdr_mpi_ranks_2(
    std::int32_t communicator, bool world, char* error, std::size_t error_size) {
  try {
    return gdr::make_group(communicator, world);
  } catch (const std::exception& e) {
    std::snprintf(error, error_size, "%s", e.what());
    return nullptr;
  }
}
