// ULFM (user-level failure mitigation), an MPI extension for jobs that continue after rank
// failures. Open MPI supports it from version 5. MPICH 4.0 to 5.0 declares the same functions, but
// they abort the process (ch4), so they are not used.
#pragma once

#include <mpi.h>
#if __has_include(<mpi-ext.h>)
#include <mpi-ext.h>
#endif

#include <algorithm>
#include <atomic>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "gdr/error.hpp"
#include "gdr/ranks.hpp"

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
  MPI_Group old = MPI_GROUP_NULL, remaining = MPI_GROUP_NULL, gone = MPI_GROUP_NULL;
  MPI_Comm_group(before, &old);
  MPI_Comm_group(after, &remaining);
  MPI_Group_difference(old, remaining, &gone);
  int n = 0;
  MPI_Group_size(gone, &n);
  std::vector<int> in_gone(static_cast<std::size_t>(n)), in_old(in_gone);
  for (int k = 0; k < n; ++k) in_gone[static_cast<std::size_t>(k)] = k;
  MPI_Group_translate_ranks(gone, n, in_gone.data(), old, in_old.data());
  for (MPI_Group* const group : {&old, &remaining, &gone})
    if (*group != MPI_GROUP_EMPTY) MPI_Group_free(group);
  std::ranges::sort(in_old);
  return {in_old.begin(), in_old.end()};
}

}  // namespace gdr
