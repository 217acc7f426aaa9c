// What the environment says.
#pragma once

#include <string>

#include "gdr/matrix.hpp"

namespace gdr::blas {

/// Products with fewer operations than this go to the host's BLAS unless GDR_BLAS_THRESHOLD says
/// otherwise: docs/guides/linear-algebra.md says where it comes from.
constexpr double default_threshold = 2.0 * 256 * 256 * 256;

struct Settings {
  double threshold = default_threshold;               ///< GDR_BLAS_THRESHOLD, in operations
  MatrixPrecision precision = MatrixPrecision::Full;  ///< GDR_BLAS_PRECISION: full or chip
  bool statistics = false;                            ///< GDR_BLAS_STATS: 1 or 0
  std::string host;  ///< GDR_BLAS_HOST: a library, or none; empty: search
};

/// Read once, at the first call. A value that cannot be understood is named in one line on standard
/// error, and the default holds.
const Settings& settings() noexcept;

/// One line on standard error, in one piece: "gdrblas: ...".
void say(const std::string& line) noexcept;

}  // namespace gdr::blas
