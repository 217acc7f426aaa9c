// A linear system on a process grid, like HPL: with and without look-ahead.
//
//   mpirun -n 4 example_mpi_linear_system_cpp [unknowns] [repetitions] [block] [device]
#include <mpi.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <random>
#include <vector>

#include "gdr/distributed.hpp"
#include "gdr/gdr.hpp"
#include "gdr/mpi.hpp"

namespace {

/// This rank's elements of [A | b]: random numbers from -0.5 to 0.5.
std::vector<double> matrix(const gdr::DistributedMatrices& grid, std::size_t n) {
  const std::size_t rows = grid.local_rows(n), columns = grid.local_columns(n + 1);
  std::vector<double> a(rows * columns);
  for (std::size_t c = 0; c < columns; ++c)
    for (std::size_t r = 0; r < rows; ++r) {
      std::minstd_rand random(
          static_cast<unsigned>(1 + grid.global_row(r) + 65537 * grid.global_column(c)));
      random.discard(3);
      a[r + c * rows] = static_cast<double>(random()) / 0x7fffffff - 0.5;
    }
  return a;
}

double sum(double own) {
  double all = 0;
  MPI_Allreduce(&own, &all, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
  return all;
}

/// The fastest of several repetitions, with times summed over the ranks.
void solve(gdr::Device& device, std::size_t n, int repetitions, std::size_t block, bool look_ahead,
           std::vector<double>& x) {
  gdr::DistributedMatrices grid(device, {.block = block, .look_ahead = look_ahead});
  const std::vector<double> a = matrix(grid, n);
  double best = 0;
  for (int k = 0; k < repetitions; ++k) {
    std::vector<double> factors = a;
    const double begin = MPI_Wtime();
    x = grid.solve(n, factors.data());
    const double seconds = MPI_Wtime() - begin;
    best = k == 0 ? seconds : std::min(best, seconds);
  }
  const gdr::GridTimes times = grid.times();
  const double panel = sum(times.panel), hidden = sum(times.hidden);
  const double operations = 2.0 / 3 * std::pow(static_cast<double>(n), 3);
  if (device.rank() == 0)
    std::printf("%-16s %u x %u ranks: %.4f s, %.3f Gflops; panels %.4f s, %.0f %% of it hidden\n",
                look_ahead ? "look-ahead" : "no look-ahead", grid.grid_rows(), grid.grid_columns(),
                best, operations / best * 1e-9, panel / device.ranks() / repetitions,
                panel > 0 ? 100 * hidden / panel : 0);
}

}  // namespace

int main(int argc, char** argv) {
  int level = 0, status = 0;
  MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &level);
  try {
    const std::size_t n = argc > 1 ? std::strtoul(argv[1], nullptr, 10) : 1024;
    const int repetitions = argc > 2 ? std::atoi(argv[2]) : 2;
    const std::size_t block = argc > 3 ? std::strtoul(argv[3], nullptr, 10) : 64;
    gdr::Device device = gdr::open_mpi(MPI_COMM_WORLD, argc > 4 ? argv[4] : "mpi:engine=native");
    std::vector<double> with, without;
    solve(device, n, repetitions, block, true, with);
    solve(device, n, repetitions, block, false, without);
    if (with != without) throw gdr::Error(gdr::ErrorCategory::Internal, "the solutions differ");
  } catch (const gdr::RankFailure& e) {  // the matrices are lost: start again
    std::fprintf(stderr, "%s\n", e.what());
    MPI_Abort(MPI_COMM_WORLD, 1);
  } catch (const gdr::Error& e) {  // collective error
    std::fprintf(stderr, "%s\n", e.what());
    status = 1;
  }
  MPI_Finalize();
  return status;
}
