// Settings from environment variables.
#pragma once

#include <string>

#include "gdr/matrix.hpp"

namespace gdr::blas {

/// Default of GDR_BLAS_THRESHOLD: products with fewer operations run on the host's BLAS. The guide
/// (docs) describes its derivation.
constexpr double default_threshold = 2.0 * 256 * 256 * 256;

struct Settings {
  double threshold = default_threshold;               ///< GDR_BLAS_THRESHOLD, in operations
  MatrixPrecision precision = MatrixPrecision::Full;  ///< GDR_BLAS_PRECISION: full or chip
  bool statistics = false;                            ///< GDR_BLAS_STATS: 1 or 0
  std::string host;  ///< GDR_BLAS_HOST: a library, or none; empty: search
};

/// Read once, at the first call. An invalid value is reported on standard error, and the default is
/// used.
const Settings& settings() noexcept;

/// Write one line to standard error in one call: "gdrblas: ...".
void report(const std::string& line) noexcept;

}  // namespace gdr::blas
