// Linear dependence of a basis, from the overlap matrix of its functions.
#pragma once

#include "libgdr/chemistry/pairs.hpp"

namespace gdr::chemistry {

/// The overlap matrix of the functions, n x n.
std::vector<double> overlap_matrix(const PairList& list);

/// The smallest eigenvalue of a symmetric positive semi-definite matrix with unit diagonal, to a
/// few per cent if it is below 1e-3; 0 if it is below about 1e-14 n.
double min_eigenvalue(std::size_t n, std::vector<double> matrix);

/// Throws Error (Unsupported) if the smallest eigenvalue of the overlap matrix of the functions,
/// scaled to norm one, is below `least`.
void check_independence(const PairList& list, double least);

}  // namespace gdr::chemistry
