// libg5: the GRAPE-5 library interface.
#pragma GCC visibility push(default)
#include "libgdr/compat/grape/gp5util.h"
#pragma GCC visibility pop

#include <algorithm>
#include <array>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "gdr/error.hpp"
#include "libgdr/compat/grape/calls.hpp"
#include "libgdr/compat/grape/cutoff.hpp"

namespace gdr::compat::grape {
namespace {

constexpr std::ptrdiff_t row = 3 * sizeof(double);
using Row = double[3];
/// Number of addresses of j-particles.
constexpr std::size_t most_particles = std::size_t{1} << 26;

/// gravity_softened without the softening of j-particles, which most clients do not set: one sum
/// and one word of each j-particle less.
constexpr const char* target_softened_text =
    "VARI xi, yi, zi, e2i; VARJ xj, yj, zj, mj; VARF ax, ay, az, pot;\n"
    "dx = xj - xi; dy = yj - yi; dz = zj - zi;\n"
    "r2 = dx*dx + e2i + dy*dy + dz*dz;\n"
    "skip if (r2 == 0);\n"
    "rinv = rsqrt(r2); mr = mj*rinv; f = mr*rinv*rinv;\n"
    "ax += f*dx; ay += f*dy; az += f*dz; pot += mr;\n";

/// The kernel of a device. Texts need a search for a schedule where programs need one; among floats
/// long precision has no meaning.
Kernel kernel_for(const Device& device, bool softened_sources) {
  const bool floats = computes_in_floats(device);
  if (softened_sources || device.needs_schedule())
    return Kernel::builtin(floats ? "gravity_softened" : "gravity_softened_long");
  return Kernel::compile(std::string(floats ? "" : "precision long;\n") + target_softened_text,
                         "gravity_target_softened");
}

/// What the next run has to send.
struct Range {
  std::size_t first = 0, end = 0;
  void add(std::size_t from, std::size_t to) {
    first = first == end ? from : std::min(first, from);
    end = std::max(end, to);
  }
};

class Board {
 public:
  void set_softening(double eps2) {
    if (!(eps2 >= 0)) throw Error(ErrorCategory::Usage, "the softening is " + std::to_string(eps2));
    eps2_ = eps2;
    target_eps2_.clear();
  }
  /// Softening of each of the next i-particles.
  void set_softening(int ni, const double* eps, bool squared) {
    const std::size_t n = checked(ni, "i-particles", eps);
    target_eps2_.resize(n);
    for (std::size_t i = 0; i < n; ++i) target_eps2_[i] = squared ? eps[i] : eps[i] * eps[i];
  }

  void set_number(int nj) { used_ = checked_count(nj, "j-particles"); }

  /// Sets j-particles from an address on; null: unchanged.
  void set_sources(int address, int nj, const Row* x, const double* mass, const double* eps2,
                   bool clears_eps2) {
    const std::size_t n = checked_count(nj, "j-particles");
    if (address < 0 ||
        n > most_particles - std::min(static_cast<std::size_t>(address), most_particles))
      throw Error(ErrorCategory::Usage,
                  "addresses " + std::to_string(address) + " to " +
                      std::to_string(static_cast<std::int64_t>(address) + nj - 1) +
                      " are not all of 0 to " + std::to_string(most_particles - 1));
    const auto first = static_cast<std::size_t>(address);
    if (first + n > x_.size()) {
      // The size of x_ is the number of particles: it grows last, in case memory is short.
      mass_.resize(first + n);
      source_eps2_.resize(first + n);
      x_.resize(first + n);
    }
    for (std::size_t j = 0; j < n; ++j) {
      if (x != nullptr) std::ranges::copy(x[j], x_[first + j].begin());
      if (mass != nullptr) mass_[first + j] = mass[j];
      if (eps2 != nullptr || clears_eps2) source_eps2_[first + j] = eps2 != nullptr ? eps2[j] : 0;
    }
    changed_.add(first, first + n);
  }

  /// Sets the i-particles. Null eps: that of set_softening.
  void set_targets(int ni, const Row* x, const double* eps, bool squared) {
    const std::size_t n = checked(ni, "i-particles", x);
    if (eps != nullptr) {
      own_eps2_.resize(n);
      for (std::size_t i = 0; i < n; ++i) own_eps2_[i] = squared ? eps[i] : eps[i] * eps[i];
    } else {
      own_eps2_.assign(n, eps2_);
      std::copy_n(target_eps2_.begin(), std::min(n, target_eps2_.size()), own_eps2_.begin());
    }
    targets_.resize(n);
    for (std::size_t i = 0; i < n; ++i) std::ranges::copy(x[i], targets_[i].begin());
  }

  void run() {
    if (used_ > x_.size())
      throw Error(ErrorCategory::Usage, std::to_string(used_) + " j-particles are used, but only " +
                                            std::to_string(x_.size()) + " were set");
    const std::size_t n = targets_.size();
    acc_.assign(std::max<std::size_t>(n, 1), {});
    pot_.assign(std::max<std::size_t>(n, 1), 0);
    if (n == 0 || used_ == 0) return;
    if (cutoff_) return run_on_host();
    send_sources();
    const double* const x = targets_.data()->data();
    job_->targets(
        n,
        {{"xi", {x, row}}, {"yi", {x + 1, row}}, {"zi", {x + 2, row}}, {"e2i", own_eps2_.data()}});
    double* const a = acc_.data()->data();
    job_->run({{"ax", {a, row}}, {"ay", {a + 1, row}}, {"az", {a + 2, row}}, {"pot", pot_.data()}});
  }

  void get(int ni, Row* acc, double* pot) const {
    const std::size_t n = checked_count(ni, "i-particles");
    if (n > acc_.size() || (n > 0 && (acc == nullptr || pot == nullptr)))
      throw Error(ErrorCategory::Usage,
                  n > acc_.size()
                      ? "results of " + std::to_string(n) +
                            " i-particles are wanted, but there are " + std::to_string(acc_.size())
                      : std::string("an array for results is a null pointer"));
    for (std::size_t i = 0; i < n; ++i) std::ranges::copy(acc_[i], acc[i]);
    std::copy_n(pot_.begin(), n, pot);
  }

  void set_eta(double eta) { eta_ = eta; }
  void set_cutoff(double (*f)(double), double fcut, double fcor, double (*p)(double), double pcut,
                  double pcor) {
    cutoff_.reset();
    if (f == nullptr) return;
    if (p == nullptr) throw Error(ErrorCategory::Usage, "pfunc is a null pointer");
    cutoff_ = Cutoff{Tabulated([=](double r) { return fcor * f(r); }, fcut),
                     Tabulated([=](double r) { return pcor * p(r); }, pcut)};
  }

 private:
  static std::size_t checked(int count, const char* what, const void* array) {
    const std::size_t n = checked_count(count, what);
    if (n > 0 && array == nullptr)
      throw Error(ErrorCategory::Usage,
                  "an array for " + std::to_string(n) + " " + what + " is a null pointer");
    return n;
  }

  void send_sources() {
    const bool softened =
        std::any_of(source_eps2_.begin(), source_eps2_.begin() + static_cast<std::ptrdiff_t>(used_),
                    [](double eps2) { return eps2 != 0; });
    if (!device_) device_ = open_device();
    if (!job_ || softened != sources_are_softened_) {
      job_.reset();
      job_.emplace(device_->job(kernel_for(*device_, softened)));
      sources_are_softened_ = softened;
      takes_source_eps2_ = softened || device_->needs_schedule();
    }
    const bool all = job_->source_count() != used_;
    const std::size_t first = all ? 0 : changed_.first;
    const std::size_t end = all ? used_ : std::min(used_, changed_.end);
    if (end > first) {
      const double* const x = x_[first].data();
      std::vector<NamedInput> arrays{{"xj", {x, row}},
                                     {"yj", {x + 1, row}},
                                     {"zj", {x + 2, row}},
                                     {"mj", mass_.data() + first}};
      if (takes_source_eps2_) arrays.push_back({"e2j", source_eps2_.data() + first});
      if (all)
        job_->sources(used_, arrays);
      else
        job_->update_sources(first, end - first, arrays);
    }
    // Those beyond the used ones are sent with all others when they are used.
    changed_ = {};
  }

  void run_on_host() {
    if (!(eta_ > 0))
      throw Error(ErrorCategory::Usage, "eta is " + std::to_string(eta_) +
                                            "; a cut-off needs a positive one (g5_set_eta)");
    const CutoffParticles sources{{reinterpret_cast<const Row*>(x_.data()), used_},
                                  {mass_.data(), used_},
                                  {source_eps2_.data(), used_}};
    const auto n = static_cast<std::ptrdiff_t>(targets_.size());
#pragma omp parallel for schedule(static) if (static_cast <std::size_t>(n) * used_ > 20000)
    for (std::ptrdiff_t i = 0; i < n; ++i) {
      const auto k = static_cast<std::size_t>(i);
      add_with_cutoff(*cutoff_, eta_, sources, targets_[k].data(), own_eps2_[k], acc_[k].data(),
                      pot_[k]);
    }
  }

  std::shared_ptr<Device> device_;
  std::optional<Job> job_;
  bool sources_are_softened_ = false;  ///< of the job
  bool takes_source_eps2_ = false;     ///< whether its kernel has softening of j-particles
  double eps2_ = 0, eta_ = 0;
  std::optional<Cutoff> cutoff_;
  std::vector<std::array<double, 3>> x_, targets_, acc_;
  std::vector<double> mass_, source_eps2_, target_eps2_, own_eps2_, pot_;
  std::size_t used_ = 0;
  Range changed_;
};

States<Board>& boards() {
  static States<Board>& all = *new States<Board>;  // still there when the process ends
  return all;
}

template <typename Work>
void on_board(const char* function, int id, const Work& work) {
  guarded(function, 0, [&] {
    return boards().with(id, [&](Board& board) {
      work(board);
      return 0;
    });
  });
}

int pipes() {
  return guarded("g5_get_number_of_pipelines", 96,
                 [] { return environment_number("GDR_G5_PIPES", 96, 1, 1 << 20); });
}

}  // namespace
}  // namespace gdr::compat::grape

// The functions, for any device.
namespace gdr::compat::grape::g5 {
namespace {

void open(int id) {
  on_board("g5_open", id, [](Board&) {});
}
void close(int id) { boards().close(id); }
int get_number_of_pipelines(int) { return pipes(); }
int get_number_of_real_pipelines(int) { return pipes(); }
int get_number_of_pipelines_per_board(int) { return pipes(); }
int get_number_of_boards(int) { return 1; }
int get_firstcluster(int) { return 0; }
int get_jmemsize(int) { return JMEMSIZE; }
void set_range(int, double, double, double) {}
void set_eps_to_all(int id, double eps) {
  on_board("g5_set_eps_to_all", id, [=](Board& b) { b.set_softening(eps * eps); });
}
void set_eps2_to_all(int id, double eps2) {
  on_board("g5_set_eps2_to_all", id, [=](Board& b) { b.set_softening(eps2); });
}
void set_eps(int id, int ni, double* eps) {
  on_board("g5_set_eps", id, [=](Board& b) { b.set_softening(ni, eps, false); });
}
void set_eps2(int id, int ni, double* eps2) {
  on_board("g5_set_eps2", id, [=](Board& b) { b.set_softening(ni, eps2, true); });
}
void set_n(int id, int nj) {
  on_board("g5_set_n", id, [=](Board& b) { b.set_number(nj); });
}
void set_xmj(int id, int address, int nj, double (*x)[3], double* m) {
  on_board("g5_set_xmj", id, [=](Board& b) { b.set_sources(address, nj, x, m, nullptr, true); });
}
void set_jp(int id, int address, int nj, double* m, double (*x)[3]) {
  on_board("g5_set_jp", id, [=](Board& b) { b.set_sources(address, nj, x, m, nullptr, true); });
}
void set_xj(int id, int address, int nj, double (*x)[3]) {
  on_board("g5_set_xj", id,
           [=](Board& b) { b.set_sources(address, nj, x, nullptr, nullptr, false); });
}
void set_mj(int id, int address, int nj, double* m) {
  on_board("g5_set_mj", id,
           [=](Board& b) { b.set_sources(address, nj, nullptr, m, nullptr, false); });
}
void set_xmeps2j(int id, int address, int nj, double (*x)[3], double* m, double* eps2) {
  on_board("g5_set_xmeps2j", id, [=](Board& b) { b.set_sources(address, nj, x, m, eps2, true); });
}
void set_xi(int id, int ni, double (*x)[3]) {
  on_board("g5_set_xi", id, [=](Board& b) { b.set_targets(ni, x, nullptr, false); });
}
void set_xei(int id, int ni, double (*x)[3], double* eps2) {
  on_board("g5_set_xei", id, [=](Board& b) { b.set_targets(ni, x, eps2, true); });
}
void set_xepsi(int id, int ni, double (*x)[3], double* eps) {
  on_board("g5_set_xepsi", id, [=](Board& b) { b.set_targets(ni, x, eps, false); });
}
void set_ip(int id, int ni, double (*x)[3], double* eps, double* /*h*/) {
  on_board("g5_set_ip", id, [=](Board& b) { b.set_targets(ni, x, eps, false); });
}
void run(int id) {
  on_board("g5_run", id, [](Board& b) { b.run(); });
}
void get_force(int id, int ni, double (*a)[3], double* p) {
  on_board("g5_get_force", id, [=](Board& b) { b.get(ni, a, p); });
}
void calculate_force_on_x(int id, double (*x)[3], double (*a)[3], double* p, int ni) {
  on_board("g5_calculate_force_on_x", id, [=](Board& b) {
    b.set_targets(ni, x, nullptr, false);
    b.run();
    b.get(ni, a, p);
  });
}
void calculate_force_on_xe(int id, double (*x)[3], double* eps2, double (*a)[3], double* p,
                           int ni) {
  on_board("g5_calculate_force_on_xe", id, [=](Board& b) {
    b.set_targets(ni, x, eps2, true);
    b.run();
    b.get(ni, a, p);
  });
}
void set_eta(int id, double eta) {
  on_board("g5_set_eta", id, [=](Board& b) { b.set_eta(eta); });
}
void set_cutoff_table(int id, double (*f)(double), double fcut, double fcor, double (*p)(double),
                      double pcut, double pcor) {
  on_board("g5_set_cutoff_table", id,
           [=](Board& b) { b.set_cutoff(f, fcut, fcor, p, pcut, pcor); });
}

}  // namespace
}  // namespace gdr::compat::grape::g5

namespace g5 = gdr::compat::grape::g5;

// The four forms of a function: for device 0 and for any, both also for Fortran. The C forms are
// weak: clients may define them.
#define GDR_WEAK __attribute__((weak))
#define UNPACK(...) __VA_ARGS__
#define WITHOUT_ARGUMENTS(type, name)                          \
  GDR_WEAK type g5_##name(void) { return g5::name(0); }        \
  GDR_WEAK type g5_##name##MC(int id) { return g5::name(id); } \
  type g5_##name##_(void) { return g5::name(0); }              \
  type g5_##name##MC_(int* id) { return g5::name(*id); }
/// `arguments` of the C forms are passed as `values`, those of the Fortran forms, `references`, as
/// `referred`.
#define WITH_ARGUMENTS(type, name, arguments, values, references, referred)                     \
  GDR_WEAK type g5_##name(UNPACK arguments) { return g5::name(0, UNPACK values); }              \
  GDR_WEAK type g5_##name##MC(int id, UNPACK arguments) { return g5::name(id, UNPACK values); } \
  type g5_##name##_(UNPACK references) { return g5::name(0, UNPACK referred); }                 \
  type g5_##name##MC_(int* id, UNPACK references) { return g5::name(*id, UNPACK referred); }

extern "C" {
WITHOUT_ARGUMENTS(void, open)
WITHOUT_ARGUMENTS(void, close)
WITHOUT_ARGUMENTS(int, get_number_of_pipelines)
WITHOUT_ARGUMENTS(int, get_number_of_real_pipelines)
WITHOUT_ARGUMENTS(int, get_number_of_pipelines_per_board)
WITHOUT_ARGUMENTS(int, get_number_of_boards)
WITHOUT_ARGUMENTS(int, get_firstcluster)
WITHOUT_ARGUMENTS(int, get_jmemsize)
WITHOUT_ARGUMENTS(void, run)
WITH_ARGUMENTS(void, set_range, (double xmin, double xmax, double mmin), (xmin, xmax, mmin),
               (double* xmin, double* xmax, double* mmin), (*xmin, *xmax, *mmin))
WITH_ARGUMENTS(void, set_eps_to_all, (double eps), (eps), (double* eps), (*eps))
WITH_ARGUMENTS(void, set_eps2_to_all, (double eps2), (eps2), (double* eps2), (*eps2))
WITH_ARGUMENTS(void, set_eps, (int ni, double* eps), (ni, eps), (int* ni, double* eps), (*ni, eps))
WITH_ARGUMENTS(void, set_eps2, (int ni, double* eps2), (ni, eps2), (int* ni, double* eps2),
               (*ni, eps2))
WITH_ARGUMENTS(void, set_n, (int nj), (nj), (int* nj), (*nj))
WITH_ARGUMENTS(void, set_xmj, (int address, int nj, double (*x)[3], double* m), (address, nj, x, m),
               (int* address, int* nj, double (*x)[3], double* m), (*address, *nj, x, m))
WITH_ARGUMENTS(void, set_jp, (int address, int nj, double* m, double (*x)[3]), (address, nj, m, x),
               (int* address, int* nj, double* m, double (*x)[3]), (*address, *nj, m, x))
WITH_ARGUMENTS(void, set_xj, (int address, int nj, double (*x)[3]), (address, nj, x),
               (int* address, int* nj, double (*x)[3]), (*address, *nj, x))
WITH_ARGUMENTS(void, set_mj, (int address, int nj, double* m), (address, nj, m),
               (int* address, int* nj, double* m), (*address, *nj, m))
WITH_ARGUMENTS(void, set_xmeps2j, (int address, int nj, double (*x)[3], double* m, double* eps2),
               (address, nj, x, m, eps2),
               (int* address, int* nj, double (*x)[3], double* m, double* eps2),
               (*address, *nj, x, m, eps2))
WITH_ARGUMENTS(void, set_xi, (int ni, double (*x)[3]), (ni, x), (int* ni, double (*x)[3]), (*ni, x))
WITH_ARGUMENTS(void, set_xei, (int ni, double (*x)[3], double* eps2), (ni, x, eps2),
               (int* ni, double (*x)[3], double* eps2), (*ni, x, eps2))
WITH_ARGUMENTS(void, set_xepsi, (int ni, double (*x)[3], double* eps), (ni, x, eps),
               (int* ni, double (*x)[3], double* eps), (*ni, x, eps))
WITH_ARGUMENTS(void, set_ip, (int ni, double (*x)[3], double* eps, double* h), (ni, x, eps, h),
               (int* ni, double (*x)[3], double* eps, double* h), (*ni, x, eps, h))
WITH_ARGUMENTS(void, get_force, (int ni, double (*a)[3], double* p), (ni, a, p),
               (int* ni, double (*a)[3], double* p), (*ni, a, p))
WITH_ARGUMENTS(void, calculate_force_on_x, (double (*x)[3], double (*a)[3], double* p, int ni),
               (x, a, p, ni), (double (*x)[3], double (*a)[3], double* p, int* ni), (x, a, p, *ni))
WITH_ARGUMENTS(void, calculate_force_on_xe,
               (double (*x)[3], double* eps2, double (*a)[3], double* p, int ni),
               (x, eps2, a, p, ni),
               (double (*x)[3], double* eps2, double (*a)[3], double* p, int* ni),
               (x, eps2, a, p, *ni))
WITH_ARGUMENTS(void, set_eta, (double eta), (eta), (double* eta), (*eta))
WITH_ARGUMENTS(void, set_cutoff_table,
               (double (*f)(double), double fcut, double fcor, double (*p)(double), double pcut,
                double pcor),
               (f, fcut, fcor, p, pcut, pcor),
               (double (*f)(double), double* fcut, double* fcor, double (*p)(double), double* pcut,
                double* pcor),
               (f, *fcut, *fcor, p, *pcut, *pcor))

}  // extern "C"
