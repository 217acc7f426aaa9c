// RankGroup over MPI: the library that libgdr loads for devices of kind "mpi".
#include "libgdr/ranks/plugin.hpp"

#include <mpi.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <vector>

#include "gdr/error.hpp"
#include "libgdr/mpi/farewells.hpp"
#include "libgdr/mpi/losses.hpp"
#include "libgdr/mpi/requests.hpp"

namespace gdr {
namespace {

/// Counts of MPI are ints: longer transfers go in pieces.
constexpr std::size_t most_bytes = std::size_t{1} << 30;
constexpr int exchange_tag = 17;

class MpiGroup final : public RankGroup {
 public:
  /// Takes over the communicator, which came from those of the family.
  MpiGroup(MPI_Comm comm, std::shared_ptr<Family> family) {
    take(comm, std::move(family));
    int level = 0;
    MPI_Query_thread(&level);
    any_thread_ = level == MPI_THREAD_MULTIPLE;
  }
  ~MpiGroup() override { leave(); }
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
    Requests requests(family_, farewells_, farewells_->begin());
    std::byte* const out = requests.keep(bytes);
    std::byte* const in = requests.keep(bytes * size_);
    if (bytes > 0) std::memcpy(out, mine, bytes);
    requests.check(MPI_Iallgather(out, n, MPI_BYTE, in, n, MPI_BYTE, comm_, requests.add()));
    requests.wait();
    if (bytes > 0) std::memcpy(all, in, bytes * size_);
  }

  void broadcast(void* data, std::size_t bytes, unsigned root) override {
    auto* at = static_cast<char*>(data);
    while (bytes > 0) {
      const std::size_t n = std::min(bytes, most_bytes);
      Requests requests(family_, farewells_, farewells_->begin());
      requests.check(MPI_Ibcast(at, static_cast<int>(n), MPI_BYTE, static_cast<int>(root), comm_,
                                requests.add()));
      requests.wait();
      at += n;
      bytes -= n;
    }
  }

  std::unique_ptr<RankPending> start_gather(std::uint64_t* all,
                                            std::span<const std::size_t> offsets) override {
    auto requests = std::make_unique<Gathering>(family_, farewells_, offsets);
    requests->requests.check(MPI_Iallgatherv(
        MPI_IN_PLACE, 0, MPI_DATATYPE_NULL, all, requests->counts.data(),
        requests->displacements.data(), MPI_UINT64_T, comm_, requests->requests.add()));
    return requests;
  }

  std::unique_ptr<RankPending> start_exchange(std::span<const RankTransfer> receives,
                                              std::span<const RankTransfer> sends) override {
    auto requests = std::make_unique<Requests>(family_, farewells_, farewells_->current());
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
    family_->check(MPI_Comm_split(comm_, static_cast<int>(colour), static_cast<int>(rank_), &part));
    return std::make_unique<MpiGroup>(part, family_);
  }

  bool outlives_losses() const noexcept override { return has_ulfm; }

  bool agreed(bool fine) override {
    if (!has_ulfm) return fine;
    const std::uint64_t call = farewells_->begin();
    Buffer memory = std::make_unique<std::byte[]>(sizeof(int));
    int* const flag = new (memory.get()) int(fine ? 1 : 0);
    MPI_Request request = MPI_REQUEST_NULL;
    int code = MPIX_Comm_iagree(comm_, flag, &request);
    try {
      const auto ended = [&] {
        int done = 1;
        if (code == MPI_SUCCESS) code = MPI_Test(&request, &done, MPI_STATUS_IGNORE);
        return done != 0 || code != MPI_SUCCESS;
      };
      wait_until(ended, [&] { farewells_->check(call); });
    } catch (...) {
      farewells_->abandon();
      keep_for_ever(std::move(memory));
      throw;
    }
    return code == MPI_SUCCESS && *flag != 0;
  }

  std::vector<unsigned> shrink() override {
    if (!has_ulfm) return {};
    family_->revoke();
    MPI_Comm next = MPI_COMM_NULL;
    if (const int code = MPIX_Comm_shrink(comm_, &next); code != MPI_SUCCESS)
      throw Error(ErrorCategory::Device, "the ranks that are left cannot be found (" +
                                             text_of(code) + "); start the job again");
    std::vector<unsigned> lost = ranks_lost(comm_, next);
    drop();
    take(next, std::make_shared<Family>());
    return lost;
  }

  [[noreturn]] void abort(int status) override {
    MPI_Abort(comm_, status);
    std::_Exit(status);
  }

 private:
  /// The arrays of counts must live as long as the transfer.
  struct Gathering final : RankPending {
    Gathering(std::shared_ptr<Family> family, const std::shared_ptr<Farewells>& farewells,
              std::span<const std::size_t> offsets)
        : requests(std::move(family), farewells, farewells->begin()) {
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

  void take(MPI_Comm comm, std::shared_ptr<Family> family) {
    comm_ = comm;
    family_ = std::move(family);
    family_->add(comm_);
    MPI_Comm_set_errhandler(comm_, MPI_ERRORS_RETURN);
    int value = 0;
    MPI_Comm_rank(comm_, &value);
    rank_ = static_cast<unsigned>(value);
    MPI_Comm_size(comm_, &value);
    size_ = static_cast<unsigned>(value);
    farewells_ = std::make_shared<Farewells>(comm_);
    if (size_ > 1) Departures::of_process().expect(farewells_);
  }
  /// The communicator, whose other ranks are no longer called.
  void leave() noexcept {
    int ended = 0;
    MPI_Finalized(&ended);
    if (ended != 0) return;
    if (family_->revoked() || size_ == 1) return drop();
    family_->remove(comm_);
    Departures::of_process().leave(std::move(farewells_));
  }
  void drop() noexcept {
    family_->remove(comm_);
    if (!farewells_->abandoned()) MPI_Comm_free(&comm_);
  }

  MPI_Comm comm_ = MPI_COMM_NULL;
  std::shared_ptr<Family> family_;
  std::shared_ptr<Farewells> farewells_;
  unsigned rank_ = 0, size_ = 1;
  bool any_thread_ = false;
};

/// Who starts MPI ends it, when the program does. Not after a loss: MPI_Finalize of Open MPI 5 may
/// wait for the lost for ever then (seen with 5.0.11 when two of five were lost), and mpirun takes
/// it that ranks of such a job just end.
void finalize() {
  int ended = 0;
  MPI_Finalized(&ended);
  if (ended == 0 && !any_lost) MPI_Finalize();
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
  // Losses are found in this library's own communicators; what belongs to none must not end us.
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
  return new MpiGroup(own, std::make_shared<Family>());
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
