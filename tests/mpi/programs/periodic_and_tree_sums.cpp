// Jerks, sums of any law with a tree, Ewald and SPH sums on many ranks: compares them with one
// process, and reports errors, as `R: TEXT`.
//
// usage: test_mpi_periodic_and_tree_sums OPTIONS PARTICLES
//   OPTIONS: those of the device, "engine=native"
#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <limits>
#include <string>
#include <vector>

#include "gdr/gdr.hpp"
#include "mpi/programs/particles.hpp"

namespace {

using gdr_mpi::cut;
using gdr_mpi::Particles;

constexpr const char* law = R"(
kernel screened;
VARI xi, yi, zi as pos; VARI int idi as id;
VARJ xj, yj, zj as pos; VARJ qj; VARJ int idj as id;
VARF f[3], u;
CONST k;
dx = xi - xj; dy = yi - yj; dz = zi - zj;
r2 = dx*dx + dy*dy + dz*dz + 0.01;
skip if (idi == idj);
rinv = rsqrt(r2);
w = qj*exp(-k*(r2*rinv))*rinv;
u += w;
f[0] += w*dx; f[1] += w*dy; f[2] += w*dz;
)";

const double nan = std::numeric_limits<double>::quiet_NaN();
const gdr::PeriodicBox tilted{{{{8, 0, 0}, {1, 8, 0}, {0, 0, 9}}}, {true, true, true}};

/// Whether a part has the bits of the numbers of all from number `first` on.
bool are_part_of(const std::vector<double>& part, const std::vector<double>& all,
                 std::size_t first) {
  return std::equal(part.begin(), part.end(), all.begin() + static_cast<std::ptrdiff_t>(first));
}

class Program {
 public:
  Program(const std::string& options, std::size_t n)
      : shared_(gdr::Device::open("mpi:" + options)),
        alone_(gdr::Device::open("emulator:" + options)),
        rank_(shared_.rank()),
        all_(Particles::random(n, 3)),
        targets_(Particles::random(n / 4, 4)) {
    const gdr_mpi::RankPart part = gdr_mpi::part_of_rank(n, rank_, shared_.ranks());
    first_ = part.first;
    own_ = all_.part(first_, part.count);
    // Targets are on the last rank.
    at_ = targets_.part(0, rank_ + 1 == shared_.ranks() ? targets_.size() : 0);
  }

  void run() {
    jerks();
    trees();
    crystals();
    gases();
    errors();
  }

 private:
  void report(bool good) const { std::printf("%u: %s\n", rank_, good ? "same" : "different"); }
  void report_error(const std::function<void()>& call) const {
    try {
      call();
      std::printf("%u: no error\n", rank_);
    } catch (const gdr::Error& error) {
      std::printf("%u: %s\n", rank_, error.what());
    }
  }

  /// Accelerations, jerks and potentials, one after the other, and the report's numbers.
  struct Jerks {
    std::vector<double> a, j, pot;
    gdr::TreeReport report = {};
  };
  /// Positions are velocities, too.
  static Jerks jerks_of(gdr::Device& device, const Particles& p, const gdr::TreeOptions* options,
                        const gdr::Softening& eps = 0.05) {
    gdr::GravityJerk gravity(device);
    const std::size_t n = p.size();
    Jerks r{std::vector<double>(3 * n), std::vector<double>(3 * n), std::vector<double>(n)};
    if (options != nullptr)
      r.report = gravity.compute(n, p.pos, p.pos, p.charge, eps, r.a, r.j, r.pot, *options);
    else
      gravity.compute(n, p.pos, p.pos, p.charge, eps, r.a, r.j, r.pot);
    return r;
  }
  static Jerks jerks_at(gdr::Device& device, const Particles& p, const Particles& at,
                        const gdr::TreeOptions* options, const gdr::Softening& eps = 0.0) {
    gdr::GravityJerk gravity(device);
    const std::size_t n = p.size(), m = at.size();
    Jerks r{std::vector<double>(3 * m), std::vector<double>(3 * m), std::vector<double>(m)};
    if (options != nullptr)
      r.report = gravity.compute_on(m, at.pos, at.pos, n, p.pos, p.pos, p.charge, eps, r.a, r.j,
                                    r.pot, *options);
    else
      gravity.compute_on(m, at.pos, at.pos, n, p.pos, p.pos, p.charge, eps, r.a, r.j, r.pot);
    return r;
  }
  void compare(const Jerks& ours, const Jerks& theirs, std::size_t first) const {
    report(are_part_of(ours.a, theirs.a, 3 * first) && are_part_of(ours.j, theirs.j, 3 * first) &&
           are_part_of(ours.pot, theirs.pot, first) && ours.report.error == theirs.report.error &&
           ours.report.jerk_error == theirs.report.jerk_error &&
           ours.report.theta == theirs.report.theta && ours.report.degree == theirs.report.degree);
  }
  void jerks() {
    const gdr::TreeOptions multipoles{.accuracy = 1e-3, .method = gdr::TreeMethod::Multipole};
    const gdr::TreeOptions monopoles{.method = gdr::TreeMethod::Monopole, .theta = 0.6};
    compare(jerks_of(shared_, own_, nullptr), jerks_of(alone_, all_, nullptr), first_);
    compare(jerks_of(shared_, own_, &multipoles), jerks_of(alone_, all_, &multipoles), first_);
    compare(jerks_at(shared_, own_, at_, &monopoles), jerks_at(alone_, all_, targets_, &monopoles),
            0);
    compare(jerks_at(shared_, own_, at_, nullptr), jerks_at(alone_, all_, targets_, nullptr), 0);
    // Softening of each particle, and of targets, which some ranks do not have.
    compare(jerks_of(shared_, own_, nullptr, own_.factor),
            jerks_of(alone_, all_, nullptr, all_.factor), first_);
    compare(jerks_of(shared_, own_, &multipoles, own_.factor),
            jerks_of(alone_, all_, &multipoles, all_.factor), first_);
    compare(jerks_at(shared_, own_, at_, nullptr, {own_.factor, at_.radius}),
            jerks_at(alone_, all_, targets_, nullptr, {all_.factor, targets_.radius}), 0);
    compare(forces_at(shared_, own_, at_, monopoles), forces_at(alone_, all_, targets_, monopoles),
            0);
  }
  /// Accelerations and potentials with softening of each particle and target.
  static Jerks forces_at(gdr::Device& device, const Particles& p, const Particles& at,
                         const gdr::TreeOptions& options) {
    gdr::Gravity gravity(device);
    const std::size_t m = at.size();
    Jerks r{std::vector<double>(3 * m), std::vector<double>(3 * m), std::vector<double>(m)};
    r.report = gravity.compute_on(m, at.pos, p.size(), p.pos, p.charge, {p.factor, at.radius}, r.a,
                                  r.pot, options);
    return r;
  }

  /// Forces in float, potentials, and the report's numbers.
  struct Screened {
    std::vector<float> f;
    std::vector<double> u;
    gdr::TreeSumReport report = {};
  };
  static Screened screened(gdr::TreeSum& sum, const Particles& p, const Particles* at) {
    const std::size_t m = (at == nullptr ? p : *at).size();
    Screened r{std::vector<float>(3 * m), std::vector<double>(m)};
    const std::vector<std::int64_t> numbers(m, -1), ids(p.size(), -2);
    gdr::TreeCall call{.pos = p.pos};
    std::vector<gdr::NamedInput> sources{{"qj", p.charge}}, targets;
    if (at != nullptr) {
      call.target_pos = at->pos;
      sources.push_back({"idj", ids});
      targets.push_back({"idi", numbers});
    }
    const std::vector<gdr::NamedResult> results{{"f", r.f}, {"u", r.u}};
    call.sources = sources;
    call.targets = targets;
    call.results = results;
    sum.set("k", 0.4);
    r.report = sum.run(call);
    return r;
  }
  void trees() {
    const gdr::Kernel kernel = gdr::Kernel::compile(law);
    for (const gdr::TreeSumOptions& options :
         {gdr::TreeSumOptions{.accuracy = 1e-3, .degree = 2}, gdr::TreeSumOptions{.theta = 0.6},
          gdr::TreeSumOptions{}}) {
      gdr::TreeSum ours(shared_, kernel, options), theirs(alone_, kernel, options);
      for (const bool elsewhere : {false, true}) {
        const Screened a = screened(ours, own_, elsewhere ? &at_ : nullptr);
        const Screened b = screened(theirs, all_, elsewhere ? &targets_ : nullptr);
        const std::size_t first = elsewhere ? 0 : first_;
        report(std::equal(a.f.begin(), a.f.end(),
                          b.f.begin() + static_cast<std::ptrdiff_t>(3 * first)) &&
               are_part_of(a.u, b.u, first) && a.report.error == b.report.error &&
               a.report.theta == b.report.theta && a.report.degree == b.report.degree &&
               a.report.reason == b.report.reason &&
               std::abs(a.report.sources_per_target - b.report.sources_per_target) <=
                   1e-9 * b.report.sources_per_target);
      }
    }
  }

  struct Crystal {
    std::vector<double> force, energy;
    gdr::EwaldResult result = {};
  };
  static Crystal crystal(gdr::Ewald& ewald, const Particles& p, double accuracy,
                         const gdr::PeriodicBox& box = tilted) {
    Crystal c{std::vector<double>(3 * p.size()), std::vector<double>(p.size())};
    c.result = ewald.run({.pos = p.pos,
                          .charge = p.charge,
                          .box = box,
                          .options = {.accuracy = accuracy},
                          .force = c.force,
                          .energy = c.energy});
    return c;
  }
  /// Particles move, so that lists are used again.
  void crystals() {
    gdr::Ewald ours(shared_), theirs(alone_);
    Particles all = all_, own = own_;
    bool good = true;
    for (unsigned step = 0; step < 3; ++step) {
      const Crystal a = crystal(ours, own, 1e-4), b = crystal(theirs, all, 1e-4);
      good = good && are_part_of(a.force, b.force, 3 * first_) &&
             are_part_of(a.energy, b.energy, first_) && a.result.energy == b.result.energy &&
             a.result.virial == b.result.virial && a.result.waves == b.result.waves &&
             a.result.alpha == b.result.alpha && a.result.error == b.result.error;
      all.move();
      own = all.part(first_, own_.size());
    }
    report(good);
  }

  struct Gas {
    std::vector<double> h, rho, acc, dudt;
    std::vector<std::int64_t> near;
    unsigned iterations = 0;
    explicit Gas(std::size_t n) : h(n), rho(n), acc(3 * n), dudt(n), near(n) {}
  };
  static Gas gas(gdr::Sph& sph, const Particles& p, const gdr::SphLengthOptions& options = {}) {
    Gas g(p.size());
    g.iterations = sph.smoothing_lengths({.pos = p.pos, .mass = p.charge, .h = {}}, options, g.h,
                                         g.rho, g.near);
    sph.forces({.pos = p.pos, .mass = p.charge, .h = g.h},
               {.vel = p.pos, .rho = g.rho, .pressure = p.factor, .sound = p.radius},
               {.acc = g.acc, .dudt = g.dudt, .mumax = {}});
    return g;
  }
  void gases() {
    for (const bool periodic : {false, true}) {
      gdr::Sph ours(shared_), theirs(alone_);
      if (periodic) {
        ours.set_box(tilted);
        theirs.set_box(tilted);
      }
      const Gas a = gas(ours, own_), b = gas(theirs, all_);
      report(a.iterations == b.iterations && are_part_of(a.h, b.h, first_) &&
             are_part_of(a.rho, b.rho, first_) && are_part_of(a.acc, b.acc, 3 * first_) &&
             are_part_of(a.dudt, b.dudt, first_) &&
             std::equal(a.near.begin(), a.near.end(),
                        b.near.begin() + static_cast<std::ptrdiff_t>(first_)));
    }
  }

  void errors() {
    const unsigned last = shared_.ranks() - 1;
    const bool wrong = rank_ == last, other = wrong && last > 0;
    const gdr::TreeOptions tree{.method = gdr::TreeMethod::Monopole, .theta = 0.6};
    Particles bad = own_;
    if (wrong) bad.pos[4] = nan;
    report_error([&] { jerks_of(shared_, bad, &tree); });
    const gdr::TreeOptions different{.method = gdr::TreeMethod::Monopole,
                                     .theta = other ? 0.5 : 0.6};
    report_error([&] { jerks_of(shared_, own_, &different); });
    report_error([&] { jerks_of(shared_, own_, other ? &tree : nullptr); });
    const gdr::Softening each(own_.factor), one(0.05);
    report_error([&] { jerks_of(shared_, own_, nullptr, other ? one : each); });
    report_error([&] { jerks_of(shared_, {}, nullptr); });

    const gdr::Kernel kernel = gdr::Kernel::compile(law);
    gdr::TreeSum sum(shared_, kernel, {.theta = 0.6});
    report_error([&] { screened(sum, bad, nullptr); });
    Particles charged = own_;
    if (wrong) charged.charge[2] = nan;
    report_error([&] { screened(sum, charged, nullptr); });
    report_error([&] { sum.set(wrong ? "kk" : "k", 1); });
    report_error([&] {
      gdr::TreeSum mixed(shared_, kernel, {.theta = other ? 0.5 : 0.6});
      screened(mixed, own_, nullptr);
    });
    report_error([&] { screened(sum, {}, nullptr); });

    gdr::Ewald ewald(shared_);
    report_error([&] { crystal(ewald, bad, 1e-4); });
    report_error([&] { crystal(ewald, own_, other ? 1e-3 : 1e-4); });
    gdr::PeriodicBox longer = tilted;
    if (other) longer.vectors[2][2] = 10;
    report_error([&] { crystal(ewald, own_, 1e-4, longer); });
    report_error([&] { crystal(ewald, {}, 1e-4); });
    Particles same = own_;  // the first charge of all is also at the place of the last
    if (wrong)
      for (std::size_t c = 0; c < 3; ++c) same.pos[same.pos.size() - 3 + c] = all_.pos[c];
    report_error([&] { crystal(ewald, same, 1e-4); });

    gdr::Sph sph(shared_);
    report_error([&] { gas(sph, bad); });
    report_error([&] { gas(sph, own_, {.eta = other ? 1.3 : 1.2}); });
    report_error([&] { gas(sph, own_, {.iterations = 1}); });
    report_error([&] { gas(sph, {}); });
    report_error([&] {
      if (other)
        sph.set_box(tilted);
      else
        gas(sph, own_);
    });
    std::uint64_t pairs = 0;
    for (const gdr::RankReport& r : shared_.rank_reports()) pairs += r.pairs;
    report(pairs > 0);
  }

  gdr::Device shared_, alone_;
  const unsigned rank_;
  Particles all_, targets_, own_, at_;
  std::size_t first_ = 0;  ///< number of this rank's first particle
};

}  // namespace

int main(int, char** argv) {
  Program(argv[1], static_cast<std::size_t>(std::atoi(argv[2]))).run();
  return 0;
}
