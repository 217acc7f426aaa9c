// A product and a system of equations over a grid of ranks. Every rank prints checksums that do not
// depend on the order of elements (names and 64-bit numbers, which a test adds up) and the
// deviation of the results from extended precision.
//
// usage: test_mpi_dense DEVICE GRID_ROWS BLOCK M N K EQUATIONS
#include <bit>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <limits>

#include "gdr/distributed.hpp"
#include "gdr/gdr.hpp"

namespace {

std::uint64_t mixed(std::uint64_t x) {
  for (int k = 0; k < 3; ++k) x = (x ^ (x >> 31)) * 0xd6e8feb86659fd93 + 0x9e3779b97f4a7c15;
  return x;
}
double element(std::uint64_t matrix, std::size_t row, std::size_t column) {
  return static_cast<double>(mixed(matrix + 1000003 * row + 7919ULL * 1000003 * column) >> 11) *
             0x1p-53 -
         0.5;
}

std::vector<double> local(const gdr::DistributedMatrices& grid, std::uint64_t matrix,
                          std::size_t rows, std::size_t columns) {
  std::vector<double> a(grid.local_rows(rows) * grid.local_columns(columns));
  for (std::size_t c = 0; c < grid.local_columns(columns); ++c)
    for (std::size_t r = 0; r < grid.local_rows(rows); ++r)
      a[r + c * grid.local_rows(rows)] = element(matrix, grid.global_row(r), grid.global_column(c));
  return a;
}

std::uint64_t fingerprint(const gdr::DistributedMatrices& grid, const std::vector<double>& a,
                          std::size_t rows, std::size_t columns) {
  std::uint64_t sum = 0;
  for (std::size_t c = 0; c < grid.local_columns(columns); ++c)
    for (std::size_t r = 0; r < grid.local_rows(rows); ++r)
      sum += mixed(std::bit_cast<std::uint64_t>(a[r + c * grid.local_rows(rows)]) +
                   1000003 * grid.global_row(r) + 7919 * grid.global_column(c));
  return sum;
}

void product(const gdr::Device& device, gdr::DistributedMatrices& grid, std::size_t m,
             std::size_t n, std::size_t k) {
  const std::vector<double> a = local(grid, 1, m, k), b = local(grid, 2, k, n);
  std::vector<double> c = local(grid, 3, m, n);
  grid.multiply(m, n, k, 1.5, a.data(), b.data(), -0.5, c.data());
  double worst = 0;
  const std::size_t step = 1 + c.size() / 200;  // some of the elements
  for (std::size_t at = device.rank() % step; at < c.size(); at += step) {
    const std::size_t row = grid.global_row(at % grid.local_rows(m));
    const std::size_t column = grid.global_column(at / grid.local_rows(m));
    long double sum = 0;
    for (std::size_t q = 0; q < k; ++q)
      sum += static_cast<long double>(element(1, row, q)) * element(2, q, column);
    const auto exact = static_cast<double>(1.5L * sum - 0.5L * element(3, row, column));
    worst = std::max(worst, std::fabs(c[at] - exact));
  }
  std::printf("C %llu\nworst %.3e\n", static_cast<unsigned long long>(fingerprint(grid, c, m, n)),
              worst);
  // With beta C only, and with an empty inner dimension.
  grid.multiply(m, n, k, 0, nullptr, nullptr, 2, c.data());
  grid.multiply(m, n, 0, 1, nullptr, nullptr, 0.5, c.data());
  std::printf("scaled %llu\n", static_cast<unsigned long long>(fingerprint(grid, c, m, n)));
}

void equations(const gdr::Device& device, gdr::DistributedMatrices& grid, std::size_t n) {
  std::vector<double> a = local(grid, 4, n, n + 1), factors = a;
  std::vector<std::int64_t> pivots(n);
  const auto zero = grid.lu(n, 1, factors.data(), pivots);
  std::uint64_t sum = fingerprint(grid, factors, n, n + 1);
  if (device.rank() == 0)
    for (std::size_t i = 0; i < n; ++i) sum += mixed(static_cast<std::uint64_t>(pivots[i]) * n + i);
  const std::vector<double> x = grid.solve(n, a.data());
  std::uint64_t bits = 0;
  for (std::size_t i = 0; i < n; ++i) bits += mixed(std::bit_cast<std::uint64_t>(x[i]) + i);
  std::printf("LU %llu\nx-same %llu\n", static_cast<unsigned long long>(sum),
              static_cast<unsigned long long>(bits));
  if (device.rank() != 0) return;
  // The scaled residual of HPL.
  double residual = 0, norm = 0, x_norm = 0, b_norm = 0;
  for (std::size_t i = 0; i < n; ++i) {
    long double r = element(4, i, n), row = 0;
    for (std::size_t j = 0; j < n; ++j) {
      r -= static_cast<long double>(element(4, i, j)) * x[j];
      row += std::fabs(element(4, i, j));
    }
    residual = std::max(residual, static_cast<double>(std::fabs(r)));
    norm = std::max(norm, static_cast<double>(row));
    x_norm = std::max(x_norm, std::fabs(x[i]));
    b_norm = std::max(b_norm, std::fabs(element(4, i, n)));
  }
  residual /= std::numeric_limits<double>::epsilon() / 2 * (norm * x_norm + b_norm) *
              static_cast<double>(n);
  std::printf("residual %.4f\nzero %d\n", residual, zero ? 1 : 0);
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 8) return 2;
  try {
    const auto number = [&](int k) { return std::strtoul(argv[k], nullptr, 10); };
    gdr::Device device = gdr::Device::open(argv[1]);
    gdr::DistributedMatrices grid(device,
                                  {.rows = static_cast<unsigned>(number(2)), .block = number(3)});
    product(device, grid, number(4), number(5), number(6));
    equations(device, grid, number(7));
    return 0;
  } catch (const std::exception& e) {
    std::fprintf(stderr, "%s\n", e.what());
    return 1;
  }
}
