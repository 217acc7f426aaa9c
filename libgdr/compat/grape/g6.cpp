// libg6: the GRAPE-6 library interface. g6_cluster.hpp has the calculations.
#pragma GCC visibility push(default)
#include "libgdr/compat/grape/g6lib.h"
#pragma GCC visibility pop

#include <type_traits>

#include "libgdr/compat/grape/calls.hpp"
#include "libgdr/compat/grape/g6_cluster.hpp"

namespace gdr::compat::grape {
namespace {

constexpr int failed = -1;

States<Cluster>& clusters() {
  static States<Cluster>& all = *new States<Cluster>;  // still there when the process ends
  return all;
}

/// Runs the body of a function on the cluster of an id.
template <typename Work>
int on_cluster(const char* function, int id, const Work& work) {
  return guarded(function, failed, [&] {
    return clusters().with(id, [&](Cluster& cluster) {
      if constexpr (std::is_void_v<decltype(work(cluster))>) {
        work(cluster);
        return 0;
      } else {
        return work(cluster);
      }
    });
  });
}

int pipes() {
  return guarded("g6_npipes", 48,
                 [] { return environment_number("GDR_G6_PIPES", 48, 1, 1 << 20); });
}

}  // namespace
}  // namespace gdr::compat::grape

using namespace gdr::compat::grape;

#define GDR_WEAK __attribute__((weak))

extern "C" {

// Some clients define the C forms themselves, on top of the Fortran ones: these must not call them,
// and the client's definitions take precedence.

int g6_open_(int* id) {
  return on_cluster("g6_open", id_at(id), [](Cluster& c) { c.open(); });
}
GDR_WEAK int g6_open(int id) { return g6_open_(&id); }

int g6_close_(int* id) {
  clusters().close(id_at(id));
  return 0;
}
GDR_WEAK int g6_close(int id) { return g6_close_(&id); }

int g6_open_special_(int* /*clusters*/, int* /*list*/) {
  return guarded("g6_open_special", failed, [] {
    open_device();
    return 0;
  });
}
GDR_WEAK int g6_open_special(int n, int* list) { return g6_open_special_(&n, list); }
int g6_reset_(int* /*id*/) { return 0; }
GDR_WEAK int g6_reset(int id) { return g6_reset_(&id); }
int g6_reset_fofpga_(int* /*id*/) { return 0; }
GDR_WEAK int g6_reset_fofpga(int id) { return g6_reset_fofpga_(&id); }
void g6_reinitialize_(int* /*id*/) {}
GDR_WEAK void g6_reinitialize(int id) { g6_reinitialize_(&id); }
int g6_set_overflow_flag_test_mode_(int* /*a*/, int* /*j*/, int* /*p*/) { return 0; }
GDR_WEAK int g6_set_overflow_flag_test_mode(int a, int j, int p) {
  return g6_set_overflow_flag_test_mode_(&a, &j, &p);
}
GDR_WEAK int get_device_count(void) { return 1; }

int g6_npipes_(void) { return pipes(); }
GDR_WEAK int g6_npipes(void) { return pipes(); }
int g6_get_number_of_pipelines_(void) { return pipes(); }
GDR_WEAK int g6_get_number_of_pipelines(void) { return pipes(); }
int g6_getnjmax_(int* /*id*/) { return max_particles; }
GDR_WEAK int g6_getnjmax(int /*id*/) { return max_particles; }

int g6_set_tunit_(void* /*unit*/) { return 0; }
GDR_WEAK int g6_set_tunit(int /*unit*/) { return 0; }
int g6_set_xunit_(void* /*unit*/) { return 0; }
GDR_WEAK int g6_set_xunit(int /*unit*/) { return 0; }

int g6_set_ti_(int* id, double* ti) {
  return on_cluster("g6_set_ti", id_at(id), [&](Cluster& c) { c.set_time(argument(ti, "ti")); });
}
GDR_WEAK int g6_set_ti(int id, double ti) { return g6_set_ti_(&id, &ti); }

int g6_set_j_particle_(int* id, int* address, int* index, double* tj, double* /*dtj*/, double* mass,
                       double* a2by18, double* a1by6, double* aby2, double* v, double* x) {
  return on_cluster("g6_set_j_particle", id_at(id), [&](Cluster& c) {
    c.set(argument(address, "address"), x,
          {.time = argument(tj, "tj"),
           .mass = argument(mass, "mass"),
           .id = argument(index, "index"),
           .v = vector_of(v),
           .half_a = vector_of(aby2),
           .sixth_j = vector_of(a1by6),
           .snap_18th = vector_of(a2by18)});
  });
}
GDR_WEAK int g6_set_j_particle(int id, int address, int index, double tj, double dtj, double mass,
                               double* a2by18, double* a1by6, double* aby2, double* v, double* x) {
  return g6_set_j_particle_(&id, &address, &index, &tj, &dtj, &mass, a2by18, a1by6, aby2, v, x);
}
int g6_set_j_particle_mxonly_(int* id, int* address, int* index, double* mass, double* x) {
  return on_cluster("g6_set_j_particle_mxonly", id_at(id), [&](Cluster& c) {
    c.set(argument(address, "address"), x,
          {.mass = argument(mass, "mass"), .id = argument(index, "index")});
  });
}
GDR_WEAK int g6_set_j_particle_mxonly(int id, int address, int index, double mass, double* x) {
  return g6_set_j_particle_mxonly_(&id, &address, &index, &mass, x);
}
int g6_get_j_particle_(int* id, int* address, int* index, double* tj, double* mass, double* x,
                       double* v, double* acc, double* jerk, double* px, double* pv) {
  return on_cluster("g6_get_j_particle", id_at(id), [&](Cluster& c) {
    const gdr::MovingSource p = c.particle(argument(address, "address"));
    const auto give = [](double* to, const std::array<double, 3>& value, double factor) {
      for (std::size_t k = 0; to != nullptr && k < 3; ++k) to[k] = factor * value[k];
    };
    if (index != nullptr) *index = static_cast<int>(p.id);
    if (tj != nullptr) *tj = p.time;
    if (mass != nullptr) *mass = p.mass;
    give(x, p.x, 1);
    give(v, p.v, 1);
    give(acc, p.half_a, 2);
    give(jerk, p.sixth_j, 6);
    const gdr::MovingSource later = c.predicted(p);
    give(px, later.x, 1);
    give(pv, later.v, 1);
  });
}
GDR_WEAK int g6_get_j_particle(int id, int address, int* index, double* tj, double* mass, double* x,
                               double* v, double* acc, double* jerk, double* px, double* pv) {
  return g6_get_j_particle_(&id, &address, index, tj, mass, x, v, acc, jerk, px, pv);
}
GDR_WEAK void get_j_part_data(int addr, int /*nj*/, double* pos, double* vel, double* acc,
                              double* jrk, double* ppos, double* pvel, double& mass, double& eps2,
                              int& id) {
  int cluster = 0;
  mass = eps2 = 0;
  id = -1;
  g6_get_j_particle_(&cluster, &addr, &id, nullptr, &mass, pos, vel, acc, jrk, ppos, pvel);
}
int g6_initialize_jp_buffer_(int* /*id*/, int* /*size*/) { return 0; }
GDR_WEAK int g6_initialize_jp_buffer(int /*id*/, int /*size*/) { return 0; }
int g6_flush_jp_buffer_(int* /*id*/) { return 0; }
GDR_WEAK int g6_flush_jp_buffer(int /*id*/) { return 0; }
int g6_setup_njdata_(int* /*id*/, int* /*nj*/) { return 0; }
GDR_WEAK int g6_setup_njdata(int /*id*/, int /*nj*/) { return 0; }

void g6calc_firsthalf_(int* id, int* nj, int* ni, int* index, double (*xi)[3], double (*vi)[3],
                       double (*)[3], double (*)[3], double*, double* eps2, double* h2) {
  on_cluster("g6calc_firsthalf", id_at(id), [&](Cluster& c) {
    c.start(argument(nj, "nj"), {argument(ni, "ni"), index, xi, vi, eps2, true, h2});
  });
}
GDR_WEAK void g6calc_firsthalf(int id, int nj, int ni, int* index, double (*xi)[3], double (*vi)[3],
                               double (*fold)[3], double (*jold)[3], double* phiold, double eps2,
                               double* h2) {
  g6calc_firsthalf_(&id, &nj, &ni, index, xi, vi, fold, jold, phiold, &eps2, h2);
}
void g6calc_firsthalf0_(int* id, int* nj, int* ni, int* index, double (*xi)[3], double (*vi)[3],
                        double (*)[3], double (*)[3], double*, double* eps2, double* h2) {
  on_cluster("g6calc_firsthalf0", id_at(id), [&](Cluster& c) {
    c.start(argument(nj, "nj"), {argument(ni, "ni"), index, xi, vi, eps2, false, h2});
  });
}
GDR_WEAK void g6calc_firsthalf0(int id, int nj, int ni, int* index, double (*xi)[3],
                                double (*vi)[3], double (*fold)[3], double (*jold)[3],
                                double* phiold, double* eps2, double* h2) {
  g6calc_firsthalf0_(&id, &nj, &ni, index, xi, vi, fold, jold, phiold, eps2, h2);
}

int g6calc_lasthalf2_(int* id, int* /*nj*/, int* ni, int* /*index*/, double (*)[3], double (*)[3],
                      double*, double*, double (*acc)[3], double (*jerk)[3], double* pot,
                      int* nearest) {
  return on_cluster("g6calc_lasthalf", id_at(id), [&](Cluster& c) {
    c.finish(argument(ni, "ni"), {acc, jerk, pot, nearest});
  });
}
GDR_WEAK int g6calc_lasthalf2(int id, int nj, int ni, int* index, double (*xi)[3], double (*vi)[3],
                              double eps2, double* h2, double (*acc)[3], double (*jerk)[3],
                              double* pot, int* nearest) {
  return g6calc_lasthalf2_(&id, &nj, &ni, index, xi, vi, &eps2, h2, acc, jerk, pot, nearest);
}
int g6calc_lasthalf_(int* id, int* nj, int* ni, int* index, double (*xi)[3], double (*vi)[3],
                     double* eps2, double* h2, double (*acc)[3], double (*jerk)[3], double* pot) {
  return g6calc_lasthalf2_(id, nj, ni, index, xi, vi, eps2, h2, acc, jerk, pot, nullptr);
}
GDR_WEAK int g6calc_lasthalf(int id, int nj, int ni, int* index, double (*xi)[3], double (*vi)[3],
                             double eps2, double* h2, double (*acc)[3], double (*jerk)[3],
                             double* pot) {
  return g6calc_lasthalf2_(&id, &nj, &ni, index, xi, vi, &eps2, h2, acc, jerk, pot, nullptr);
}
int g6calc_lasthalf0_(int* id, int* nj, int* ni, int* index, double (*xi)[3], double (*vi)[3],
                      double* eps2, double* h2, double (*acc)[3], double (*jerk)[3], double* pot) {
  return g6calc_lasthalf2_(id, nj, ni, index, xi, vi, eps2, h2, acc, jerk, pot, nullptr);
}
GDR_WEAK int g6calc_lasthalf0(int id, int nj, int ni, int* index, double (*xi)[3], double (*vi)[3],
                              double* eps2, double* h2, double (*acc)[3], double (*jerk)[3],
                              double* pot) {
  return g6calc_lasthalf2_(&id, &nj, &ni, index, xi, vi, eps2, h2, acc, jerk, pot, nullptr);
}
int g6calc_lasthalf20_(int* id, int* nj, int* ni, int* index, double (*xi)[3], double (*vi)[3],
                       double* eps2, double* h2, double (*acc)[3], double (*jerk)[3], double* pot,
                       int* nearest) {
  return g6calc_lasthalf2_(id, nj, ni, index, xi, vi, eps2, h2, acc, jerk, pot, nearest);
}
GDR_WEAK int g6calc_lasthalf20(int id, int nj, int ni, int* index, double (*xi)[3], double (*vi)[3],
                               double* eps2, double* h2, double (*acc)[3], double (*jerk)[3],
                               double* pot, int* nearest) {
  return g6calc_lasthalf2_(&id, &nj, &ni, index, xi, vi, eps2, h2, acc, jerk, pot, nearest);
}

int g6_read_neighbour_list_(int* id) {
  return on_cluster("g6_read_neighbour_list", id_at(id), [](Cluster& c) { c.make_lists(); });
}
GDR_WEAK int g6_read_neighbour_list(int id) { return g6_read_neighbour_list_(&id); }
int g6_get_neighbour_list_(int* id, int* pipe, int* capacity, int* length, int* list) {
  return on_cluster("g6_get_neighbour_list", id_at(id), [&](Cluster& c) {
    return c.list(argument(pipe, "ipipe"), argument(capacity, "maxlength"), length, list);
  });
}
GDR_WEAK int g6_get_neighbour_list(int id, int pipe, int capacity, int* length, int* list) {
  return g6_get_neighbour_list_(&id, &pipe, &capacity, length, list);
}
void g6_set_neighbour_list_sort_mode_(int* /*mode*/) {}
GDR_WEAK void g6_set_neighbour_list_sort_mode(int /*mode*/) {}
int g6_get_neighbour_list_sort_mode_(void) { return 1; }
GDR_WEAK int g6_get_neighbour_list_sort_mode(void) { return 1; }

}  // extern "C"
