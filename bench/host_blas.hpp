// The host's best BLAS, for comparison: optional, opened at run time.
#pragma once

#include <functional>
#include <optional>
#include <string>

namespace gdr::bench {

struct HostBlas {
  std::string name;  ///< library and kernels
  /// C = A B of n x n column-major matrices.
  std::function<void(int n, const double* a, const double* b, double* c)> multiply;
};

/// OpenBLAS with `threads` threads: with the kernels that it detects for this host, or with those
/// for SkylakeX if the host can run them and they are faster (versions before 0.3.22 misidentify
/// some newer CPUs). Nothing if it is not installed.
std::optional<HostBlas> best_openblas(unsigned threads);

}  // namespace gdr::bench
