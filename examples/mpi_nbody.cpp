// A star cluster on many ranks: every rank owns some particles, the device combines all of them.
//
//   mpirun -n 4 example_mpi_nbody_cpp [particles] [steps] [device]
#include <mpi.h>

#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <random>
#include <vector>

#include "gdr/gdr.hpp"
#include "gdr/mpi.hpp"

namespace {

struct Cluster {
  std::vector<double> position, velocity, mass, acceleration, potential;
};

/// This rank's part of n particles in a unit sphere, independent of the number of ranks.
Cluster sphere(std::size_t n, std::size_t rank, std::size_t ranks) {
  Cluster c;
  for (std::size_t i = n * rank / ranks; i < n * (rank + 1) / ranks; ++i) {
    std::mt19937_64 random(i);
    std::uniform_real_distribution<double> uniform(-1, 1);
    double x[3];
    do {
      for (double& k : x) k = uniform(random);
    } while (x[0] * x[0] + x[1] * x[1] + x[2] * x[2] > 1);
    for (const double k : x) c.position.push_back(k);
    for (int k = 0; k < 3; ++k) c.velocity.push_back(0.3 * uniform(random));
    c.mass.push_back(1.0 / static_cast<double>(n));
  }
  c.acceleration.resize(c.position.size());
  c.potential.resize(c.mass.size());
  return c;
}

double energy(const Cluster& c) {
  double own = 0, all = 0;
  for (std::size_t i = 0; i < c.mass.size(); ++i) {
    double v2 = 0;
    for (std::size_t k = 0; k < 3; ++k) v2 += c.velocity[3 * i + k] * c.velocity[3 * i + k];
    own += 0.5 * c.mass[i] * (v2 + c.potential[i]);
  }
  MPI_Allreduce(&own, &all, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
  return all;
}

void run(std::size_t n, int steps, const char* name) {
  constexpr double eps = 1.0 / 64, dt = 1.0 / 256;
  gdr::Device device = gdr::open_mpi(MPI_COMM_WORLD, name);
  gdr::Gravity gravity(device);
  Cluster c = sphere(n, device.rank(), device.ranks());
  const auto forces = [&] {
    gravity.compute(c.mass.size(), c.position.data(), c.mass.data(), eps, c.acceleration.data(),
                    c.potential.data());
  };
  const auto kick = [&] {
    for (std::size_t k = 0; k < c.velocity.size(); ++k)
      c.velocity[k] += 0.5 * dt * c.acceleration[k];
  };
  forces();
  const double before = energy(c), begin = MPI_Wtime();
  for (int step = 0; step < steps; ++step) {
    kick();
    for (std::size_t k = 0; k < c.position.size(); ++k) c.position[k] += dt * c.velocity[k];
    forces();
    kick();
  }
  const double seconds = MPI_Wtime() - begin, after = energy(c);
  if (device.rank() == 0)
    std::printf("%u ranks, %zu particles, %d steps in %.4f s; energy %.9f, drift %.2e\n",
                device.ranks(), n, steps, seconds, after, (after - before) / std::fabs(before));
}

}  // namespace

int main(int argc, char** argv) {
  int level = 0, status = 0;
  MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &level);
  try {
    run(argc > 1 ? std::strtoul(argv[1], nullptr, 10) : 1024, argc > 2 ? std::atoi(argv[2]) : 8,
        argc > 3 ? argv[3] : "mpi:engine=native");
  } catch (const gdr::RankFailure& e) {  // the particles are lost: start again
    std::fprintf(stderr, "%s\n", e.what());
    MPI_Abort(MPI_COMM_WORLD, 1);
  } catch (const gdr::Error& e) {  // collective error
    std::fprintf(stderr, "%s\n", e.what());
    status = 1;
  }
  MPI_Finalize();
  return status;
}
