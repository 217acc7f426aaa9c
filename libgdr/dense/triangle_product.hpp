// A product of which only a triangle is needed, for factorisations.
#pragma once

#include "gdr/matrix.hpp"
#include "libgdr/dense/host/direct.hpp"

namespace gdr {

struct TriangleProduct {
  /// C -= op(A) op(B) in a triangle of a square C of n rows, on a device that computes products
  /// from the caller's arrays; its work is counted as that of the whole product.
  static void subtract(MatrixProduct& product, std::size_t n, std::size_t k,
                       const MatrixView<const double>& a, const MatrixView<const double>& b,
                       const MatrixView<double>& c, dense::DirectPart part);
};

}  // namespace gdr
