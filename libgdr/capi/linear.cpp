// C interface: products of matrices, systems of linear equations, and batches of small matrices.
#include <utility>

#include "libgdr/capi/capi.hpp"

using gdr::capi::create;
using gdr::capi::guarded;
using gdr::capi::one_of;
using gdr::capi::required_device;

namespace {

gdr::Transpose transpose_of(const gdr_transpose& given, const char* name = "transpose") {
  return one_of(given, gdr::Transpose::No, gdr::Transpose::Yes, name);
}
gdr::MatrixPrecision precision_of(const gdr_matrix_precision& given) {
  return one_of(given, gdr::MatrixPrecision::Chip, gdr::MatrixPrecision::Full, "precision");
}
gdr::Triangle triangle_of(const gdr_triangle& given) {
  return one_of(given, gdr::Triangle::Lower, gdr::Triangle::Upper, "triangle");
}

/// -1 for none.
std::int64_t index_of(const std::optional<std::size_t>& found) {
  return found ? static_cast<std::int64_t>(*found) : -1;
}

/// An array of C of the given length; empty for a null pointer.
template <typename Number>
std::span<Number> array(Number* data, std::size_t n) {
  return {data, data == nullptr ? 0 : n};
}

struct Shape {
  gdr_transpose transpose_a, transpose_b;
  size_t m, n, k;
};

/// Both precisions. A declaration for the next call ends with this call, also if it fails.
template <typename Number>
void multiply(gdr_matrix_product* product, const Shape& s, Number alpha,
              gdr::MatrixView<const Number> a, gdr::MatrixView<const Number> b, Number beta,
              gdr::MatrixView<Number> c) {
  const gdr::Reuse reuse = std::exchange(product->reuse, gdr::Reuse::Nothing);
  if (reuse == gdr::Reuse::Nothing) product->product.invalidate();  // also if this call fails
  a.transpose = transpose_of(s.transpose_a, "transpose_a");
  b.transpose = transpose_of(s.transpose_b, "transpose_b");
  product->product.compute(s.m, s.n, s.k, alpha, a, b, beta, c, reuse);
}

}  // namespace

gdr_status gdr_matrix_product_create(gdr_device* device, gdr_matrix_precision precision,
                                     gdr_matrix_product** product) {
  return create(product, "product", [&] {
    return gdr_matrix_product{gdr::MatrixProduct(required_device(device), precision_of(precision))};
  });
}

void gdr_matrix_product_free(gdr_matrix_product* product) { delete product; }

gdr_status gdr_matrix_product_dgemm(gdr_matrix_product* product, gdr_transpose transpose_a,
                                    gdr_transpose transpose_b, size_t m, size_t n, size_t k,
                                    double alpha, const double* a, size_t lda, const double* b,
                                    size_t ldb, double beta, double* c, size_t ldc) {
  return guarded({{product, "product"}}, [&] {
    multiply<double>(product, {transpose_a, transpose_b, m, n, k}, alpha, {a, lda}, {b, ldb}, beta,
                     {c, ldc});
  });
}

gdr_status gdr_matrix_product_sgemm(gdr_matrix_product* product, gdr_transpose transpose_a,
                                    gdr_transpose transpose_b, size_t m, size_t n, size_t k,
                                    float alpha, const float* a, size_t lda, const float* b,
                                    size_t ldb, float beta, float* c, size_t ldc) {
  return guarded({{product, "product"}}, [&] {
    multiply<float>(product, {transpose_a, transpose_b, m, n, k}, alpha, {a, lda}, {b, ldb}, beta,
                    {c, ldc});
  });
}

gdr_status gdr_matrix_product_reuse_b(gdr_matrix_product* product) {
  return guarded({{product, "product"}}, [&] { product->reuse = gdr::Reuse::B; });
}

gdr_status gdr_linear_solver_create(gdr_device* device, gdr_matrix_precision precision,
                                    double device_flops, gdr_linear_solver** solver) {
  return create(solver, "solver", [&] {
    gdr::Device& opened = required_device(device);
    gdr::LinearOptions options;
    options.precision = precision_of(precision);
    if (device_flops >= 0) options.device_flops = device_flops;
    return gdr_linear_solver{gdr::LinearSolver(opened, options)};
  });
}

void gdr_linear_solver_free(gdr_linear_solver* solver) { delete solver; }

gdr_status gdr_linear_lu(gdr_linear_solver* solver, size_t m, size_t n, double* a, size_t lda,
                         int64_t* pivots, int64_t* zero_pivot) {
  return guarded({{solver, "solver"}, {zero_pivot, "zero_pivot"}}, [&] {
    const std::size_t steps = m < n ? m : n;
    *zero_pivot = index_of(solver->solver.lu(m, n, {a, lda}, array(pivots, steps)));
  });
}

gdr_status gdr_linear_solve(gdr_linear_solver* solver, gdr_transpose transpose, size_t n,
                            size_t columns, const double* lu, size_t ldlu, const int64_t* pivots,
                            double* b, size_t ldb) {
  return guarded({{solver, "solver"}}, [&] {
    solver->solver.solve(n, columns, {lu, ldlu, transpose_of(transpose)}, array(pivots, n),
                         {b, ldb});
  });
}

gdr_status gdr_linear_cholesky(gdr_linear_solver* solver, gdr_triangle triangle, size_t n,
                               double* a, size_t lda, int64_t* bad_pivot) {
  return guarded({{solver, "solver"}, {bad_pivot, "bad_pivot"}}, [&] {
    *bad_pivot = index_of(solver->solver.cholesky(triangle_of(triangle), n, {a, lda}));
  });
}

gdr_status gdr_linear_solve_cholesky(gdr_linear_solver* solver, gdr_triangle triangle, size_t n,
                                     size_t columns, const double* factor, size_t ldf, double* b,
                                     size_t ldb) {
  return guarded({{solver, "solver"}}, [&] {
    solver->solver.solve_cholesky(triangle_of(triangle), n, columns, {factor, ldf}, {b, ldb});
  });
}

gdr_status gdr_linear_solve_triangular(gdr_linear_solver* solver, gdr_side side,
                                       gdr_triangle triangle, gdr_transpose transpose,
                                       gdr_diagonal diagonal, size_t m, size_t n, double alpha,
                                       const double* a, size_t lda, double* b, size_t ldb) {
  return guarded({{solver, "solver"}}, [&] {
    solver->solver.solve_triangular(
        one_of(side, gdr::Side::Left, gdr::Side::Right, "side"), triangle_of(triangle),
        one_of(diagonal, gdr::Diagonal::Stored, gdr::Diagonal::Unit, "diagonal"), m, n, alpha,
        {a, lda, transpose_of(transpose)}, {b, ldb});
  });
}

gdr_status gdr_linear_multiply(gdr_linear_solver* solver, gdr_transpose transpose, size_t m,
                               size_t n, double alpha, const double* a, size_t lda, const double* x,
                               size_t incx, double beta, double* y, size_t incy) {
  return guarded({{solver, "solver"}}, [&] {
    solver->solver.multiply(m, n, alpha, {a, lda, transpose_of(transpose)}, {x, incx}, beta,
                            {y, incy});
  });
}

gdr_status gdr_batched_matrices_create(gdr_device* device, gdr_batched_matrices** batch) {
  return create(batch, "batch", [&] {
    return gdr_batched_matrices{gdr::BatchedMatrices(required_device(device))};
  });
}

void gdr_batched_matrices_free(gdr_batched_matrices* batch) { delete batch; }

gdr_status gdr_batched_multiply(gdr_batched_matrices* batch, size_t count, size_t m, size_t n,
                                size_t k, const double* a, size_t lda, size_t step_a,
                                const double* b, size_t ldb, size_t step_b, double* c, size_t ldc,
                                size_t step_c) {
  return guarded({{batch, "batch"}}, [&] {
    batch->batch.multiply(count, m, n, k, {a, lda, step_a}, {b, ldb, step_b}, {c, ldc, step_c});
  });
}

gdr_status gdr_batched_lu(gdr_batched_matrices* batch, size_t count, size_t n, double* a,
                          size_t lda, size_t step_a, int64_t* pivots, size_t* singular) {
  return guarded({{batch, "batch"}, {singular, "singular"}}, [&] {
    *singular = batch->batch.lu(count, n, {a, lda, step_a}, array(pivots, count * n));
  });
}

gdr_status gdr_batched_solve(gdr_batched_matrices* batch, size_t count, size_t n, size_t columns,
                             const double* lu, size_t ldlu, size_t step_lu, const int64_t* pivots,
                             double* b, size_t ldb, size_t step_b) {
  return guarded({{batch, "batch"}}, [&] {
    batch->batch.solve(count, n, columns, {lu, ldlu, step_lu}, array(pivots, count * n),
                       {b, ldb, step_b});
  });
}
