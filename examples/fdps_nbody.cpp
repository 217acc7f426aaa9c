// A cold sphere of stars under FDPS (https://github.com/FDPS/FDPS), which decomposes the domain and
// makes the interaction lists; a device computes the forces. tests/fdps compiles it where GDR_FDPS
// names FDPS's folder:
//   c++ -std=c++20 -O3 -I$GDR_FDPS/src fdps_nbody.cpp -lgdr
//   a.out [particles] [steps] [n_group] [particle|index]
// With -fopenmp -DPARTICLE_SIMULATOR_THREAD_PARALLEL and mpicxx -DPARTICLE_SIMULATOR_MPI_PARALLEL
// FDPS uses threads and ranks; every rank opens a device of its own.
#include <cstdio>
#include <cstdlib>
#include <particle_simulator.hpp>
#include <string>

#include "gdr/fdps.hpp"
#include "gdr/gdr.hpp"

/// Target, source and force of the tree at once.
struct Body {
  PS::S64 id = 0;
  PS::F64 mass = 0;
  PS::F64vec pos, vel, acc;
  PS::F64 pot = 0;

  PS::F64vec getPos() const { return pos; }
  PS::F64 getCharge() const { return mass; }
  void copyFromFP(const Body& b) { id = b.id, mass = b.mass, pos = b.pos; }
  void copyFromForce(const Body& b) { acc = b.acc, pot = b.pot; }
  void clear() { acc = 0, pot = 0; }
};
using Bodies = PS::ParticleSystem<Body>;
using Node = PS::SPJMonopole;

namespace {

constexpr double radius = 1, eps = 1.0 / 64, dt = 1.0 / 128, theta = 0.5;
constexpr int walks_at_once = 200, bodies_of_a_leaf = 8;

/// A homogeneous sphere of mass 1 at rest, on rank 0.
void make_sphere(Bodies& bodies, int n) {
  const int own = PS::Comm::getRank() == 0 ? n : 0;
  bodies.setNumberOfParticleLocal(own);
  PS::MTTS random;
  random.init_genrand(1);
  for (int i = 0; i < own; ++i) {
    Body& b = bodies[i];
    b.id = i;
    b.mass = 1.0 / n;
    b.vel = 0;
    do
      for (int k = 0; k < 3; ++k) b.pos[k] = radius * (2 * random.genrand_res53() - 1);
    while (b.pos * b.pos > radius * radius);
  }
}

double energy(const Bodies& bodies) {
  double sum = 0;
  for (int i = 0; i < bodies.getNumberOfParticleLocal(); ++i)
    sum += 0.5 * bodies[i].mass * (bodies[i].vel * bodies[i].vel + bodies[i].pot);
  return PS::Comm::getSum(sum);
}

void kick(Bodies& bodies, double step) {
  for (int i = 0; i < bodies.getNumberOfParticleLocal(); ++i) bodies[i].vel += step * bodies[i].acc;
}
void drift(Bodies& bodies, double step) {
  for (int i = 0; i < bodies.getNumberOfParticleLocal(); ++i) bodies[i].pos += step * bodies[i].vel;
}

}  // namespace

int main(int argc, char** argv) {
  PS::Initialize(argc, argv);
  const int n = argc > 1 ? std::atoi(argv[1]) : 4096, steps = argc > 2 ? std::atoi(argv[2]) : 8;
  const int group = argc > 3 ? std::atoi(argv[3]) : 256;
  const bool index = argc > 4 && std::string(argv[4]) == "index";

  gdr::Device device = gdr::Device::open();
  gdr::fdps::MultiWalk<Body, Body, Node, Body> forces(device, gdr::Kernel::builtin("gravity"));
  forces.set("eps2", eps * eps);
  forces.epi({"xi", "yi", "zi"}, &Body::pos).epi("idi", &Body::id);
  forces.epj({"xj", "yj", "zj"}, &Body::pos).epj("mj", &Body::mass).epj("idj", &Body::id);
  forces.spj({"xj", "yj", "zj"}, &Node::pos).spj("mj", &Node::mass).spj("idj", -1);
  forces.force({"ax", "ay", "az"}, &Body::acc).force("pot", &Body::pot);

  Bodies bodies;
  bodies.initialize();
  make_sphere(bodies, n);
  PS::DomainInfo domain;
  domain.initialize();
  domain.decomposeDomainAll(bodies);
  bodies.exchangeParticle(domain);
  PS::TreeForForceLong<Body, Body, Body>::Monopole tree;
  tree.initialize(n, theta, bodies_of_a_leaf, group);
  double seconds = 0;
  const auto compute = [&] {
    const double begin = PS::GetWtime();
    if (index)
      tree.calcForceAllAndWriteBackMultiWalkIndex(forces.dispatch(), forces.retrieve(), 1, bodies,
                                                  domain, walks_at_once);
    else
      tree.calcForceAllAndWriteBackMultiWalk(forces.dispatch(), forces.retrieve(), 1, bodies,
                                             domain, walks_at_once);
    seconds += PS::GetWtime() - begin;
  };

  compute();
  const double start = energy(bodies);
  seconds = 0;
  for (int k = 0; k < steps; ++k) {
    kick(bodies, dt / 2);
    drift(bodies, dt);
    domain.decomposeDomainAll(bodies);
    bodies.exchangeParticle(domain);
    compute();
    kick(bodies, dt / 2);
  }
  const double change = energy(bodies) / start - 1;
  const bool first = PS::Comm::getRank() == 0;
  if (first)
    std::printf(
        "%d bodies, %d steps: energy %.6f, relative change %.1e, %.4f s for the forces of a step\n",
        n, steps, start, change, seconds / steps);
  PS::Finalize();
  return change > -1e-4 && change < 1e-4 ? 0 : 1;
}
