// Sums within a cut-off and trees on many ranks: compares them with one process, and reports
// errors, as `R: TEXT`.
//
// usage: test_mpi_many_particles OPTIONS PARTICLES
//   OPTIONS: those of the device, "engine=native"
#include <algorithm>
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

using gdr_mpi::Particles;

constexpr const char* law = R"(
kernel charges;
VARI xi, yi, zi as pos; VARI ci;
VARJ xj, yj, zj as pos; VARJ qj;
VARF fx, fy, fz, u; VARF int pairs;
CONST k;
dx = xj - xi; dy = yj - yi; dz = zj - zi;
w = k*ci*qj*recip(dx*dx + dy*dy + dz*dz + 0.25);
fx += w*dx; fy += w*dy; fz += w*dz; u += w; pairs += 1;
)";

const double nan = std::numeric_limits<double>::quiet_NaN();

/// Results with a stride, in float, and integers.
struct Sums {
  std::vector<double> force;
  std::vector<float> u;
  std::vector<std::int64_t> pairs;
  explicit Sums(std::size_t n) : force(3 * n, -1), u(n, -1), pairs(n, -1) {}

  std::vector<gdr::NamedResult> named() {
    constexpr std::ptrdiff_t triple = 3 * sizeof(double);
    return {{"fx", {force.data(), triple}},
            {"fy", {force.data() + 1, triple}},
            {"fz", {force.data() + 2, triple}},
            {"u", u},
            {"pairs", pairs}};
  }
  /// Whether these are the results from number `first` on of all.
  bool are_part_of(const Sums& all, std::size_t first) const {
    const auto equal = [](const auto& part, const auto& whole, std::size_t from) {
      return std::equal(part.begin(), part.end(),
                        whole.begin() + static_cast<std::ptrdiff_t>(from));
    };
    return equal(force, all.force, 3 * first) && equal(u, all.u, first) &&
           equal(pairs, all.pairs, first);
  }
};

class Program {
 public:
  Program(const std::string& options, std::size_t n)
      : shared_(gdr::Device::open("mpi:" + options)),
        alone_(gdr::Device::open("emulator:" + options)),
        kernel_(gdr::Kernel::compile(law)),
        rank_(shared_.rank()),
        all_(Particles::random(n, 3)),
        targets_(Particles::random(n / 4, 4)) {
    const unsigned ranks = shared_.ranks();
    first_ = gdr_mpi::part_of_rank(n, rank_, ranks).first;
    count_ = gdr_mpi::part_of_rank(n, rank_, ranks).count;
    // Targets are on the last rank.
    target_count_ = rank_ + 1 == ranks ? targets_.size() : 0;
  }

  void run() {
    sums();
    sums_elsewhere();
    errors_of_sums();
    trees();
    errors_of_trees();
  }

 private:
  gdr::PairOptions options(std::vector<double> cutoff) const {
    return {.cutoff = std::move(cutoff),
            .box = gdr::PeriodicBox{{{{6, 0, 0}, {1, 6, 0}, {0, 0, 5}}}, {true, true, false}}};
  }
  static void run(gdr::PairSum& sum, const Particles& p, Sums& to) {
    sum.run({.pos = p.pos,
             .sources = std::vector<gdr::NamedInput>{{"qj", p.charge}},
             .targets = std::vector<gdr::NamedInput>{{"ci", p.factor}},
             .results = to.named()});
  }
  static void run_at(gdr::PairSum& sum, const Particles& p, const Particles& at, Sums& to) {
    sum.run({.pos = p.pos,
             .target_pos = at.pos,
             .sources = std::vector<gdr::NamedInput>{{"qj", p.charge}},
             .targets = std::vector<gdr::NamedInput>{{"ci", at.factor}},
             .results = to.named()});
  }
  void report(bool good) const { std::printf("%u: %s\n", rank_, good ? "same" : "different"); }
  void report_error(const std::function<void()>& call) const {
    try {
      call();
      std::printf("%u: no error\n", rank_);
    } catch (const gdr::Error& error) {
      std::printf("%u: %s\n", rank_, error.what());
    }
  }

  /// Particles move, so that lists are used again and made anew.
  void sums() {
    gdr::PairSum ours(shared_, kernel_, options({1.5})), theirs(alone_, kernel_, options({1.5}));
    for (gdr::PairSum* const sum : {&ours, &theirs}) sum->set("k", 1.25);
    bool good = true;
    for (unsigned step = 0; step < 6; ++step) {
      const Particles own = all_.part(first_, count_);
      Sums got(own.size()), expected(all_.size());
      run(ours, own, got);
      run(theirs, all_, expected);
      good = good && got.are_part_of(expected, first_);
      all_.move();
    }
    const gdr::PairStatistics a = ours.statistics(), b = theirs.statistics();
    report(good && a.lists_made == b.lists_made && a.lists_made > 1 && a.lists_made < 6 &&
           a.groups == b.groups && a.pairs == b.pairs);
  }

  /// Other targets, and a cut-off for each.
  void sums_elsewhere() {
    const Particles own = all_.part(first_, count_), at = targets_.part(0, target_count_);
    gdr::PairSum ours(shared_, kernel_, options(at.radius));
    gdr::PairSum theirs(alone_, kernel_, options(targets_.radius));
    for (gdr::PairSum* const sum : {&ours, &theirs}) sum->set("k", 2);
    Sums got(at.size()), expected(targets_.size());
    run_at(ours, own, at, got);
    run_at(theirs, all_, targets_, expected);
    report(got.are_part_of(expected, 0));
  }

  void errors_of_sums() {
    const unsigned last = shared_.ranks() - 1;
    Particles own = all_.part(first_, count_);
    Sums got(own.size()), again(own.size());
    report_error(
        [&] { const gdr::PairSum bad(shared_, kernel_, options({rank_ == last ? -1.0 : 1.0})); });
    gdr::PairSum sum(shared_, kernel_, options({1.5}));
    sum.set("k", 1);
    run(sum, own, got);
    Particles bad = own;
    if (rank_ == last) bad.pos[4] = nan;
    report_error([&] { run(sum, bad, again); });
    bad = own;
    if (rank_ == last) bad.charge[2] = nan;
    report_error([&] { run(sum, bad, again); });
    report_error([&] { sum.set(rank_ == last ? "kk" : "k", 1); });
    report_error([&] {
      if (rank_ == last && last > 0)
        sum.set_cutoff(std::vector{1.5});
      else
        run(sum, own, again);
    });
    sum.set("k", 1 + (rank_ == last && last > 0 ? 1 : 0));
    report_error([&] { run(sum, own, again); });
    sum.set("k", 1);
    run(sum, own, again);
    report(again.force == got.force && again.u == got.u);
  }

  void trees() {
    const gdr::TreeOptions options{.accuracy = 1e-4, .method = gdr::TreeMethod::Multipole};
    const gdr::TreeOptions monopoles{.method = gdr::TreeMethod::Monopole, .theta = 0.6};
    gdr::Gravity ours(shared_), theirs(alone_);
    const Particles own = all_.part(first_, count_), at = targets_.part(0, target_count_);
    std::vector<double> acc(3 * own.size()), pot(own.size());
    std::vector<double> all_acc(3 * all_.size()), all_pot(all_.size());
    const auto compare = [&](const gdr::TreeReport& a, const gdr::TreeReport& b,
                             std::size_t first) {
      const auto part_of = [](const std::vector<double>& part, const std::vector<double>& whole,
                              std::size_t from) {
        return std::equal(part.begin(), part.end(),
                          whole.begin() + static_cast<std::ptrdiff_t>(from));
      };
      report(part_of(acc, all_acc, 3 * first) && part_of(pot, all_pot, first) &&
             a.method == b.method && a.degree == b.degree && a.theta == b.theta &&
             a.error == b.error && a.groups == b.groups &&
             std::abs(a.sources_per_target - b.sources_per_target) <= 1e-9 * b.sources_per_target);
    };
    compare(ours.compute(own.size(), own.pos, own.charge, 0.05, acc, pot, options),
            theirs.compute(all_.size(), all_.pos, all_.charge, 0.05, all_acc, all_pot, options),
            first_);
    const gdr::TreeOptions expansions{.accuracy = 1e-6, .method = gdr::TreeMethod::Expansion};
    compare(ours.compute(own.size(), own.pos, own.charge, 0.05, acc, pot, expansions),
            theirs.compute(all_.size(), all_.pos, all_.charge, 0.05, all_acc, all_pot, expansions),
            first_);
    compare(ours.compute(own.size(), own.pos, own.charge, 0.05, acc, pot, gdr::TreeOptions{}),
            theirs.compute(all_.size(), all_.pos, all_.charge, 0.05, all_acc, all_pot,
                           gdr::TreeOptions{}),
            first_);
    acc.resize(3 * at.size()), pot.resize(at.size());
    compare(
        ours.compute_on(at.size(), at.pos, own.size(), own.pos, own.charge, 0, acc, pot, monopoles),
        theirs.compute_on(targets_.size(), targets_.pos, all_.size(), all_.pos, all_.charge, 0,
                          all_acc, all_pot, monopoles),
        0);
  }

  void errors_of_trees() {
    const unsigned last = shared_.ranks() - 1;
    gdr::Gravity gravity(shared_);
    const Particles own = all_.part(first_, count_);
    std::vector<double> acc(3 * own.size());
    const auto compute = [&](const Particles& p, double accuracy) {
      gravity.compute(p.size(), p.pos, p.charge, 0.05, acc, nullptr,
                      {.accuracy = accuracy, .method = gdr::TreeMethod::Multipole});
    };
    Particles bad = own;
    if (rank_ == last) bad.pos[4] = nan;
    report_error([&] { compute(bad, 1e-3); });
    report_error([&] { compute(own, rank_ == last ? 3 : 1e-3); });
    report_error([&] { compute(own, rank_ == last && last > 0 ? 1e-2 : 1e-3); });
    compute(own, 1e-3);
    std::uint64_t pairs = 0;
    for (const gdr::RankReport& r : shared_.rank_reports())
      pairs += r.memory_bytes > 0 && r.seconds > 0 ? r.pairs : 0;
    report(pairs > 0);
  }

  gdr::Device shared_, alone_;
  gdr::Kernel kernel_;
  const unsigned rank_;
  Particles all_, targets_;
  std::size_t first_ = 0, count_ = 0, target_count_ = 0;  ///< this rank's parts
};

}  // namespace

int main(int, char** argv) {
  Program(argv[1], static_cast<std::size_t>(std::atoi(argv[2]))).run();
  return 0;
}
