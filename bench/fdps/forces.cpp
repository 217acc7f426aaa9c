// One force calculation of FDPS's sample nbody, repeated with the same particles: with the
// sample's own loops (its user-defined.hpp, with or without a generated kernel), or with a device.
// run.py compiles and runs it.
//   forces PARTICLES CALLS FILE [DEVICE [particle|index]]
// prints "seconds" and the seconds of the fastest call, and writes accelerations and potentials to
// FILE. One process: CPU time. Ranks (compiled with PARTICLE_SIMULATOR_MPI_PARALLEL): wall-clock
// time of a step with the decomposition of the domain and the exchange of particles; FILE has the
// forces of all ranks.
#include <time.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <iostream>
#include <limits>
#include <particle_simulator.hpp>
#include <string>
#include <vector>

#include "user-defined.hpp"
#ifdef USE_GDR
#include "gdr/fdps.hpp"
#include "gdr/gdr.hpp"
#endif

PS::F64 FPGrav::eps = 1.0 / 32;

namespace {

constexpr double theta = 0.5, radius = 3;
constexpr int leaf = 8, group = 512, walks_at_once = 200;

/// CPU time of a single process; ranks wait for each other.
double seconds() {
  timespec t;
  PS::Comm::barrier();
  clock_gettime(PS::Comm::getNumberOfProc() > 1 ? CLOCK_MONOTONIC : CLOCK_PROCESS_CPUTIME_ID, &t);
  return static_cast<double>(t.tv_sec) + 1e-9 * static_cast<double>(t.tv_nsec);
}

/// A homogeneous sphere of mass 1, on rank 0.
void make_sphere(PS::ParticleSystem<FPGrav>& stars, int n) {
  const int own = PS::Comm::getRank() == 0 ? n : 0;
  stars.setNumberOfParticleLocal(own);
  PS::MTTS random;
  random.init_genrand(0);
  for (int i = 0; i < own; ++i) {
    stars[i].id = i;
    stars[i].mass = 1.0 / n;
    stars[i].vel = 0.0;
    do
      for (int k = 0; k < 3; ++k) stars[i].pos[k] = radius * (2 * random.genrand_res53() - 1);
    while (stars[i].pos * stars[i].pos >= radius * radius);
  }
}

/// Accelerations and potentials in the order of the ids.
void write(PS::ParticleSystem<FPGrav>& stars, int n, const char* path) {
  std::vector<double> numbers(4 * static_cast<std::size_t>(n));
  for (int i = 0; i < stars.getNumberOfParticleLocal(); ++i) {
    double* const to = numbers.data() + 4 * stars[i].id;
    for (int k = 0; k < 3; ++k) to[k] = stars[i].acc[k];
    to[3] = stars[i].pot;
  }
#ifdef PARTICLE_SIMULATOR_MPI_PARALLEL
  const bool first = PS::Comm::getRank() == 0;
  MPI_Reduce(first ? MPI_IN_PLACE : numbers.data(), numbers.data(), 4 * n, MPI_DOUBLE, MPI_SUM, 0,
             MPI_COMM_WORLD);
  if (!first) return;
#endif
  std::ofstream(path, std::ios::binary)
      .write(reinterpret_cast<const char*>(numbers.data()),
             static_cast<std::streamsize>(numbers.size() * sizeof(double)));
}

}  // namespace

int main(int argc, char** argv) {
  PS::Initialize(argc, argv);
  const int n = std::atoi(argv[1]), calls = std::atoi(argv[2]);
  PS::ParticleSystem<FPGrav> stars;
  stars.initialize();
  make_sphere(stars, n);
  PS::DomainInfo domain;
  domain.initialize(0.3);
  domain.decomposeDomainAll(stars);
  stars.exchangeParticle(domain);
  PS::TreeForForceLong<FPGrav, FPGrav, FPGrav>::Monopole tree;
  tree.initialize(n, theta, leaf, group);
#ifdef USE_GDR
  gdr::Device device = gdr::Device::open(argv[4]);
  const bool by_index = std::string(argv[5]) == "index";
  gdr::fdps::MultiWalk<FPGrav, FPGrav, PS::SPJMonopole, FPGrav> forces(
      device, gdr::Kernel::builtin("gravity"));
  // Without ids a particle acts on itself, as in the sample.
  forces.set("eps2", FPGrav::eps * FPGrav::eps);
  forces.epi({"xi", "yi", "zi"}, &FPGrav::pos).epi("idi", -1);
  forces.epj({"xj", "yj", "zj"}, &FPGrav::pos).epj("mj", &FPGrav::mass).epj("idj", -2);
  forces.spj({"xj", "yj", "zj"}, &PS::SPJMonopole::pos);
  forces.spj("mj", &PS::SPJMonopole::mass).spj("idj", -2);
  forces.force({"ax", "ay", "az"}, &FPGrav::acc).force("pot", &FPGrav::pot);
  const auto call = [&] {
    if (by_index)
      tree.calcForceAllAndWriteBackMultiWalkIndex(forces.dispatch(), forces.retrieve(), 1, stars,
                                                  domain, walks_at_once, true);
    else
      tree.calcForceAllAndWriteBackMultiWalk(forces.dispatch(), forces.retrieve(), 1, stars, domain,
                                             walks_at_once, true);
  };
#else
  const auto call = [&] {
    tree.calcForceAllAndWriteBack(CalcGravity<FPGrav>, CalcGravity<PS::SPJMonopole>, stars, domain);
  };
#endif
  const auto step = [&] {
    if (PS::Comm::getNumberOfProc() > 1) {
      domain.decomposeDomainAll(stars);
      stars.exchangeParticle(domain);
    }
    call();
  };
  step();
  double least = std::numeric_limits<double>::infinity();
  for (int k = 0; k < calls; ++k) {
    const double start = seconds();
    step();
    least = std::min(least, seconds() - start);
  }
  if (PS::Comm::getRank() == 0) std::printf("seconds %.6f\n", least);
  write(stars, n, argv[3]);
  PS::Finalize();
}
