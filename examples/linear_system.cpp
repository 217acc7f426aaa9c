// Solves a linear system and a batch of a thousand small ones by LU with partial pivoting, and
// checks the residuals.
//   c++ -std=c++20 linear_system.cpp -lgdr
#include <cmath>
#include <cstdio>
#include <gdr/gdr.hpp>
#include <vector>

namespace {

/// A well-conditioned, column-major matrix and a right-hand side of ones.
double element(std::size_t row, std::size_t column) {
  return (row == column ? 4.0 : 0.0) + std::sin(static_cast<double>(7 * row + 3 * column * column));
}

/// The largest element of A x - b.
double residual(std::size_t n, const double* a, const double* x) {
  double worst = 0;
  for (std::size_t r = 0; r < n; ++r) {
    double sum = -1;
    for (std::size_t c = 0; c < n; ++c) sum += a[r + c * n] * x[c];
    worst = std::fmax(worst, std::fabs(sum));
  }
  return worst;
}

}  // namespace

int main() {
  gdr::Device device = gdr::Device::open("emulator");

  constexpr std::size_t n = 200;
  std::vector<double> a(n * n), x(n, 1.0);
  for (std::size_t c = 0; c < n; ++c)
    for (std::size_t r = 0; r < n; ++r) a[r + c * n] = element(r, c);
  std::vector<double> lu = a;
  std::vector<std::int64_t> pivots(n);
  gdr::LinearOptions options;
  options.precision = gdr::MatrixPrecision::Chip;
  options.device_flops = 0;  // runs also small products on the device
  gdr::LinearSolver solver(device, options);
  if (const auto zero = solver.lu(n, n, {lu.data(), n}, pivots)) {
    std::printf("the matrix is singular: pivot %zu is zero\n", *zero);
    return 1;
  }
  solver.solve(n, 1, {lu.data(), n}, pivots, {x.data(), n});
  const double large = residual(n, a.data(), x.data());
  std::printf("%zu equations: largest residual %.1e, %.0f million operations on the device\n", n,
              large, 1e-6 * device.statistics().flops);

  // Matrix i of the batch begins at small + i * 9, its right-hand side at y + i * 3.
  constexpr std::size_t count = 1000, m = 3;
  std::vector<double> small(count * m * m), y(count * m, 1.0);
  for (std::size_t i = 0; i < small.size(); ++i) small[i] = element(i / 3 % 3, i);
  std::vector<double> factors = small;
  std::vector<std::int64_t> orders(count * m);
  gdr::BatchedMatrices batch(device);
  const std::size_t singular = batch.lu(count, m, {factors.data(), m, m * m}, orders);
  batch.solve(count, m, 1, {factors.data(), m, m * m}, orders, {y.data(), m, m});
  double worst = 0;
  for (std::size_t i = 0; i < count; ++i) {
    double size = 1;
    for (std::size_t r = 0; r < m; ++r) size = std::fmax(size, std::fabs(y[i * m + r]));
    worst = std::fmax(worst, residual(m, &small[i * m * m], &y[i * m]) / size);
  }
  std::printf("%zu systems of %zu, %zu singular: largest residual %.1e\n", count, m, singular,
              worst);
  return large < 1e-11 && worst < 1e-11 ? 0 : 1;
}
