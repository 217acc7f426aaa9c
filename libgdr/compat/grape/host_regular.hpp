// Regular forces with neighbour lists in this host's doubles: what the libraries for NBODY6 compute
// for the engine `native`.
#pragma once

#include <vector>

#include "emulator/host/loop_threads.hpp"
#include "libgdr/compat/grape/gpunb.hpp"
#include "libgdr/compat/grape/regular_sums.hpp"

namespace gdr::compat::grape {

/// Most calls of NBODY6 are for a few particles and new sources. A device converts all of these,
/// which takes longer than the sums; here columns of doubles are all that is needed. Threads are
/// those of OpenMP: clients have parallel regions between calls, whose threads are still awake and
/// would keep others from their cores.
class HostRegular {
 public:
  /// With fewer threads if the system refuses some.
  HostRegular(Isa isa, unsigned threads);

  /// Throws Error (Input) for values of targets that are not finite. Results are not checked.
  void run(const SourceColumns& sources, const RegularRequest& r);

 private:
  void sum_group(const SourceColumns& sources, const RegularRequest& r, std::size_t first,
                 std::size_t n, int* found) const;

  RegularLoops loops_;
  LoopThreads threads_;
  std::vector<int> found_;  ///< neighbours of the targets of each thread
};

}  // namespace gdr::compat::grape
