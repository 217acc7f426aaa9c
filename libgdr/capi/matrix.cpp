// C interface: products of matrices.
#include <utility>

#include "libgdr/capi/enums.hpp"
#include "libgdr/capi/guard.hpp"
#include "libgdr/capi/handles.hpp"

using gdr::capi::guarded;
using gdr::capi::need;
using gdr::capi::precision_of;
using gdr::capi::transpose_of;

namespace {

struct Shape {
  gdr_transpose transpose_a, transpose_b;
  size_t m, n, k;
};

/// Both precisions. A declaration for the next call ends with this call, also if it fails.
template <typename Number>
void multiply(gdr_matrix_product* product, const Shape& s, Number alpha,
              gdr::MatrixView<const Number> a, gdr::MatrixView<const Number> b, Number beta,
              gdr::MatrixView<Number> c) {
  need(product, "product");
  const gdr::Reuse reuse = std::exchange(product->reuse, gdr::Reuse::Nothing);
  if (reuse == gdr::Reuse::Nothing) product->product.invalidate();  // also if this call fails
  a.transpose = transpose_of(s.transpose_a, "transpose_a");
  b.transpose = transpose_of(s.transpose_b, "transpose_b");
  product->product.compute(s.m, s.n, s.k, alpha, a, b, beta, c, reuse);
}

}  // namespace

gdr_status gdr_matrix_product_create(gdr_device* device, gdr_matrix_precision precision,
                                     gdr_matrix_product** product) {
  return guarded([&] {
    need(product, "product");
    *product = nullptr;
    need(device, "device");
    *product = new gdr_matrix_product{gdr::MatrixProduct(device->device, precision_of(precision))};
  });
}

void gdr_matrix_product_free(gdr_matrix_product* product) { delete product; }

gdr_status gdr_matrix_product_dgemm(gdr_matrix_product* product, gdr_transpose transpose_a,
                                    gdr_transpose transpose_b, size_t m, size_t n, size_t k,
                                    double alpha, const double* a, size_t lda, const double* b,
                                    size_t ldb, double beta, double* c, size_t ldc) {
  return guarded([&] {
    multiply<double>(product, {transpose_a, transpose_b, m, n, k}, alpha, {a, lda}, {b, ldb}, beta,
                     {c, ldc});
  });
}

gdr_status gdr_matrix_product_sgemm(gdr_matrix_product* product, gdr_transpose transpose_a,
                                    gdr_transpose transpose_b, size_t m, size_t n, size_t k,
                                    float alpha, const float* a, size_t lda, const float* b,
                                    size_t ldb, float beta, float* c, size_t ldc) {
  return guarded([&] {
    multiply<float>(product, {transpose_a, transpose_b, m, n, k}, alpha, {a, lda}, {b, ldb}, beta,
                    {c, ldc});
  });
}

gdr_status gdr_matrix_product_reuse_b(gdr_matrix_product* product) {
  return guarded([&] {
    need(product, "product");
    product->reuse = gdr::Reuse::B;
  });
}
