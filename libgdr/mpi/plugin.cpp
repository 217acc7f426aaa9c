// RankGroup over MPI: the library that libgdr loads for devices of kind "mpi". Waiting is done by
// testing and sleeping, so that ranks that share cores let each other work, and a limit can be
// kept.
#include <mpi.h>
#if __has_include(<mpi-ext.h>)
#include <mpi-ext.h>
#endif
#include <sched.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <vector>

#include "gdr/error.hpp"
#include "libgdr/ranks/plugin.hpp"

namespace gdr {
namespace {

/// Counts of MPI are ints: longer transfers go in pieces.
constexpr std::size_t most_bytes = std::size_t{1} << 30;
constexpr int exchange_tag = 17;

std::string text_of(int code) {
  char text[MPI_MAX_ERROR_STRING] = "";
  int length = 0;
  MPI_Error_string(code, text, &length);
  return {text, static_cast<std::size_t>(length)};
}

double time_limit() {
  const char* const text = std::getenv("GDR_MPI_TIMEOUT");
  return text == nullptr ? 0 : std::atof(text);
}

class MpiGroup;

/// Waits for requests; what fails is said with the rank and what it means.
class Requests final : public RankPending {
 public:
  explicit Requests(MPI_Comm comm) : comm_(comm) {}
  ~Requests() override {
    try {
      wait();
    } catch (...) {  // the others are lost: an error is on its way already
      for (MPI_Request& request : list_)
        if (request != MPI_REQUEST_NULL) MPI_Request_free(&request);
    }
  }
  Requests(const Requests&) = delete;
  Requests& operator=(const Requests&) = delete;

  MPI_Request* add() { return &list_.emplace_back(MPI_REQUEST_NULL); }
  void check(int code) const {
    if (code == MPI_SUCCESS) return;
    throw Error(ErrorCategory::Device,
                "the transfer between ranks failed (" + text_of(code) +
                    "): another rank has ended or cannot be reached; start the job again, from "
                    "its last snapshot if there is one");
  }

  bool test() override {
    if (done_) return true;
    int all = 0;
    check(MPI_Testall(static_cast<int>(list_.size()), list_.data(), &all, MPI_STATUSES_IGNORE));
    done_ = all != 0;
    return done_;
  }

  void wait() override {
    using Clock = std::chrono::steady_clock;
    const double limit = time_limit();
    const Clock::time_point begin = Clock::now();
    for (unsigned tries = 0; !test(); ++tries) {
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

 private:
  MPI_Comm comm_;
  std::vector<MPI_Request> list_;
  bool done_ = false;
};

class MpiGroup final : public RankGroup {
 public:
  /// Takes over the communicator.
  explicit MpiGroup(MPI_Comm comm) : comm_(comm) {
    MPI_Comm_set_errhandler(comm_, MPI_ERRORS_RETURN);
    int value = 0;
    MPI_Comm_rank(comm_, &value);
    rank_ = static_cast<unsigned>(value);
    MPI_Comm_size(comm_, &value);
    size_ = static_cast<unsigned>(value);
    MPI_Query_thread(&value);
    any_thread_ = value == MPI_THREAD_MULTIPLE;
  }
  ~MpiGroup() override {
    int ended = 0;
    MPI_Finalized(&ended);
    if (ended == 0) MPI_Comm_free(&comm_);
  }
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
    Requests requests(comm_);
    const int n = count(bytes);
    requests.check(MPI_Iallgather(mine, n, MPI_BYTE, all, n, MPI_BYTE, comm_, requests.add()));
    requests.wait();
  }

  void broadcast(void* data, std::size_t bytes, unsigned root) override {
    auto* at = static_cast<char*>(data);
    while (bytes > 0) {
      const std::size_t n = std::min(bytes, most_bytes);
      Requests requests(comm_);
      requests.check(MPI_Ibcast(at, static_cast<int>(n), MPI_BYTE, static_cast<int>(root), comm_,
                                requests.add()));
      requests.wait();
      at += n;
      bytes -= n;
    }
  }

  std::unique_ptr<RankPending> start_gather(std::uint64_t* all,
                                            std::span<const std::size_t> offsets) override {
    auto requests = std::make_unique<Gathering>(comm_, offsets);
    requests->requests.check(MPI_Iallgatherv(
        MPI_IN_PLACE, 0, MPI_DATATYPE_NULL, all, requests->counts.data(),
        requests->displacements.data(), MPI_UINT64_T, comm_, requests->requests.add()));
    return requests;
  }

  std::unique_ptr<RankPending> start_exchange(std::span<const RankTransfer> receives,
                                              std::span<const RankTransfer> sends) override {
    auto requests = std::make_unique<Requests>(comm_);
    each_piece(receives, [&](char* data, int n, int peer) {
      requests->check(MPI_Irecv(data, n, MPI_BYTE, peer, exchange_tag, comm_, requests->add()));
    });
    each_piece(sends, [&](char* data, int n, int peer) {
      requests->check(MPI_Isend(data, n, MPI_BYTE, peer, exchange_tag, comm_, requests->add()));
    });
    return requests;
  }

  std::unique_ptr<RankGroup> split(unsigned colour) override {
    MPI_Comm part = MPI_COMM_NULL;
    Requests(comm_).check(
        MPI_Comm_split(comm_, static_cast<int>(colour), static_cast<int>(rank_), &part));
    return std::make_unique<MpiGroup>(part);
  }

  [[noreturn]] void abort(int status) override {
    MPI_Abort(comm_, status);
    std::_Exit(status);
  }

 private:
  /// The arrays of counts must live as long as the transfer.
  struct Gathering final : RankPending {
    Gathering(MPI_Comm comm, std::span<const std::size_t> offsets) : requests(comm) {
      for (std::size_t r = 0; r + 1 < offsets.size(); ++r) {
        counts.push_back(count(offsets[r + 1] - offsets[r]));
        displacements.push_back(count(offsets[r]));
      }
    }
    bool test() override { return requests.test(); }
    void wait() override { requests.wait(); }
    std::vector<int> counts, displacements;
    Requests requests;
  };

  static int count(std::size_t n) {
    if (n > 0x7fffffffU)
      throw Error(ErrorCategory::Unsupported,
                  std::to_string(n) + " words or bytes in one transfer are more than MPI counts");
    return static_cast<int>(n);
  }

  template <typename Start>
  static void each_piece(std::span<const RankTransfer> transfers, const Start& start) {
    for (const RankTransfer& t : transfers)
      for (std::size_t done = 0; done < t.bytes; done += most_bytes)
        start(static_cast<char*>(t.data) + done,
              static_cast<int>(std::min(most_bytes, t.bytes - done)), static_cast<int>(t.peer));
  }

  MPI_Comm comm_;
  unsigned rank_ = 0, size_ = 1;
  bool any_thread_ = false;
};

/// Who starts MPI ends it, when the program does.
void finalize() {
  int ended = 0;
  MPI_Finalized(&ended);
  if (ended == 0) MPI_Finalize();
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
  std::atexit(finalize);
}

RankGroup* make_group(std::int32_t communicator, bool world) {
  start_mpi();
  const MPI_Comm from = world ? MPI_COMM_WORLD : MPI_Comm_f2c(communicator);
  if (from == MPI_COMM_NULL) throw Error(ErrorCategory::Usage, "the communicator is null");
  MPI_Comm own = MPI_COMM_NULL;
  if (MPI_Comm_dup(from, &own) != MPI_SUCCESS)
    throw Error(ErrorCategory::Device, "MPI_Comm_dup failed");
  return new MpiGroup(own);
}

}  // namespace
}  // namespace gdr

extern "C" __attribute__((visibility("default"))) gdr::RankGroup* gdr_mpi_ranks_1(
    std::int32_t communicator, bool world, char* error, std::size_t error_size) {
  try {
    return gdr::make_group(communicator, world);
  } catch (const std::exception& e) {
    std::snprintf(error, error_size, "%s", e.what());
    return nullptr;
  }
}
