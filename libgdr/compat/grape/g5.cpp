// libg5: the GRAPE-5 library interface.
#pragma GCC visibility push(default)
#include "libgdr/compat/grape/gp5util.h"
#pragma GCC visibility pop

#include <algorithm>
#include <cmath>
#include <functional>
#include <initializer_list>
#include <memory>
#include <string>

#include "gdr/error.hpp"
#include "libgdr/compat/grape/calls.hpp"
#include "libgdr/compat/grape/cutoff.hpp"
#include "libgdr/compat/grape/g5_board.hpp"

namespace gdr::compat::grape::g5 {
namespace {

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

// The functions, for any device.

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
