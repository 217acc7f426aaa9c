// Speed of libg6, libg5 and libgpunb relative to hand-written loops on this host, in one run, the
// errors of both, and the speed of calls of the size that Hermite codes make.
#include <fmt/format.h>
#include <omp.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cmath>
#include <cstdlib>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "bench/native/native.hpp"
#include "bench/timing.hpp"
#include "bench/workload.hpp"
#include "libgdr/compat/grape/g6lib.h"
#include "libgdr/compat/grape/gp5util.h"
#include "libgdr/compat/grape/gpunb.h"

namespace {

using namespace gdr;
using namespace gdr::bench;

constexpr std::size_t large = 16384;
constexpr double eps = 1.0 / 64;
constexpr unsigned repetitions = 10;

using Row = std::array<double, 3>;
double (*rows(std::vector<Row>& v))[3] { return reinterpret_cast<double(*)[3]>(v.data()); }

/// Particles of a Plummer sphere; positions serve as velocities, as in NativeParticles.
struct Particles {
  explicit Particles(std::size_t n) : sphere(plummer_sphere(n, 1)), x(n), v(n), id(n) {
    for (std::size_t k = 0; k < n; ++k) {
      for (std::size_t c = 0; c < 3; ++c) x[k][c] = sphere.position[3 * k + c];
      v[k] = {x[k][1], x[k][2], x[k][0]};
      id[k] = static_cast<int>(k);
    }
  }
  std::size_t size() const { return id.size(); }

  Sphere sphere;
  std::vector<Row> x, v;
  std::vector<int> id;
};

/// Calls of libg6 for the first targets. Each call has a new time, so that all particles are
/// predicted and sent, as in a Hermite code; the times are so close that the particles stay in
/// place.
class Hermite {
 public:
  Hermite(int id, Particles& particles, std::size_t targets, bool nearest)
      : id_(id),
        p_(particles),
        n_(static_cast<int>(targets)),
        acc_(targets),
        jerk_(targets),
        pot_(targets),
        nearest_(nearest ? targets : 0) {
    Row zero{};
    for (std::size_t k = 0; k < p_.size(); ++k)
      g6_set_j_particle(id_, static_cast<int>(k), p_.id[k], 0, 1, p_.sphere.mass[k], zero.data(),
                        zero.data(), zero.data(), p_.v[k].data(), p_.x[k].data());
  }

  void call() {
    const int nj = static_cast<int>(p_.size());
    g6_set_ti(id_, time_ += 1e-12);
    g6calc_firsthalf(id_, nj, n_, p_.id.data(), rows(p_.x), rows(p_.v), nullptr, nullptr, nullptr,
                     eps * eps, h2_);
    const int status = g6calc_lasthalf2(id_, nj, n_, p_.id.data(), rows(p_.x), rows(p_.v),
                                        eps * eps, h2_, rows(acc_), rows(jerk_), pot_.data(),
                                        nearest_.empty() ? nullptr : nearest_.data());
    if (status != 0) std::exit(1);
  }
  void set_radii(double* h2) { h2_ = h2; }
  double pairs() const { return static_cast<double>(p_.size()) * n_; }
  const std::vector<Row>& acc() const { return acc_; }
  const std::vector<Row>& jerk() const { return jerk_; }
  const std::vector<double>& pot() const { return pot_; }

 private:
  int id_;
  Particles& p_;
  int n_;
  double* h2_ = nullptr;
  double time_ = 0;
  std::vector<Row> acc_, jerk_;
  std::vector<double> pot_;
  std::vector<int> nearest_;
};

/// Calls of libg6 with spheres of so many neighbours in the mean, a half to one and a half times as
/// many for each target. The client may read the lists.
class Neighbours {
 public:
  Neighbours(int id, Particles& particles, std::size_t targets, std::size_t mean, bool nearest,
             bool reads_lists)
      : id_(id),
        p_(particles),
        reads_lists_(reads_lists),
        forces_(id, particles, targets, nearest),
        list_(particles.size()) {
    std::vector<double> d2(p_.size());
    for (std::size_t i = 0; i < targets; ++i) {
      for (std::size_t j = 0; j < p_.size(); ++j) {
        d2[j] = 0;
        for (std::size_t c = 0; c < 3; ++c)
          d2[j] += (p_.x[j][c] - p_.x[i][c]) * (p_.x[j][c] - p_.x[i][c]);
      }
      // The first is the target itself.
      const auto last = static_cast<std::ptrdiff_t>(1 + mean / 2 + i % (mean + 1));
      std::nth_element(d2.begin(), d2.begin() + last, d2.end());
      h2_.push_back(d2[static_cast<std::size_t>(last)]);
    }
    forces_.set_radii(h2_.data());
  }

  void call() {
    forces_.call();
    if (!reads_lists_) return;
    g6_read_neighbour_list(id_);
    for (std::size_t i = 0; i < h2_.size(); ++i) {
      int n = 0;
      if (g6_get_neighbour_list(id_, static_cast<int>(i), static_cast<int>(list_.size()), &n,
                                list_.data()) != 0)
        std::exit(1);
      found_ += n;
    }
    lists_ += static_cast<double>(h2_.size());
  }
  double mean() const { return found_ / lists_; }

 private:
  int id_;
  Particles& p_;
  bool reads_lists_;
  Hermite forces_;
  std::vector<double> h2_;
  std::vector<int> list_;
  double found_ = 0, lists_ = 0;
};

/// Keeps a core busy while it lives.
class BusyCore {
 public:
  BusyCore()
      : thread_([this] {
          volatile double x = 1;
          while (!done_) x = x * 1.0000001;
        }) {}
  ~BusyCore() {
    done_ = true;
    thread_.join();
  }
  BusyCore(const BusyCore&) = delete;
  BusyCore& operator=(const BusyCore&) = delete;

 private:
  std::atomic<bool> done_ = false;
  std::thread thread_;
};

/// Calls of libg5 for all particles.
class Softened {
 public:
  Softened(int id, Particles& particles)
      : id_(id), p_(particles), acc_(p_.size()), pot_(p_.size()) {
    g5_set_eps_to_allMC(id_, eps);
    g5_set_nMC(id_, static_cast<int>(p_.size()));
    g5_set_xmjMC(id_, 0, static_cast<int>(p_.size()), rows(p_.x), p_.sphere.mass.data());
  }
  void call() {
    g5_calculate_force_on_xMC(id_, rows(p_.x), rows(acc_), pot_.data(),
                              static_cast<int>(p_.size()));
  }
  const std::vector<Row>& acc() const { return acc_; }
  const std::vector<double>& pot() const { return pot_; }

 private:
  int id_;
  Particles& p_;
  std::vector<Row> acc_;
  std::vector<double> pot_;
};

/// Calls of libgpunb for all particles; neighbours are those within 0.1, now or soon.
class Regular {
 public:
  explicit Regular(Particles& particles)
      : p_(particles),
        h2_(p_.size(), 0.01),
        dt_(p_.size(), 0.01),
        acc_(p_.size()),
        jerk_(p_.size()),
        pot_(p_.size()),
        list_(p_.size() * row_length) {
    send();
  }
  void send() {
    int n = static_cast<int>(p_.size());
    gpunb_send_(&n, p_.sphere.mass.data(), rows(p_.x), rows(p_.v));
  }
  void call() { call(p_.size()); }
  void call(std::size_t targets) {
    int n = static_cast<int>(targets), length = row_length, most = row_length - 1;
    const int status = gpunb_regf_(&n, h2_.data(), dt_.data(), rows(p_.x), rows(p_.v), rows(acc_),
                                   rows(jerk_), pot_.data(), &length, &most, list_.data());
    if (status != 0) std::exit(1);
  }
  double mean_neighbours() const {
    double sum = 0;
    for (std::size_t i = 0; i < p_.size(); ++i) sum += list_[i * row_length];
    return sum / static_cast<double>(p_.size());
  }

 private:
  static constexpr int row_length = 500;
  Particles& p_;
  std::vector<double> h2_, dt_;
  std::vector<Row> acc_, jerk_;
  std::vector<double> pot_;
  std::vector<int> list_;
};

/// The ratio of a call to the fastest native loop over the same particles.
template <typename Loops, typename Native, typename Call>
Comparison beside_loops(const Loops& loops, Native& native, unsigned threads, const Call& call) {
  const TimedWork ours(call);
  Comparison worst;
  for (const auto& loop : existing(loops)) {
    const TimedWork theirs([&] { run_native(loop.loop, native, eps * eps, threads); });
    const Comparison c = compare(ours, theirs, repetitions);
    if (worst.ratio == 0 || c.ratio < worst.ratio) worst = c;
  }
  return worst;
}

/// The root of the mean square of relative errors of vectors, or of numbers.
double rms_error(const std::vector<Row>& got, const std::vector<Row>& right) {
  double sum = 0;
  for (std::size_t k = 0; k < right.size(); ++k) {
    double error = 0, size = 0;
    for (std::size_t c = 0; c < 3; ++c) {
      error += (got[k][c] - right[k][c]) * (got[k][c] - right[k][c]);
      size += right[k][c] * right[k][c];
    }
    sum += error / size;
  }
  return std::sqrt(sum / static_cast<double>(right.size()));
}
double rms_error(const std::vector<double>& got, const std::vector<double>& right) {
  double sum = 0;
  for (std::size_t k = 0; k < right.size(); ++k)
    sum += (got[k] / right[k] - 1) * (got[k] / right[k] - 1);
  return std::sqrt(sum / static_cast<double>(right.size()));
}
/// Rows of three arrays of a native loop.
template <typename Real>
std::vector<Row> rows_of(const std::array<std::vector<Real>, 7>& sum, std::size_t first,
                         std::size_t n) {
  std::vector<Row> made(n);
  for (std::size_t k = 0; k < n; ++k)
    for (std::size_t c = 0; c < 3; ++c) made[k][c] = sum[first + c][k];
  return made;
}

void print(const std::string& what, const Comparison& c, double pairs, double required) {
  fmt::print("  {:58} {:.3f} of the loop's rate (required {}), {:.3g} pairs/s\n", what, c.ratio,
             required, pairs / c.seconds);
}

/// The time of calls whose lists are read, relative to that of the same calls without.
void print_lists(Particles& few, Particles& many) {
  constexpr struct {
    std::size_t targets;
    bool many;
    std::size_t mean;
    bool nearest;
  } cases[] = {{48, false, 10, false}, {48, false, 100, false}, {48, true, 10, false},
               {48, true, 100, false}, {1024, true, 10, false}, {1024, true, 100, false},
               {1024, true, 10, true}, {1024, true, 100, true}};
  int id = 100;
  for (const auto& c : cases) {
    Particles& p = c.many ? many : few;
    Neighbours with(id++, p, c.targets, c.mean, c.nearest, true);
    Neighbours without(id++, p, c.targets, c.mean, c.nearest, false);
    for (int k = 0; k < 3; ++k) with.call();
    without.call();
    const Comparison times =
        compare(TimedWork([&] { without.call(); }), TimedWork([&] { with.call(); }), repetitions);
    fmt::print("  {:58} {:.3f} of the time without (required 1.15), {:.1f} us without\n",
               fmt::format("libg6, {} x {}{}, lists of {:.0f}", c.targets, p.size(),
                           c.nearest ? ", with the nearest" : "", with.mean()),
               times.ratio, times.seconds * 1e6);
  }
}

/// Regular forces: beside loops without neighbours, and times of blocks with sources sent anew, as
/// NBODY6 calls them.
void print_regular(Particles& many, Particles& few, NativeParticles<double>& doubles,
                   unsigned threads) {
  const double all = static_cast<double>(many.size()) * static_cast<double>(many.size());
  const LoopSet& loops = native_loops(host_isas().front());
  Regular regular(many);
  const Comparison without_neighbours =
      beside_loops(loops.jerk, doubles, threads, [&] { regular.call(); });
  print(fmt::format("libgpunb, 16384 x 16384, {:.0f} neighbours", regular.mean_neighbours()),
        without_neighbours, all, 0);
  Regular blocks(few);
  for (const std::size_t n : {1U, 16U, 256U}) {
    const TimedWork block([&] {
      blocks.send();
      blocks.call(n);
    });
    fmt::print("  {:58} {:.1f} us\n", fmt::format("libgpunb, {} x 1024, sources sent anew", n),
               compare(block, block, repetitions).seconds * 1e6);
  }
}

}  // namespace

int main(int count, char** words) {
  const bool lists_alone = count > 1 && std::string(words[1]) == "lists";
  const bool regular_alone = count > 1 && std::string(words[1]) == "gpunb";
  const auto threads = static_cast<unsigned>(omp_get_max_threads());
  const Isa isa = host_isas().front();
  fmt::print("libg6, libg5 and libgpunb beside native loops, {} threads, {}\n", threads,
             isa_name(isa));
  Particles many(large), few(1024);
  if (lists_alone) {
    setenv("GDR_DEVICE", "emulator:engine=native", 1);
    print_lists(few, many);
    return 0;
  }
  const LoopSet& loops = native_loops(isa);
  const double all = static_cast<double>(large) * large;
  NativeParticles<double> doubles(large, many.sphere.position.data(), many.sphere.mass.data());
  NativeParticles<float> in_float(large, many.sphere.position.data(), many.sphere.mass.data());
  MixedParticles in_mixed(large, many.sphere.position.data(), many.sphere.mass.data());
  setenv("GDR_DEVICE", "emulator:engine=native", 1);
  if (regular_alone) {
    print_regular(many, few, doubles, threads);
    return 0;
  }
  Hermite full(1, many, large, false), nearest(2, many, large, true);
  const Comparison rate = beside_loops(loops.jerk, doubles, threads, [&] { full.call(); });
  print("libg6, double, 16384 x 16384", rate, all, 0.9);
  print("libg6, double, 16384 x 16384, with the nearest",
        beside_loops(loops.jerk, doubles, threads, [&] { nearest.call(); }), all, 0);
  Softened softened(1, many);
  print("libg5, double, 16384 x 16384",
        beside_loops(loops.gravity, doubles, threads, [&] { softened.call(); }), all, 0.9);
  const auto gaussian = [](double r) { return std::exp(-r * r); };
  Softened with_cutoff(4, many);
  g5_set_etaMC(4, 0.5);
  g5_set_cutoff_tableMC(4, gaussian, 3, 1, gaussian, 3, 1);
  const Comparison cutoff =
      compare(TimedWork([&] { with_cutoff.call(); }), TimedWork([&] { softened.call(); }), 1);
  fmt::print("  {:58} {:.1f} times the time without\n",
             "libg5, 16384 x 16384, with a cut-off on the host", 1 / cutoff.ratio);
  print_regular(many, few, doubles, threads);

  setenv("GDR_DEVICE", "emulator:engine=native-mixed", 1);
  Hermite mixed(7, many, large, false);
  print("libg6, mixed precision, 16384 x 16384",
        beside_loops(loops.jerk_mixed, in_mixed, threads, [&] { mixed.call(); }), all, 0.8);
  fmt::print(
      "    rms errors: acceleration {:.1e}, derivative {:.1e}, potential {:.1e}; loop {:.1e}, "
      "{:.1e}\n",
      rms_error(mixed.acc(), full.acc()), rms_error(mixed.jerk(), full.jerk()),
      rms_error(mixed.pot(), full.pot()), rms_error(rows_of(in_mixed.sum, 0, large), full.acc()),
      rms_error(rows_of(in_mixed.sum, 3, large), full.jerk()));
  const struct {
    const char *engine, *what;
    NamedLoop<float> loop[1];
    int id;
  } modes[] = {{"native-float", "libg5, float, 16384 x 16384", {loops.gravity_float}, 2},
               {"native-fast", "libg5, float without refinement", {loops.gravity_fast}, 3}};
  for (const auto& mode : modes) {
    setenv("GDR_DEVICE", (std::string("emulator:engine=") + mode.engine).c_str(), 1);
    Softened floats(mode.id, many);
    print(mode.what, beside_loops(mode.loop, in_float, threads, [&] { floats.call(); }), all, 0.9);
    fmt::print("    rms errors: acceleration {:.1e}, potential {:.1e}; loop {:.1e}\n",
               rms_error(floats.acc(), softened.acc()), rms_error(floats.pot(), softened.pot()),
               rms_error(rows_of(in_float.sum, 0, large), softened.acc()));
  }

  setenv("GDR_DEVICE", "emulator:engine=native", 1);
  for (const bool with_nearest : {false, true}) {
    Hermite small(with_nearest ? 4 : 3, few, 48, with_nearest);
    Hermite& whole = with_nearest ? nearest : full;
    const Comparison c =
        compare(TimedWork([&] { small.call(); }), TimedWork([&] { whole.call(); }), repetitions);
    const double small_rate = small.pairs() / c.seconds;
    const double whole_rate = whole.pairs() / (c.seconds * c.ratio);
    fmt::print("  {:58} {:.3f} of the rate at 16384 x 16384 (required 0.5), {:.1f} us a call\n",
               with_nearest ? "libg6, 48 x 1024, with the nearest" : "libg6, 48 x 1024",
               small_rate / whole_rate, c.seconds * 1e6);
  }
  setenv("GDR_DEVICE", "emulator:engine=native,threads=1", 1);
  Hermite one(5, few, 48, false);
  one.call();  // opens the device
  setenv("GDR_DEVICE", "emulator:engine=native,threads=2", 1);
  Hermite two(6, few, 48, false);
  two.call();
  const auto two_of_one = [&] {
    return compare(TimedWork([&] { two.call(); }), TimedWork([&] { one.call(); }), repetitions)
        .ratio;
  };
  fmt::print("  {:58} {:.3f} times as fast\n", "libg6, 48 x 1024, two threads of one",
             two_of_one());
  const BusyCore busy;
  fmt::print("  {:58} {:.3f} times as fast (required 1)\n",
             "libg6, 48 x 1024, two threads of one, beside a busy core", two_of_one());
}
