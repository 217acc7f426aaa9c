// What an MPI may offer beyond the standard for jobs that outlive some of their ranks: ULFM (user
// level failure mitigation). Open MPI has it from version 5 on. MPICH declares the same calls, but
// those of 4.0 to 5.0 end the process (ch4), so they are not used.
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
// So that what follows is compiled either way.
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

/// Some rank of this process's groups may have been lost.
inline std::atomic<bool> any_lost = false;

/// Communicators that came from one another. When a rank is lost all of them are revoked: else
/// somebody would wait in one for a rank that has heard of the loss in another, and left.
class Family {
 public:
  void add(MPI_Comm comm) {
    const std::scoped_lock lock(mutex_);
    members_.push_back(comm);
  }
  void remove(MPI_Comm comm) {
    const std::scoped_lock lock(mutex_);
    std::erase(members_, comm);
  }
  /// A rank of it was lost, and all communicators of the family with it.
  bool revoked() const noexcept { return revoked_; }
  void revoke() noexcept {
    any_lost = revoked_ = true;
    const std::scoped_lock lock(mutex_);
    for (const MPI_Comm comm : members_) MPIX_Comm_revoke(comm);
  }
  /// What a call that returned this code means; throws unless it is success.
  void check(int code) {
    if (code == MPI_SUCCESS) return;
    if (!has_ulfm)
      throw Error(ErrorCategory::Device,
                  "the transfer between ranks failed (" + text_of(code) +
                      "): another rank has ended or cannot be reached; start the job again, from "
                      "its last snapshot if there is one");
    revoke();
    throw RanksLost("another rank has ended (" + text_of(code) +
                    "); Device::recover() makes a device of those that are left");
  }

 private:
  std::mutex mutex_;
  std::vector<MPI_Comm> members_;
  std::atomic<bool> revoked_ = false;
};

/// Numbers in `before` of the ranks that `after` lacks.
inline std::vector<unsigned> ranks_lost(MPI_Comm before, MPI_Comm after) {
  MPI_Group old = MPI_GROUP_NULL, left = MPI_GROUP_NULL, gone = MPI_GROUP_NULL;
  MPI_Comm_group(before, &old);
  MPI_Comm_group(after, &left);
  MPI_Group_difference(old, left, &gone);
  int n = 0;
  MPI_Group_size(gone, &n);
  std::vector<int> there(static_cast<std::size_t>(n)), here(there);
  for (int k = 0; k < n; ++k) there[static_cast<std::size_t>(k)] = k;
  MPI_Group_translate_ranks(gone, n, there.data(), old, here.data());
  for (MPI_Group* const group : {&old, &left, &gone})
    if (*group != MPI_GROUP_EMPTY) MPI_Group_free(group);
  std::ranges::sort(here);
  return {here.begin(), here.end()};
}

}  // namespace gdr
