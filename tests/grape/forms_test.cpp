// Every function that the GRAPE libraries export, in each of its forms: one sequence of calls, in
// which each call has an effect on results, gives the same with all forms. What the C forms do is
// tested elsewhere, against plain loops.
#include <algorithm>
#include <array>
#include <cmath>
#include <cstdio>
#include <memory>
#include <set>
#include <sstream>
#include <string>
#include <type_traits>
#include <vector>

#include "grape/support.hpp"
#include "libgdr/compat/grape/g6lib.h"
#include "libgdr/compat/grape/gp5util.h"
#include "libgdr/compat/grape/gpunb.h"
#include "support/catch.hpp"

using namespace grape_test;

namespace {

enum class Form { Plain, Device, Fortran, FortranDevice };

/// Names of the functions that were called.
std::set<std::string> called;
template <typename... A>
auto call(const char* name, A... all) {
  called.insert(name);
  return [](auto function, auto... a) { return function(a...); }(all...);
}

/// An argument as the Fortran forms take it.
template <typename T>
auto referred(T& value) {
  if constexpr (std::is_arithmetic_v<T>)
    return &value;
  else
    return value;
}

std::set<std::string> exports(const char* library) {
  const std::string command = std::string(GDR_NM) + " -D --defined-only " + library;
  const std::unique_ptr<std::FILE, int (*)(std::FILE*)> nm(popen(command.c_str(), "r"), pclose);
  REQUIRE(nm);
  std::string text;
  for (int c = std::fgetc(nm.get()); c != EOF; c = std::fgetc(nm.get()))
    text += static_cast<char>(c);
  std::set<std::string> names;
  std::istringstream lines(text);
  for (std::string address, type, name; lines >> address >> type >> name;) names.insert(name);
  return names;
}

/// Results of a sequence of calls, one after the other.
class Outcomes {
 public:
  void add(std::vector<double> values) {
    for (const double v : values) CHECK(std::isfinite(v));
    all_.push_back(std::move(values));
  }
  /// Adds what differs from the outcome before.
  void add_change(std::vector<double> values) {
    CHECK(!all_.empty());
    CHECK(values != all_.back());
    add(std::move(values));
  }
  bool operator==(const Outcomes&) const = default;

 private:
  std::vector<std::vector<double>> all_;
};

}  // namespace

// The four forms of a function of libg5, as one function.
#define FORMS(name)                                                          \
  template <typename... A>                                                   \
  auto name(Form form, int id, A... a) {                                     \
    switch (form) {                                                          \
      case Form::Plain:                                                      \
        return call("g5_" #name, g5_##name, a...);                           \
      case Form::Device:                                                     \
        return call("g5_" #name "MC", g5_##name##MC, id, a...);              \
      case Form::Fortran:                                                    \
        return call("g5_" #name "_", g5_##name##_, referred(a)...);          \
      default:                                                               \
        return call("g5_" #name "MC_", g5_##name##MC_, &id, referred(a)...); \
    }                                                                        \
  }

namespace forms_of_g5 {
FORMS(open)
FORMS(close)
FORMS(get_number_of_pipelines)
FORMS(get_number_of_real_pipelines)
FORMS(get_number_of_pipelines_per_board)
FORMS(get_number_of_boards)
FORMS(get_firstcluster)
FORMS(get_jmemsize)
FORMS(set_range)
FORMS(set_eps_to_all)
FORMS(set_eps2_to_all)
FORMS(set_eps)
FORMS(set_eps2)
FORMS(set_n)
FORMS(set_xmj)
FORMS(set_jp)
FORMS(set_xj)
FORMS(set_mj)
FORMS(set_xmeps2j)
FORMS(set_xmj0)
FORMS(set_xi)
FORMS(set_xei)
FORMS(set_xepsi)
FORMS(set_ip)
FORMS(run)
FORMS(get_force)
FORMS(calculate_force_on_x)
FORMS(calculate_force_on_xe)
FORMS(calculate_force_on_x0)
FORMS(set_eta)

double force_factor(double r) { return std::exp(-r); }
double potential_factor(double r) { return 1 / (1 + r); }
double fortran_force_factor(double* r) { return force_factor(*r); }
double fortran_potential_factor(double* r) { return potential_factor(*r); }
void set_cutoff_table(Form form, int id, double fcut, double fcor, double pcut, double pcor) {
  switch (form) {
    case Form::Plain:
      return call("g5_set_cutoff_table", g5_set_cutoff_table, force_factor, fcut, fcor,
                  potential_factor, pcut, pcor);
    case Form::Device:
      return call("g5_set_cutoff_tableMC", g5_set_cutoff_tableMC, id, force_factor, fcut, fcor,
                  potential_factor, pcut, pcor);
    case Form::Fortran:
      return call("g5_set_cutoff_table_", g5_set_cutoff_table_, fortran_force_factor, &fcut, &fcor,
                  fortran_potential_factor, &pcut, &pcor);
    default:
      return call("g5_set_cutoff_tableMC_", g5_set_cutoff_tableMC_, &id, fortran_force_factor,
                  &fcut, &fcor, fortran_potential_factor, &pcut, &pcor);
  }
}

/// With second_names, functions that have two names for a device have the other one.
Outcomes outcomes(Form form, int id, bool second_names = false) {
  Particles p = random_particles(50, 1), other = random_particles(50, 2);
  constexpr int ni = 9;
  std::vector<double> eps(ni), eps2(ni), source_eps2(50), h(ni, 1);
  for (std::size_t k = 0; k < source_eps2.size(); ++k)
    source_eps2[k] = 0.001 * static_cast<double>(k);
  for (std::size_t k = 0; k < eps.size(); ++k) {
    eps[k] = 0.02 * static_cast<double>(k + 1);
    eps2[k] = 0.03 * static_cast<double>(k + 1);
  }
  std::vector<Row> acc(ni);
  std::vector<double> pot(ni);
  const auto values = [&] {
    std::vector<double> all = pot;
    for (const Row& a : acc) all.insert(all.end(), a.begin(), a.end());
    return all;
  };
  const auto results = [&] {
    run(form, id);
    get_force(form, id, ni, rows(acc), pot.data());
    return values();
  };
  double(*const x)[3] = rows(p.x);
  double(*const y)[3] = rows(other.x);
  Outcomes all;
  open(form, id);
  all.add(
      {double(get_number_of_pipelines(form, id)), double(get_number_of_real_pipelines(form, id)),
       double(get_number_of_pipelines_per_board(form, id)), double(get_number_of_boards(form, id)),
       double(get_firstcluster(form, id)), double(get_jmemsize(form, id))});
  set_range(form, id, -1.0, 1.0, 1e-3);
  set_eps_to_all(form, id, 0.1);
  set_n(form, id, 40);
  set_xmj(form, id, 0, 50, x, p.mass.data());
  set_xi(form, id, ni, x);
  all.add_change(results());
  set_n(form, id, 50);
  all.add_change(results());
  set_xi(form, id, ni, y);
  all.add_change(results());
  set_eps_to_all(form, id, 0.2);
  all.add_change(results());
  set_eps2_to_all(form, id, 0.1);
  all.add_change(results());
  set_eps(form, id, ni, eps.data());
  all.add_change(results());
  set_eps2(form, id, ni, eps2.data());
  all.add_change(results());
  set_xmj(form, id, 10, 5, y, other.mass.data());
  all.add_change(results());
  set_jp(form, id, 20, 6, other.mass.data() + 8, y + 8);
  all.add_change(results());
  set_xj(form, id, 30, 7, y + 16);
  all.add_change(results());
  set_mj(form, id, 40, 8, other.mass.data() + 24);
  all.add_change(results());
  set_xmeps2j(form, id, 5, 20, x + 20, p.mass.data() + 1, source_eps2.data() + 10);
  all.add_change(results());
  second_names ? call("g5_set_xmjMC0", g5_set_xmjMC0, id, 15, 12, y, other.mass.data(),
                      source_eps2.data() + 5)
               : set_xmj0(form, id, 15, 12, y, other.mass.data(), source_eps2.data() + 5);
  all.add_change(results());
  set_xei(form, id, ni, x, eps2.data());
  all.add_change(results());
  set_xepsi(form, id, ni, x, eps.data());
  all.add_change(results());
  set_ip(form, id, ni, y, eps.data(), h.data());
  all.add_change(results());
  calculate_force_on_x(form, id, x, rows(acc), pot.data(), ni);
  all.add_change(values());
  calculate_force_on_xe(form, id, y, eps.data(), rows(acc), pot.data(), ni);
  all.add_change(values());
  second_names ? call("g5_calculate_force_on_xMC0", g5_calculate_force_on_xMC0, id, x, rows(acc),
                      pot.data(), ni, eps2.data())
               : calculate_force_on_x0(form, id, x, rows(acc), pot.data(), ni, eps2.data());
  all.add_change(values());
  set_eta(form, id, 0.4);
  set_cutoff_table(form, id, 1.5, 1.25, 2.5, 0.75);
  all.add_change(results());
  set_eta(form, id, 0.3);
  all.add_change(results());
  close(form, id);
  // It has no particles any more, and no cut-off.
  set_xi(form, id, ni, x);
  all.add_change(results());
  set_n(form, id, 50);
  set_jp(form, id, 0, 50, p.mass.data(), x);
  all.add_change(results());
  close(form, id);
  return all;
}

}  // namespace forms_of_g5

TEST_CASE("every form of the functions of libg5 does the same") {
  called.clear();
  const Outcomes plain = forms_of_g5::outcomes(Form::Plain, 0);
  CHECK(forms_of_g5::outcomes(Form::Fortran, 0) == plain);
  CHECK(forms_of_g5::outcomes(Form::Device, 71) == plain);
  CHECK(forms_of_g5::outcomes(Form::FortranDevice, -72) == plain);
  CHECK(forms_of_g5::outcomes(Form::Device, 73, true) == plain);
  std::set<std::string> names = exports(GDR_LIBG5);
  // The functions for tables have one form: pg5_table_test.cpp.
  std::erase_if(names, [](const std::string& name) { return name.starts_with("pg5_"); });
  CHECK(called == names);
}

#undef FORMS
#define FORMS(name)                                            \
  template <typename... A>                                     \
  auto name(Form form, A... a) {                               \
    if (form == Form::Plain) return call(#name, ::name, a...); \
    return call(#name "_", ::name##_, referred(a)...);         \
  }

namespace forms_of_g6 {
FORMS(g6_open)
FORMS(g6_close)
FORMS(g6_open_special)
FORMS(g6_reset)
FORMS(g6_reset_fofpga)
FORMS(g6_reinitialize)
FORMS(g6_set_overflow_flag_test_mode)
FORMS(g6_npipes)
FORMS(g6_get_number_of_pipelines)
FORMS(g6_getnjmax)
FORMS(g6_set_tunit)
FORMS(g6_set_xunit)
FORMS(g6_set_ti)
FORMS(g6_set_j_particle)
FORMS(g6_set_j_particle_mxonly)
FORMS(g6_get_j_particle)
FORMS(g6_initialize_jp_buffer)
FORMS(g6_flush_jp_buffer)
FORMS(g6_setup_njdata)
FORMS(g6calc_firsthalf)
FORMS(g6calc_lasthalf)
FORMS(g6calc_lasthalf2)
FORMS(g6calc_firsthalf0)
FORMS(g6calc_lasthalf0)
FORMS(g6calc_lasthalf20)
FORMS(g6_read_neighbour_list)
FORMS(g6_get_neighbour_list)
FORMS(g6_set_neighbour_list_sort_mode)
FORMS(g6_get_neighbour_list_sort_mode)

Outcomes outcomes(Form form, int id) {
  Particles p = random_particles(60, 3);
  constexpr int ni = 8;
  std::vector<double> eps2(ni), h2(ni);
  for (std::size_t k = 0; k < ni; ++k) {
    eps2[k] = 0.001 * static_cast<double>(k);
    h2[k] = 0.02 * static_cast<double>(k);
  }
  std::vector<int> index(p.id.begin(), p.id.begin() + ni);
  std::vector<Row> acc(ni), jerk(ni), old(ni);
  std::vector<double> pot(ni), old_pot(ni);
  std::vector<int> nearest(ni);
  double(*const x)[3] = rows(p.x);
  double(*const v)[3] = rows(p.v);
  double(*const none)[3] = rows(old);
  Outcomes all;
  all.add({double(g6_open(form, id)), double(g6_open_special(form, 1, nearest.data())),
           double(g6_reset(form, id)), double(g6_reset_fofpga(form, id)),
           double(g6_set_overflow_flag_test_mode(form, 1, 2, 3)), double(g6_npipes(form)),
           double(g6_get_number_of_pipelines(form)), double(g6_getnjmax(form, id)),
           double(g6_set_tunit(form, 51)), double(g6_set_xunit(form, 52)),
           double(g6_initialize_jp_buffer(form, id, 100)), double(g6_setup_njdata(form, id, 60))});
  g6_reinitialize(form, id);
  g6_set_neighbour_list_sort_mode(form, 0);
  all.add({double(g6_get_neighbour_list_sort_mode(form))});
  for (std::size_t k = 0; k < p.size(); ++k)
    CHECK(g6_set_j_particle(form, id, static_cast<int>(k), p.id[k], p.time[k], 0.5, p.mass[k],
                            p.s[k].data(), p.j[k].data(), p.a[k].data(), p.v[k].data(),
                            p.x[k].data()) == 0);
  CHECK(g6_flush_jp_buffer(form, id) == 0);
  CHECK(g6_set_ti(form, id, 0.05) == 0);
  const auto values = [&](int status) {
    std::vector<double> list{double(status)};
    for (std::size_t k = 0; k < ni; ++k) {
      list.insert(list.end(), acc[k].begin(), acc[k].end());
      list.insert(list.end(), jerk[k].begin(), jerk[k].end());
      list.push_back(pot[k]);
      list.push_back(nearest[k]);
    }
    std::fill(nearest.begin(), nearest.end(), -7);
    return list;
  };
  const auto sums = [&] {
    return values(g6calc_lasthalf(form, id, 60, ni, index.data(), x, v, 0.01, h2.data(), rows(acc),
                                  rows(jerk), pot.data()));
  };
  const auto first_half = [&](int nj, double softening) {
    g6calc_firsthalf(form, id, nj, ni, index.data(), x, v, none, none, old_pot.data(), softening,
                     h2.data());
  };
  first_half(60, 0.01);
  all.add_change(sums());
  all.add_change(values(g6calc_lasthalf2(form, id, 60, ni, index.data(), x, v, 0.01, h2.data(),
                                         rows(acc), rows(jerk), pot.data(), nearest.data())));
  first_half(60, 0.02);
  all.add_change(sums());
  first_half(50, 0.02);
  all.add_change(sums());
  CHECK(g6_set_ti(form, id, 0.1) == 0);
  first_half(50, 0.02);
  all.add_change(sums());
  g6calc_firsthalf0(form, id, 60, ni, index.data(), x, v, none, none, old_pot.data(), eps2.data(),
                    h2.data());
  all.add_change(values(g6calc_lasthalf0(form, id, 60, ni, index.data(), x, v, eps2.data(),
                                         h2.data(), rows(acc), rows(jerk), pot.data())));
  all.add_change(
      values(g6calc_lasthalf20(form, id, 60, ni, index.data(), x, v, eps2.data(), h2.data(),
                               rows(acc), rows(jerk), pot.data(), nearest.data())));
  all.add({double(g6_read_neighbour_list(form, id))});
  for (const auto& [pipe, capacity] : {std::pair{7, 60}, {5, 60}, {7, 2}}) {
    std::vector<int> list(60, -7);
    int length = -7;
    const int status = g6_get_neighbour_list(form, id, pipe, capacity, &length, list.data());
    std::vector<double> outcome{double(status), double(length)};
    outcome.insert(outcome.end(), list.begin(), list.end());
    all.add_change(outcome);
  }
  CHECK(g6_set_j_particle_mxonly(form, id, 11, 1234, 0.5, p.x[59].data()) == 0);
  int got_index = 0;
  double got_time = -1, got_mass = 0;
  std::vector<double> got(18);
  CHECK(g6_get_j_particle(form, id, 12, &got_index, &got_time, &got_mass, got.data(),
                          got.data() + 3, got.data() + 6, got.data() + 9, got.data() + 12,
                          got.data() + 15) == 0);
  all.add_change({double(got_index), got_time, got_mass});
  all.add_change(got);
  first_half(50, 0.02);
  all.add_change(sums());
  first_half(60, 0.02);
  CHECK(g6_close(form, id) == 0);
  int status = 0;
  CHECK(messages_of([&] {
          status = g6calc_lasthalf(form, id, 60, ni, index.data(), x, v, 0.02, h2.data(), rows(acc),
                                   rows(jerk), pot.data());
        }) != "");
  all.add({double(status)});
  CHECK(status == -1);
  return all;
}

}  // namespace forms_of_g6

TEST_CASE("every form of the functions of libg6 does the same") {
  called.clear();
  const Outcomes plain = forms_of_g6::outcomes(Form::Plain, 81);
  messages_of([] { g6_set_j_particle_mxonly(81, -1, 0, 1, nullptr); });  // no repetition follows
  CHECK(forms_of_g6::outcomes(Form::Fortran, 82) == plain);
  CHECK(call("get_device_count", get_device_count) == 1);
  std::set<std::string> names = exports(GDR_LIBG6);
  names.erase("get_j_part_data");  // It has one form: sapporo_client.cpp.
  CHECK(called == names);
}

TEST_CASE("every function of libgpunb is there for Fortran") {
  called.clear();
  int n = 3, lmax = 4, nbmax = 3;
  double mass[] = {1, 2, 4}, h2[] = {1.5, 1.5, 0}, dt[] = {0, 0, 0}, pot[3];
  double x[][3] = {{0, 0, 0}, {1, 0, 0}, {3, 0, 0}}, v[3][3] = {}, acc[3][3], jerk[3][3];
  std::array<int, 12> list{};
  const auto same = [&](const std::vector<double>& right) {
    for (std::size_t k = 0; k < 3; ++k) CHECK(std::abs(pot[k] - right[k]) < 1e-14);
  };
  CHECK(call("gpunb_open_", gpunb_open_, &n) == 0);
  CHECK(call("gpunb_send_", gpunb_send_, &n, mass, x, v) == 0);
  CHECK(call("gpunb_regf_", gpunb_regf_, &n, h2, dt, x, v, acc, jerk, pot, &lmax, &nbmax,
             list.data()) == 0);
  same({4.0 / 3, 2, 1.0 / 3 + 1});
  CHECK(list == std::array<int, 12>{2, 0, 1, 0, 2, 0, 1, 0, 0, 0, 0, 0});
  CHECK(std::abs(acc[1][0] - 1) < 1e-14);
  CHECK(call("gpupot_", gpupot_, &n, mass, x, pot) == 0);
  same({2 + 4.0 / 3, 1 + 2, 1.0 / 3 + 1});
  CHECK(call("gpunb_close_", gpunb_close_) == 0);
  CHECK(called == exports(GDR_LIBGPUNB));
}
