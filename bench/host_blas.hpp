// The host's best BLAS, for comparison: opened by name, because nothing here needs it to be there.
#pragma once

#include <functional>
#include <optional>
#include <string>

namespace gdr::bench {

struct HostBlas {
  std::string name;  ///< library and kernels
  /// C = A B of n x n matrices in columns.
  std::function<void(int n, const double* a, const double* b, double* c)> multiply;
};

/// OpenBLAS with `threads` threads: with the kernels that it detects for this host, or with those
/// for SkylakeX where the host can run them and they are faster here (versions before 0.3.22 take
/// some newer CPUs for older ones). Nothing where it is not installed.
std::optional<HostBlas> best_openblas(unsigned threads);

}  // namespace gdr::bench
