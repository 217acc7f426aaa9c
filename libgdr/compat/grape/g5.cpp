// libg5: the GRAPE-5 library interface.
#pragma GCC visibility push(default)
#include "emulator/host/parallel.hpp"
#include "libgdr/compat/grape/gp5util.h"
#pragma GCC visibility pop

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <functional>
#include <initializer_list>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "gdr/error.hpp"
#include "libgdr/compat/grape/calls.hpp"
#include "libgdr/compat/grape/cutoff.hpp"

namespace gdr::compat::grape {
namespace {

constexpr std::ptrdiff_t row = 3 * sizeof(double);
using Row = double[3];

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

/// The range of sources that the next run has to send.
struct Range {
  std::size_t first = 0, end = 0;
  void add(std::size_t from, std::size_t to) {
    first = first == end ? from : std::min(first, from);
    end = std::max(end, to);
  }
};

/// The law of all devices in place of gravity, from pg5_gen_force_table; null: none.
class LawOfAll {
 public:
  std::shared_ptr<const Tabulated> get() const {
    const std::scoped_lock lock(mutex_);
    return law_;
  }
  void set(std::shared_ptr<const Tabulated> law) {
    const std::scoped_lock lock(mutex_);
    law_ = std::move(law);
  }

 private:
  mutable std::mutex mutex_;
  std::shared_ptr<const Tabulated> law_;
};
LawOfAll& law_of_all() {
  static LawOfAll& law = *new LawOfAll;  // still there when the process ends
  return law;
}

/// What a call gives for each j-particle: pointers that are null are not set, but for the
/// softening, which is then 0 if the mass is set.
struct Sources {
  const Row* x = nullptr;
  const double *mass = nullptr, *eps2 = nullptr;
};

class Board {
 public:
  void open() {
    if (!device_) device_ = open_device();
  }

  /// Softening of all i-particles, also of those that are set already.
  void set_softening(double eps2) {
    if (!is_softening(eps2))
      throw Error(ErrorCategory::Usage, "the softening is " + number_text(eps2) +
                                            " (squared); it must be finite and not negative");
    eps2_ = eps2;
    target_eps2_.clear();
    own_eps2_.reset();
  }
  /// Softening of each of the i-particles, those that are set or the next.
  void set_softening(int ni, const double* eps, bool squared) {
    target_eps2_ = softening(checked(ni, "i-particles", eps), eps, squared);
    own_eps2_.reset();
  }

  void set_number(int nj) { used_ = checked_count(nj, "j-particles"); }

  /// Sets j-particles from an address on. Changes nothing if an argument is invalid.
  void set_sources(int address, int nj, const Sources& from) {
    const std::size_t n = checked_count(nj, "j-particles");
    if (address < 0 || address > max_particles - nj)
      throw Error(ErrorCategory::Usage,
                  "addresses " + std::to_string(address) + " to " +
                      std::to_string(static_cast<std::int64_t>(address) + nj - 1) +
                      " are not all of 0 to " + std::to_string(max_particles - 1));
    for (std::size_t j = 0; from.eps2 != nullptr && j < n; ++j)
      if (!is_softening(from.eps2[j])) refuse_softening("j-particle", j, from.eps2[j]);
    const auto first = static_cast<std::size_t>(address);
    if (first + n > x_.size()) {
      // The size of x_ is the number of particles: it grows last, in case memory is short.
      mass_.resize(first + n);
      source_eps2_.resize(first + n);
      parts_.resize(first + n);
      x_.resize(first + n);
    }
    const unsigned parts =
        (from.x != nullptr ? has_position : 0U) | (from.mass != nullptr ? has_mass : 0U);
    for (std::size_t j = 0; j < n; ++j) {
      if (from.x != nullptr) std::ranges::copy(from.x[j], x_[first + j].begin());
      if (from.mass != nullptr) mass_[first + j] = from.mass[j];
      if (from.x != nullptr && from.mass != nullptr)
        source_eps2_[first + j] = from.eps2 != nullptr ? from.eps2[j] : 0;
      parts_[first + j] = static_cast<std::uint8_t>(parts_[first + j] | parts);
    }
    changed_.add(first, first + n);
  }

  /// Sets the i-particles, whose softening is that of set_softening.
  void set_targets(int ni, const Row* x) {
    set_positions(checked(ni, "i-particles", x), x);
    own_eps2_.reset();
  }
  /// Sets the i-particles with a softening of their own, until they or the softening are set again.
  /// Null eps: that of set_softening.
  void set_targets(int ni, const Row* x, const double* eps, bool squared) {
    if (eps == nullptr) return set_targets(ni, x);
    const std::size_t n = checked(ni, "i-particles", x);
    own_eps2_ = softening(n, eps, squared);
    set_positions(n, x);
  }

  void run() {
    has_results_ = false;
    require_set();
    const std::size_t n = targets_.size();
    acc_.assign(std::max<std::size_t>(n, 1), {});
    pot_.assign(std::max<std::size_t>(n, 1), 0);
    if (n > 0 && used_ > 0) {
      set_target_softening();
      if (const auto law = law_of_all().get())
        run_by_law(*law);
      else
        cutoff_ ? run_on_host() : run_on_device();
      require_finite_results(acc_.data()->data(), n, 3, "acceleration");
      require_finite_results(pot_.data(), n, 1, "potential");
    }
    has_results_ = true;
  }

  void get(int ni, Row* acc, double* pot) const {
    const std::size_t n = checked_count(ni, "i-particles");
    if (n == 0) return;
    if (!has_results_)
      throw Error(ErrorCategory::Usage,
                  "there are no results for these i-particles: after they were set, there was no "
                  "g5_run, or it failed");
    if (n > targets_.size())
      throw Error(ErrorCategory::Usage, "results of " + std::to_string(n) +
                                            " i-particles are wanted, but there are " +
                                            std::to_string(targets_.size()));
    if (acc == nullptr || pot == nullptr)
      throw Error(ErrorCategory::Usage, "an array for results is a null pointer");
    for (std::size_t i = 0; i < n; ++i) std::ranges::copy(acc_[i], acc[i]);
    std::copy_n(pot_.begin(), n, pot);
  }

  void set_eta(double eta) {
    eta_ = eta;
    if (!std::isfinite(eta))
      throw Error(ErrorCategory::Usage, "eta is " + number_text(eta) + "; it must be finite");
  }

  /// A factor of force or potential: `factor` times the function of R, 0 from `end` on.
  struct Factor {
    std::function<double(double)> f;
    double end = 0, factor = 0;
  };
  void set_cutoff(const Factor& force, const Factor& potential) {
    if (!force.f) {
      cutoff_.reset();
      return;
    }
    if (!potential.f) throw Error(ErrorCategory::Usage, "pfunc is a null pointer");
    // The former cut-off remains if a function is refused.
    Cutoff cutoff{tabulated(force, "f"), tabulated(potential, "p")};
    cutoff_ = std::move(cutoff);
  }

 private:
  static std::size_t checked(int count, const char* what, const void* array) {
    const std::size_t n = checked_count(count, what);
    if (n > 0 && array == nullptr)
      throw Error(ErrorCategory::Usage,
                  "an array for " + std::to_string(n) + " " + what + " is a null pointer");
    return n;
  }

  static bool is_softening(double eps2) { return eps2 >= 0 && std::isfinite(eps2); }
  [[noreturn]] static void refuse_softening(const char* what, std::size_t k, double eps2) {
    throw Error(ErrorCategory::Usage, "the softening of " + std::string(what) + " " +
                                          std::to_string(k) + " is " + number_text(eps2) +
                                          " (squared); it must be finite and not negative");
  }
  static std::vector<double> softening(std::size_t n, const double* eps, bool squared) {
    std::vector<double> eps2(n);
    for (std::size_t i = 0; i < n; ++i) {
      eps2[i] = squared ? eps[i] : eps[i] * eps[i];
      if (!is_softening(eps2[i])) refuse_softening("i-particle", i, eps2[i]);
    }
    return eps2;
  }

  static Tabulated tabulated(const Factor& of, const std::string& name) {
    const auto refuse = [&](const char* argument, double value, const char* what) {
      throw Error(ErrorCategory::Usage,
                  name + argument + " is " + number_text(value) + "; it must be " + what);
    };
    if (!(of.end > 0) || !std::isfinite(of.end)) refuse("cut", of.end, "positive and finite");
    if (!std::isfinite(of.factor)) refuse("cor", of.factor, "finite");
    return {[&](double r) { return of.factor * of.f(r); }, of.end};
  }

  void set_positions(std::size_t n, const Row* x) {
    targets_.resize(n);
    for (std::size_t i = 0; i < n; ++i) std::ranges::copy(x[i], targets_[i].begin());
    has_results_ = false;
  }

  /// That of the run: the last that was set.
  void set_target_softening() {
    if (own_eps2_) {
      run_eps2_ = *own_eps2_;
      return;
    }
    run_eps2_.assign(targets_.size(), eps2_);
    std::copy_n(target_eps2_.begin(), std::min(targets_.size(), target_eps2_.size()),
                run_eps2_.begin());
  }

  void require_set() {
    constexpr unsigned all = has_position | has_mass;
    while (first_unset_ < parts_.size() && parts_[first_unset_] == all) ++first_unset_;
    if (used_ <= first_unset_) return;
    const std::string number = std::to_string(used_) + " j-particles are used, but ";
    if (first_unset_ >= x_.size())
      throw Error(ErrorCategory::Usage, number + "only " + std::to_string(x_.size()) + " were set");
    const unsigned parts = parts_[first_unset_];
    const char* const what = parts == 0 ? "that" : parts == has_mass ? "the position" : "the mass";
    throw Error(ErrorCategory::Usage,
                number + what + " of address " + std::to_string(first_unset_) + " was never set");
  }

  void run_on_device() {
    send_sources();
    const double* const x = targets_.data()->data();
    job_->targets(
        targets_.size(),
        {{"xi", {x, row}}, {"yi", {x + 1, row}}, {"zi", {x + 2, row}}, {"e2i", run_eps2_.data()}});
    double* const a = acc_.data()->data();
    job_->run({{"ax", {a, row}}, {"ay", {a + 1, row}}, {"az", {a + 2, row}}, {"pot", pot_.data()}});
  }

  void send_sources() {
    const bool softened =
        std::any_of(source_eps2_.begin(), source_eps2_.begin() + static_cast<std::ptrdiff_t>(used_),
                    [](double eps2) { return eps2 != 0; });
    open();
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
    if (!(eta_ > 0 && std::isfinite(eta_)))
      throw Error(ErrorCategory::Usage,
                  "eta is " + number_text(eta_) +
                      "; a cut-off needs one that is positive and finite (g5_set_eta)");
    const CutoffParticles sources = checked_sources();
    for_each_target([&](std::size_t k) {
      add_with_cutoff(*cutoff_, eta_, sources, targets_[k].data(), run_eps2_[k], acc_[k].data(),
                      pot_[k]);
    });
  }

  /// Potentials are 0.
  void run_by_law(const Tabulated& law) {
    const CutoffParticles sources = checked_sources();
    for_each_target(
        [&](std::size_t k) { add_by_law(law, sources, targets_[k].data(), acc_[k].data()); });
  }

  CutoffParticles checked_sources() const {
    for (std::size_t c = 0; c < 3; ++c) {
      static constexpr const char* sources[] = {"xj", "yj", "zj"};
      static constexpr const char* targets[] = {"xi", "yi", "zi"};
      require_finite_input(x_.data()->data() + c, used_, 3, sources[c]);
      require_finite_input(targets_.data()->data() + c, targets_.size(), 3, targets[c]);
    }
    require_finite_input(mass_.data(), used_, 1, "mj");
    return {{reinterpret_cast<const Row*>(x_.data()), used_},
            {mass_.data(), used_},
            {source_eps2_.data(), used_}};
  }

  template <typename Work>
  void for_each_target(const Work& work) {
    parallel_items(targets_.size(), targets_.size() * used_ > 20000 ? 0 : 1, work);
  }

  std::shared_ptr<Device> device_;
  std::optional<Job> job_;
  bool sources_are_softened_ = false;  ///< whether the job's sources are softened
  bool takes_source_eps2_ = false;     ///< whether its kernel has softening of j-particles
  double eps2_ = 0, eta_ = 0;
  std::optional<Cutoff> cutoff_;
  std::vector<std::array<double, 3>> x_, targets_, acc_;
  std::vector<double> mass_, source_eps2_, pot_;
  /// Which parts of each j-particle have been set.
  static constexpr unsigned has_position = 1, has_mass = 2;
  std::vector<std::uint8_t> parts_;
  std::size_t first_unset_ = 0;  ///< addresses before it have been set
  std::size_t used_ = 0;
  std::vector<double> target_eps2_;  ///< softening of the first i-particles; others have eps2_
  std::optional<std::vector<double>>
      own_eps2_;  ///< softening that was set with the i-particles, in place of these
  std::vector<double> run_eps2_;
  bool has_results_ = false;  ///< whether the i-particles have results
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
  on_board("g5_open", id, [](Board& b) { b.open(); });
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
/// Sets j-particles of a call that has all arrays.
void set_sources(const char* function, int id, int address, int nj, const Sources& from,
                 std::initializer_list<const void*> arrays) {
  on_board(function, id, [&](Board& b) {
    if (nj > 0 && std::ranges::find(arrays, nullptr) != arrays.end())
      throw Error(ErrorCategory::Usage,
                  "an array for " + std::to_string(nj) + " j-particles is a null pointer");
    b.set_sources(address, nj, from);
  });
}
void set_xmj(int id, int address, int nj, double (*x)[3], double* m) {
  set_sources("g5_set_xmj", id, address, nj, {.x = x, .mass = m}, {x, m});
}
void set_jp(int id, int address, int nj, double* m, double (*x)[3]) {
  set_sources("g5_set_jp", id, address, nj, {.x = x, .mass = m}, {x, m});
}
void set_xj(int id, int address, int nj, double (*x)[3]) {
  set_sources("g5_set_xj", id, address, nj, {.x = x}, {x});
}
void set_mj(int id, int address, int nj, double* m) {
  set_sources("g5_set_mj", id, address, nj, {.mass = m}, {m});
}
void set_xmeps2j(int id, int address, int nj, double (*x)[3], double* m, double* eps2) {
  set_sources("g5_set_xmeps2j", id, address, nj, {.x = x, .mass = m, .eps2 = eps2}, {x, m, eps2});
}
void set_xmj0(int id, int address, int nj, double (*x)[3], double* m, double* eps2) {
  set_sources("g5_set_xmj0", id, address, nj, {.x = x, .mass = m, .eps2 = eps2}, {x, m, eps2});
}
void set_xi(int id, int ni, double (*x)[3]) {
  on_board("g5_set_xi", id, [=](Board& b) { b.set_targets(ni, x); });
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
    b.set_targets(ni, x);
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
void calculate_force_on_x0(int id, double (*x)[3], double (*a)[3], double* p, int ni,
                           double* eps2) {
  on_board("g5_calculate_force_on_x0", id, [=](Board& b) {
    b.set_targets(ni, x, eps2, true);
    b.run();
    b.get(ni, a, p);
  });
}
/// A law of the distance for all devices, 0 from `end` on; null: gravity again.
void set_law(const char* function, const std::function<double(double)>& law, double end) {
  guarded(function, 0, [&] {
    if (!law) {
      law_of_all().set(nullptr);
      return 0;
    }
    if (!(end > 0) || !std::isfinite(end))
      throw Error(ErrorCategory::Usage,
                  "the cut-off is " + number_text(end) + "; it must be positive and finite");
    law_of_all().set(std::make_shared<const Tabulated>(law, end));
    return 0;
  });
}
void set_s2_law(double pp, double pm) {
  guarded("pg5_gen_s2_force_table", 0, [&] {
    for (const double a : {pp, pm})
      if (!(a > 0) || !std::isfinite(a))
        throw Error(ErrorCategory::Usage, "a diameter of the shape S2 is " + number_text(a) +
                                              "; it must be positive and finite");
    if (!(pp < pm))
      throw Error(ErrorCategory::Usage, "the diameter sft_for_pp is " + number_text(pp) +
                                            "; it must be less than sft_for_pm, which is " +
                                            number_text(pm));
    const auto law = [=](double r) {
      return s2_force_over_distance(pp, r) - s2_force_over_distance(pm, r);
    };
    law_of_all().set(std::make_shared<const Tabulated>(law, pm));
    return 0;
  });
}
void set_eta(int id, double eta) {
  on_board("g5_set_eta", id, [=](Board& b) { b.set_eta(eta); });
}
/// A function of C takes its argument by value, one of Fortran by its address.
using CFunction = double (*)(double);
using FortranFunction = double (*)(double*);
std::function<double(double)> function_of(CFunction f) { return f; }
std::function<double(double)> function_of(FortranFunction f) {
  if (f == nullptr) return {};
  return [f](double r) { return f(&r); };
}
template <typename Function>
void set_cutoff_table(int id, Function f, double fcut, double fcor, Function p, double pcut,
                      double pcor) {
  on_board("g5_set_cutoff_table", id, [=](Board& b) {
    b.set_cutoff({function_of(f), fcut, fcor}, {function_of(p), pcut, pcor});
  });
}

/// Runs the form for Fortran of a function, whose addresses may be null.
template <typename Call>
void by_address(const char* function, const Call& call) {
  guarded(function, 0, [&] {
    call();
    return 0;
  });
}

}  // namespace
}  // namespace gdr::compat::grape::g5

namespace g5 = gdr::compat::grape::g5;
using gdr::compat::grape::argument;
using gdr::compat::grape::id_at;
using gdr::compat::grape::g5::by_address;

// The four forms of a function: for device 0 and for any, both also for Fortran. The C forms are
// weak: clients may define them.
#define GDR_WEAK __attribute__((weak))
#define UNPACK(...) __VA_ARGS__
#define WITHOUT_ARGUMENTS(type, name)                          \
  GDR_WEAK type g5_##name(void) { return g5::name(0); }        \
  GDR_WEAK type g5_##name##MC(int id) { return g5::name(id); } \
  type g5_##name##_(void) { return g5::name(0); }              \
  type g5_##name##MC_(int* id) { return g5::name(id_at(id)); }
/// An argument that is passed by its address.
#define AT(name) argument(name, #name)
/// `arguments` of the C forms are passed as `values`, those of the Fortran forms, `references`, as
/// `referred`.
#define WITH_ARGUMENTS(name, arguments, values, references, referred)                    \
  GDR_WEAK void g5_##name(UNPACK arguments) { g5::name(0, UNPACK values); }              \
  GDR_WEAK void g5_##name##MC(int id, UNPACK arguments) { g5::name(id, UNPACK values); } \
  void g5_##name##_(UNPACK references) {                                                 \
    by_address("g5_" #name, [&] { g5::name(0, UNPACK referred); });                      \
  }                                                                                      \
  void g5_##name##MC_(int* id, UNPACK references) {                                      \
    by_address("g5_" #name, [&] { g5::name(id_at(id), UNPACK referred); });              \
  }

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
WITH_ARGUMENTS(set_range, (double xmin, double xmax, double mmin), (xmin, xmax, mmin),
               (double*, double*, double*), (0, 0, 0))  // not used
WITH_ARGUMENTS(set_eps_to_all, (double eps), (eps), (double* eps), (AT(eps)))
WITH_ARGUMENTS(set_eps2_to_all, (double eps2), (eps2), (double* eps2), (AT(eps2)))
WITH_ARGUMENTS(set_eps, (int ni, double* eps), (ni, eps), (int* ni, double* eps), (AT(ni), eps))
WITH_ARGUMENTS(set_eps2, (int ni, double* eps2), (ni, eps2), (int* ni, double* eps2),
               (AT(ni), eps2))
WITH_ARGUMENTS(set_n, (int nj), (nj), (int* nj), (AT(nj)))
WITH_ARGUMENTS(set_xmj, (int address, int nj, double (*x)[3], double* m), (address, nj, x, m),
               (int* address, int* nj, double (*x)[3], double* m), (AT(address), AT(nj), x, m))
WITH_ARGUMENTS(set_jp, (int address, int nj, double* m, double (*x)[3]), (address, nj, m, x),
               (int* address, int* nj, double* m, double (*x)[3]), (AT(address), AT(nj), m, x))
WITH_ARGUMENTS(set_xj, (int address, int nj, double (*x)[3]), (address, nj, x),
               (int* address, int* nj, double (*x)[3]), (AT(address), AT(nj), x))
WITH_ARGUMENTS(set_mj, (int address, int nj, double* m), (address, nj, m),
               (int* address, int* nj, double* m), (AT(address), AT(nj), m))
WITH_ARGUMENTS(set_xmeps2j, (int address, int nj, double (*x)[3], double* m, double* eps2),
               (address, nj, x, m, eps2),
               (int* address, int* nj, double (*x)[3], double* m, double* eps2),
               (AT(address), AT(nj), x, m, eps2))
WITH_ARGUMENTS(set_xi, (int ni, double (*x)[3]), (ni, x), (int* ni, double (*x)[3]), (AT(ni), x))
WITH_ARGUMENTS(set_xei, (int ni, double (*x)[3], double* eps2), (ni, x, eps2),
               (int* ni, double (*x)[3], double* eps2), (AT(ni), x, eps2))
WITH_ARGUMENTS(set_xepsi, (int ni, double (*x)[3], double* eps), (ni, x, eps),
               (int* ni, double (*x)[3], double* eps), (AT(ni), x, eps))
WITH_ARGUMENTS(set_ip, (int ni, double (*x)[3], double* eps, double* h), (ni, x, eps, h),
               (int* ni, double (*x)[3], double* eps, double* h), (AT(ni), x, eps, h))
WITH_ARGUMENTS(get_force, (int ni, double (*a)[3], double* p), (ni, a, p),
               (int* ni, double (*a)[3], double* p), (AT(ni), a, p))
WITH_ARGUMENTS(calculate_force_on_x, (double (*x)[3], double (*a)[3], double* p, int ni),
               (x, a, p, ni), (double (*x)[3], double (*a)[3], double* p, int* ni),
               (x, a, p, AT(ni)))
WITH_ARGUMENTS(calculate_force_on_xe,
               (double (*x)[3], double* eps2, double (*a)[3], double* p, int ni),
               (x, eps2, a, p, ni),
               (double (*x)[3], double* eps2, double (*a)[3], double* p, int* ni),
               (x, eps2, a, p, AT(ni)))
WITH_ARGUMENTS(set_xmj0, (int address, int nj, double (*x)[3], double* m, double* eps2),
               (address, nj, x, m, eps2),
               (int* address, int* nj, double (*x)[3], double* m, double* eps2),
               (AT(address), AT(nj), x, m, eps2))
WITH_ARGUMENTS(calculate_force_on_x0,
               (double (*x)[3], double (*a)[3], double* p, int ni, double* eps2),
               (x, a, p, ni, eps2),
               (double (*x)[3], double (*a)[3], double* p, int* ni, double* eps2),
               (x, a, p, AT(ni), eps2))
// Their names for any device have the 0 at the end.
GDR_WEAK void g5_set_xmjMC0(int id, int address, int nj, double (*x)[3], double* m, double* eps2) {
  g5::set_xmj0(id, address, nj, x, m, eps2);
}
GDR_WEAK void g5_calculate_force_on_xMC0(int id, double (*x)[3], double (*a)[3], double* p, int ni,
                                         double* eps2) {
  g5::calculate_force_on_x0(id, x, a, p, ni, eps2);
}
GDR_WEAK void pg5_gen_force_table(double (*force)(double), double rcut) {
  g5::set_law("pg5_gen_force_table", g5::function_of(force), rcut);
}
GDR_WEAK void pg5_gen_s2_force_table(double sft_for_pp, double sft_for_pm) {
  g5::set_s2_law(sft_for_pp, sft_for_pm);
}
GDR_WEAK void pg5_set_xscale(double) {}  // positions are doubles
WITH_ARGUMENTS(set_eta, (double eta), (eta), (double* eta), (AT(eta)))
WITH_ARGUMENTS(set_cutoff_table,
               (double (*f)(double), double fcut, double fcor, double (*p)(double), double pcut,
                double pcor),
               (f, fcut, fcor, p, pcut, pcor),
               (double (*f)(double*), double* fcut, double* fcor, double (*p)(double*),
                double* pcut, double* pcor),
               (f, AT(fcut), AT(fcor), p, AT(pcut), AT(pcor)))

}  // extern "C"
