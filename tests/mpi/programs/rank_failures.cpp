// Repeated force calculations while ranks kill themselves: every remaining rank checks that the
// bits are those of the first call, and prints the number of failed ranks.
//
// usage: test_mpi_rank_failures DEVICE SEED ROUNDS VICTIM...
//   DEVICE: one of engine native, whose kernels need no search for a schedule
//   victim k kills itself in round 2 + 3 k, after a random time up to the duration of a round
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <random>
#include <span>
#include <thread>
#include <vector>

#include "gdr/gdr.hpp"

namespace {

constexpr std::size_t n = 700, charges_of_ewald = 40;

constexpr const char* law =
    "VARI xi, yi, zi as pos; VARJ xj, yj, zj as pos; VARF near;\n"
    "dx = xj - xi; dy = yj - yi; dz = zj - zi; near += 1/(dx*dx + dy*dy + dz*dz + 1);\n";
constexpr const char* charged =
    "VARI xi, yi, zi as pos; VARJ xj, yj, zj as pos; VARJ qj; VARF u;\n"
    "dx = xj - xi; dy = yj - yi; dz = zj - zi; u += qj/(dx*dx + dy*dy + dz*dz + 1);\n";

/// Forces on this rank's part of the particles (every rank has all as sources): some are computed
/// asynchronously, while others are computed in the foreground. Then sums within a cut-off, whose
/// lists are used again, trees, an Ewald sum and densities.
struct Forces {
  explicit Forces(gdr::Device& opened)
      : device(opened),
        gravity(opened),
        job(opened.job(gdr::Kernel::builtin("coulomb"))),
        pairs(opened, gdr::Kernel::compile(law), {.cutoff = {0.4}}),
        jerks(opened),
        charges(opened, gdr::Kernel::compile(charged), {.theta = 0.6}),
        ewald(opened),
        sph(opened) {
    std::mt19937_64 random(1);
    std::uniform_real_distribution<double> uniform(-1, 1);
    for (double& x : position) x = uniform(random);
  }
  void compute() {
    const std::size_t rank = device.rank(), ranks = device.ranks();
    const std::size_t first = n * rank / ranks, count = n * (rank + 1) / ranks - first;
    const double* const x = position.data() + 3 * first;
    constexpr std::ptrdiff_t triple = 3 * sizeof(double);
    job.sources(count, {{"xj", {x, triple}},
                        {"yj", {x + 1, triple}},
                        {"zj", {x + 2, triple}},
                        {"qj", mass.data()},
                        {"idj", sources.data()}});
    job.targets(count, {{"xi", {x, triple}},
                        {"yi", {x + 1, triple}},
                        {"zi", {x + 2, triple}},
                        {"idi", targets.data()}});
    job.start({{"pot", coulomb.data() + first}});
    gravity.compute(count, x, mass.data(), 0.1, acceleration.data() + 3 * first, nullptr);
    job.wait();
    const std::vector<gdr::NamedResult> results{{"near", near.data() + first}};
    pairs.run({.pos = std::span(x, 3 * count), .results = results});
    const gdr::TreeOptions monopoles{.method = gdr::TreeMethod::Monopole, .theta = 0.6};
    gravity.compute(count, x, mass.data(), 0.1, tree.data() + 3 * first, nullptr, monopoles);
    jerks.compute(count, x, x, mass.data(), 0.1, nullptr, jerk.data() + 3 * first, nullptr,
                  monopoles);
    const std::span<const double> pos(x, 3 * count), m(mass.data(), count);
    const std::vector<gdr::NamedInput> of_sources{{"qj", m}};
    const std::vector<gdr::NamedResult> of_charges{{"u", potential.data() + first}};
    charges.run({.pos = pos, .sources = of_sources, .results = of_charges});
    const std::size_t first_charge = charges_of_ewald * rank / ranks;
    const std::size_t charge_count = charges_of_ewald * (rank + 1) / ranks - first_charge;
    ewald.run({.pos = {position.data() + 3 * first_charge, 3 * charge_count},
               .charge = {mass.data(), charge_count},
               .box = gdr::PeriodicBox::orthorhombic({2, 2, 2}),
               .options = {.accuracy = 1e-3},
               .energy = {energy.data() + first_charge, charge_count}});
    const std::vector<double> h(count, 0.3);
    sph.density({.pos = pos, .mass = m, .h = h}, {density.data() + first, count});
  }
  /// Whether this rank's charges have the same energies.
  bool has_energies_of(const Forces& other) const {
    const std::size_t rank = device.rank(), ranks = device.ranks();
    return std::equal(
        energy.begin() + static_cast<std::ptrdiff_t>(charges_of_ewald * rank / ranks),
        energy.begin() + static_cast<std::ptrdiff_t>(charges_of_ewald * (rank + 1) / ranks),
        other.energy.begin() + static_cast<std::ptrdiff_t>(charges_of_ewald * rank / ranks));
  }
  bool has_forces_of(const Forces& other, std::size_t i) const {
    return acceleration[3 * i] == other.acceleration[3 * i] && coulomb[i] == other.coulomb[i] &&
           near[i] == other.near[i] && tree[3 * i + 1] == other.tree[3 * i + 1] &&
           jerk[3 * i + 2] == other.jerk[3 * i + 2] && potential[i] == other.potential[i] &&
           density[i] == other.density[i];
  }

  gdr::Device& device;
  gdr::Gravity gravity;
  gdr::Job job;
  gdr::PairSum pairs;
  gdr::GravityJerk jerks;
  gdr::TreeSum charges;
  gdr::Ewald ewald;
  gdr::Sph sph;
  std::vector<std::int64_t> targets = std::vector<std::int64_t>(n, 1),
                            sources = std::vector<std::int64_t>(n, 2);
  std::vector<double> position = std::vector<double>(3 * n), mass = std::vector<double>(n, 1.0 / n),
                      acceleration = std::vector<double>(3 * n), coulomb = std::vector<double>(n),
                      near = std::vector<double>(n), tree = std::vector<double>(3 * n),
                      jerk = std::vector<double>(3 * n), potential = std::vector<double>(n),
                      energy = std::vector<double>(charges_of_ewald),
                      density = std::vector<double>(n);
};

}  // namespace

int main(int argc, char** argv) {
  try {
    gdr::Device device = gdr::Device::open(argv[1]);
    const unsigned me = device.rank();
    const int rounds = std::atoi(argv[3]);
    std::mt19937_64 random(std::strtoull(argv[2], nullptr, 10));
    // Reference for any part that this rank may get when others fail: computed by one process.
    gdr::Device alone = gdr::Device::open("native:threads=1");
    Forces right(alone), forces(device);
    right.compute();
    double longest = 0;
    for (int round = 0; round < rounds; ++round) {
      const auto begin = std::chrono::steady_clock::now();
      std::thread end;
      for (int v = 4; v < argc; ++v) {
        const auto after =
            std::chrono::duration<double>(longest * static_cast<double>(random() >> 11) * 0x1p-53);
        if (round != 2 + 3 * (v - 4) || me != std::strtoul(argv[v], nullptr, 10)) continue;
        end = std::thread([after] {
          std::this_thread::sleep_for(after);
          ::kill(::getpid(), SIGKILL);
        });
      }
      device.retry_on_rank_failure([&] { forces.compute(); });
      if (end.joinable()) end.join();
      const std::size_t first = n * device.rank() / device.ranks();
      const std::size_t last = n * (device.rank() + 1) / device.ranks();
      if (!forces.has_energies_of(right))
        throw gdr::Error(gdr::ErrorCategory::Internal, "charges have other energies");
      for (std::size_t i = first; i < last; ++i)
        if (!forces.has_forces_of(right, i))
          throw gdr::Error(gdr::ErrorCategory::Internal,
                           "particle " + std::to_string(i) + " has another force");
      const std::chrono::duration<double> spent = std::chrono::steady_clock::now() - begin;
      if (device.statistics().failed_ranks.empty()) longest = std::max(longest, spent.count());
    }
    for (const unsigned rank : device.statistics().failed_ranks) std::printf("failed %u\n", rank);
    std::printf("left %u of %u\n", me, device.ranks());
    return 0;
  } catch (const std::exception& e) {
    std::fprintf(stderr, "%s\n", e.what());
    return 1;
  }
}
