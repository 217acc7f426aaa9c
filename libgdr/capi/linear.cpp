// C interface: systems of linear equations, and batches of small matrices.
#include "libgdr/capi/enums.hpp"
#include "libgdr/capi/guard.hpp"
#include "libgdr/capi/handles.hpp"

using gdr::capi::guarded;
using gdr::capi::need;
using gdr::capi::one_of;
using gdr::capi::precision_of;
using gdr::capi::transpose_of;

namespace {

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

}  // namespace

gdr_status gdr_linear_solver_create(gdr_device* device, gdr_matrix_precision precision,
                                    double device_flops, gdr_linear_solver** solver) {
  return guarded([&] {
    need(solver, "solver");
    *solver = nullptr;
    need(device, "device");
    gdr::LinearOptions options;
    options.precision = precision_of(precision);
    if (device_flops >= 0) options.device_flops = device_flops;
    *solver = new gdr_linear_solver{gdr::LinearSolver(device->device, options)};
  });
}

void gdr_linear_solver_free(gdr_linear_solver* solver) { delete solver; }

gdr_status gdr_linear_lu(gdr_linear_solver* solver, size_t m, size_t n, double* a, size_t lda,
                         int64_t* pivots, int64_t* zero_pivot) {
  return guarded([&] {
    need(solver, "solver");
    need(zero_pivot, "zero_pivot");
    const std::size_t steps = m < n ? m : n;
    *zero_pivot = index_of(solver->solver.lu(m, n, {a, lda}, array(pivots, steps)));
  });
}

gdr_status gdr_linear_solve(gdr_linear_solver* solver, gdr_transpose transpose, size_t n,
                            size_t columns, const double* lu, size_t ldlu, const int64_t* pivots,
                            double* b, size_t ldb) {
  return guarded([&] {
    need(solver, "solver");
    solver->solver.solve(n, columns, {lu, ldlu, transpose_of(transpose)}, array(pivots, n),
                         {b, ldb});
  });
}

gdr_status gdr_linear_cholesky(gdr_linear_solver* solver, gdr_triangle triangle, size_t n,
                               double* a, size_t lda, int64_t* bad_pivot) {
  return guarded([&] {
    need(solver, "solver");
    need(bad_pivot, "bad_pivot");
    *bad_pivot = index_of(solver->solver.cholesky(triangle_of(triangle), n, {a, lda}));
  });
}

gdr_status gdr_linear_solve_cholesky(gdr_linear_solver* solver, gdr_triangle triangle, size_t n,
                                     size_t columns, const double* factor, size_t ldf, double* b,
                                     size_t ldb) {
  return guarded([&] {
    need(solver, "solver");
    solver->solver.solve_cholesky(triangle_of(triangle), n, columns, {factor, ldf}, {b, ldb});
  });
}

gdr_status gdr_linear_solve_triangular(gdr_linear_solver* solver, gdr_side side,
                                       gdr_triangle triangle, gdr_transpose transpose,
                                       gdr_diagonal diagonal, size_t m, size_t n, double alpha,
                                       const double* a, size_t lda, double* b, size_t ldb) {
  return guarded([&] {
    need(solver, "solver");
    solver->solver.solve_triangular(
        one_of(side, gdr::Side::Left, gdr::Side::Right, "side"), triangle_of(triangle),
        one_of(diagonal, gdr::Diagonal::Stored, gdr::Diagonal::Unit, "diagonal"), m, n, alpha,
        {a, lda, transpose_of(transpose)}, {b, ldb});
  });
}

gdr_status gdr_linear_multiply(gdr_linear_solver* solver, gdr_transpose transpose, size_t m,
                               size_t n, double alpha, const double* a, size_t lda, const double* x,
                               size_t incx, double beta, double* y, size_t incy) {
  return guarded([&] {
    need(solver, "solver");
    solver->solver.multiply(m, n, alpha, {a, lda, transpose_of(transpose)}, {x, incx}, beta,
                            {y, incy});
  });
}

gdr_status gdr_batched_matrices_create(gdr_device* device, gdr_batched_matrices** batch) {
  return guarded([&] {
    need(batch, "batch");
    *batch = nullptr;
    need(device, "device");
    *batch = new gdr_batched_matrices{gdr::BatchedMatrices(device->device)};
  });
}

void gdr_batched_matrices_free(gdr_batched_matrices* batch) { delete batch; }

gdr_status gdr_batched_multiply(gdr_batched_matrices* batch, size_t count, size_t m, size_t n,
                                size_t k, const double* a, size_t lda, size_t step_a,
                                const double* b, size_t ldb, size_t step_b, double* c, size_t ldc,
                                size_t step_c) {
  return guarded([&] {
    need(batch, "batch");
    batch->batch.multiply(count, m, n, k, {a, lda, step_a}, {b, ldb, step_b}, {c, ldc, step_c});
  });
}

gdr_status gdr_batched_lu(gdr_batched_matrices* batch, size_t count, size_t n, double* a,
                          size_t lda, size_t step_a, int64_t* pivots, size_t* singular) {
  return guarded([&] {
    need(batch, "batch");
    need(singular, "singular");
    *singular = batch->batch.lu(count, n, {a, lda, step_a}, array(pivots, count * n));
  });
}

gdr_status gdr_batched_solve(gdr_batched_matrices* batch, size_t count, size_t n, size_t columns,
                             const double* lu, size_t ldlu, size_t step_lu, const int64_t* pivots,
                             double* b, size_t ldb, size_t step_b) {
  return guarded([&] {
    need(batch, "batch");
    batch->batch.solve(count, n, columns, {lu, ldlu, step_lu}, array(pivots, count * n),
                       {b, ldb, step_b});
  });
}
