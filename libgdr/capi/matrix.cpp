// C interface: products of matrices.
#include <cstring>
#include <utility>

#include "libgdr/capi/guard.hpp"
#include "libgdr/capi/handles.hpp"

using gdr::capi::guarded;
using gdr::capi::need;

namespace {

/// What a caller gave for an enumeration, which may be no value of it: as such it is not read.
template <typename Enumeration>
int number_of(const Enumeration& given) noexcept {
  int number = 0;
  static_assert(sizeof number == sizeof given);
  std::memcpy(&number, &given, sizeof number);
  return number;
}

gdr::Transpose transpose_of(int given, const char* name) {
  if (given != GDR_NO_TRANSPOSE && given != GDR_TRANSPOSE)
    throw gdr::Error(gdr::ErrorCategory::Usage, std::string("the transpose of ") + name + " is " +
                                                    std::to_string(given) +
                                                    "; it is 0 (as it is) or 1 (transposed)");
  return given == GDR_TRANSPOSE ? gdr::Transpose::Yes : gdr::Transpose::No;
}

struct Shape {
  int transpose_a, transpose_b;
  size_t m, n, k;
};

/// Both precisions. What was said of the next call ends with this one, whatever becomes of it.
template <typename Number>
void multiply(gdr_matrix_product* product, const Shape& s, Number alpha,
              gdr::MatrixView<const Number> a, gdr::MatrixView<const Number> b, Number beta,
              gdr::MatrixView<Number> c) {
  need(product, "product");
  const gdr::Unchanged unchanged = std::exchange(product->unchanged, gdr::Unchanged::Nothing);
  if (unchanged == gdr::Unchanged::Nothing) product->product.forget();  // also if this call fails
  a.transpose = transpose_of(s.transpose_a, "A");
  b.transpose = transpose_of(s.transpose_b, "B");
  product->product.compute(s.m, s.n, s.k, alpha, a, b, beta, c, unchanged);
}

}  // namespace

gdr_status gdr_matrix_product_create(gdr_device* device, gdr_matrix_precision precision,
                                     gdr_matrix_product** product) {
  return guarded([&] {
    need(product, "product");
    *product = nullptr;
    need(device, "device");
    const int given = number_of(precision);
    if (given != GDR_MATRIX_CHIP && given != GDR_MATRIX_FULL)
      throw gdr::Error(gdr::ErrorCategory::Usage, "there is no precision of matrices " +
                                                      std::to_string(given) +
                                                      "; it is 0 (of the chip) or 1 (full)");
    const auto wanted =
        given == GDR_MATRIX_FULL ? gdr::MatrixPrecision::Full : gdr::MatrixPrecision::Chip;
    *product = new gdr_matrix_product{gdr::MatrixProduct(device->device, wanted)};
  });
}

void gdr_matrix_product_free(gdr_matrix_product* product) { delete product; }

gdr_status gdr_matrix_product_dgemm(gdr_matrix_product* product, gdr_transpose transpose_a,
                                    gdr_transpose transpose_b, size_t m, size_t n, size_t k,
                                    double alpha, const double* a, size_t lda, const double* b,
                                    size_t ldb, double beta, double* c, size_t ldc) {
  return guarded([&] {
    multiply<double>(product, {number_of(transpose_a), number_of(transpose_b), m, n, k}, alpha,
                     {a, lda}, {b, ldb}, beta, {c, ldc});
  });
}

gdr_status gdr_matrix_product_sgemm(gdr_matrix_product* product, gdr_transpose transpose_a,
                                    gdr_transpose transpose_b, size_t m, size_t n, size_t k,
                                    float alpha, const float* a, size_t lda, const float* b,
                                    size_t ldb, float beta, float* c, size_t ldc) {
  return guarded([&] {
    multiply<float>(product, {number_of(transpose_a), number_of(transpose_b), m, n, k}, alpha,
                    {a, lda}, {b, ldb}, beta, {c, ldc});
  });
}

gdr_status gdr_matrix_product_unchanged_b(gdr_matrix_product* product) {
  return guarded([&] {
    need(product, "product");
    product->unchanged = gdr::Unchanged::B;
  });
}
