/* The C++ class `sapporo`, the interface of Sapporo2 for codes in C++, on top of libg6. Link with
 * -lg6 or -lsapporo. C++11.
 *
 *     sapporo grav;
 *     grav.open("", devices, 1);
 *     grav.set_j_particle(address, id, tj, dtj, mass, k18, jerk, acc, v, x, nullptr, nullptr, 0);
 *     grav.set_time(t);
 *     grav.startGravCalc(nj, ni, id, xi, vi, nullptr, nullptr, nullptr, eps2, h2, nullptr);
 *     grav.getGravResults(nj, ni, id, xi, vi, eps2, h2, acc, jerk, nullptr, nullptr, pot, nnb,
 *                         nullptr, true);
 *
 * Each object has particles of its own, so that threads may use different objects at once. Names,
 * arguments and their order are those of Sapporo2 (Bedorf, Gaburov & Portegies Zwart 2015, Comput.
 * Astrophys. Cosmol. 2, 8; its class is public); what they do is that of g6lib.h: accelerations
 * point to the masses, potentials are negative, pairs of equal ids are left out, G = 1. Functions
 * of type int return 0 when all is well, and -1 after a message on standard error. Derivatives
 * beyond the jerk, of the orders SIXTH and EIGHT, are not computed: open refuses these orders. */
#ifndef GDR_SAPPOROHOSTCLASS_H
#define GDR_SAPPOROHOSTCLASS_H

#include <atomic>
#include <cstddef>
#include <cstdio>
#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "g6lib.h"

enum { GRAPE5 = 0, FOURTH, SIXTH, EIGHT };
enum { DEFAULT = 0, DOUBLE };

class sapporo {
 public:
  sapporo() : id_(next_id()), sources_(0), predicts_(true) {}
  ~sapporo() { close(); }
  sapporo(const sapporo&) = delete;
  sapporo& operator=(const sapporo&) = delete;

  /* Opens the device of GDR_DEVICE and frees the particles. The other arguments than the order are
   * not used; all orders have double precision with the default device. */
  int open(std::string /*kernelFile*/, int* /*devices*/, int /*nprocs*/ = 1, int order = FOURTH,
           int /*precision*/ = DEFAULT) {
    if (order != GRAPE5 && order != FOURTH) {
      std::fprintf(
          stderr,
          "gdr: sapporo::open: order %d: forces, jerks and potentials are computed, of the "
          "orders GRAPE5 (0) and FOURTH (1)\n",
          order);
      return -1;
    }
    forget_particles();
    predicts_ = true;
    return g6_open_(&id_);
  }
  int close() {
    forget_particles();
    return g6_close_(&id_);
  }
  /* i-particles of a call for which clients make their arrays; calls may have more. */
  int get_n_pipes() { return g6_npipes_(); }

  /* The time to which particles are predicted. */
  int set_time(double ti) {
    predicts_ = true;
    return g6_set_ti_(&id_, &ti);
  }
  /* Particles that are set from now on are not predicted, until set_time. */
  int set_no_time() {
    double ti = 0;
    predicts_ = false;
    return g6_set_ti_(&id_, &ti);
  }

  /* A particle at its own time: a2 is its acceleration and j6 its jerk, without the factors of the
   * GRAPE-6 functions, k18 the second derivative of the acceleration divided by 18. snp and crk are
   * not used, null vectors are 0. eps is returned by retrieve_j_particle_state, and acts on no
   * force. */
  int set_j_particle(int address, int index, double tj, double dtj, double mass, double k18[3],
                     double j6[3], double a2[3], double v[3], double x[3], double* /*snp*/,
                     double* /*crk*/, double eps) {
    if (!(eps - eps == 0)) {
      std::fprintf(stderr, "gdr: sapporo::set_j_particle: eps is %g; it must be finite\n", eps);
      return -1;
    }
    double half_a[3], sixth_j[3];
    for (int k = 0; k < 3; ++k) {
      half_a[k] = a2 == nullptr ? 0 : a2[k] / 2;
      sixth_j[k] = j6 == nullptr ? 0 : j6[k] / 6;
    }
    if (!predicts_) tj = 0;
    const int status =
        g6_set_j_particle_(&id_, &address, &index, &tj, &dtj, &mass, k18, sixth_j, half_a, v, x);
    if (status == 0) {
      const std::map<int, int>::iterator old = ids_.find(address);
      if (old != ids_.end()) places_.erase(std::make_pair(old->second, address));
      ids_[address] = index;
      places_.insert(std::make_pair(index, address));
      if (eps != 0 || !eps_.empty()) eps_[address] = eps;
    }
    return status;
  }

  /* Starts a calculation. With eps2_i each i-particle has a softening of its own, and eps2 is not
   * used. vi and h2 may be null, index may be null where no i-particle is a j-particle. */
  void startGravCalc(int nj, int ni, int index[], double xi[][3], double vi[][3], double aold[][3],
                     double j6old[][3], double* phiold, double eps2, double h2[], double eps2_i[]) {
    sources_ = nj;
    const std::size_t n = static_cast<std::size_t>(ni > 0 ? ni : 0) + 1;
    if (vi == nullptr) rest_.assign(3 * n, 0.0);
    if (index == nullptr) nobody_.assign(n, -1);
    double(*const v)[3] = vi != nullptr ? vi : reinterpret_cast<double(*)[3]>(rest_.data());
    int* const ids = index != nullptr ? index : nobody_.data();
    if (eps2_i != nullptr)
      g6calc_firsthalf0_(&id_, &nj, &ni, ids, xi, v, aold, j6old, phiold, eps2_i, h2);
    else
      g6calc_firsthalf_(&id_, &nj, &ni, ids, xi, v, aold, j6old, phiold, &eps2, h2);
  }

  /* Its results; arrays may be null. nnbindex and dsmin_i are filled if ngb: the id of the nearest
   * particle, -1 if there is none, and the square of its distance from xi, without softening. snp
   * and crk stay as they are. */
  int getGravResults(int nj, int ni, int index[], double xi[][3], double vi[][3], double eps2,
                     double h2[], double acc[][3], double jerk[][3], double /*snp*/[][3],
                     double /*crk*/[][3], double pot[], int nnbindex[], double dsmin_i[],
                     bool ngb) {
    if (!ngb || (nnbindex == nullptr && dsmin_i == nullptr))
      return g6calc_lasthalf_(&id_, &nj, &ni, index, xi, vi, &eps2, h2, acc, jerk, pot);
    if (dsmin_i != nullptr && xi == nullptr && ni > 0) {
      std::fprintf(stderr, "gdr: sapporo::getGravResults: xi is a null pointer\n");
      return -1;
    }
    std::vector<int> nearest(static_cast<std::size_t>(ni > 0 ? ni : 0) + 1, -1);
    const int status =
        g6calc_lasthalf2_(&id_, &nj, &ni, index, xi, vi, &eps2, h2, acc, jerk, pot, nearest.data());
    for (int i = 0; status == 0 && i < ni; ++i) {
      const int found = nearest[static_cast<std::size_t>(i)];
      if (nnbindex != nullptr) nnbindex[i] = found;
      if (dsmin_i != nullptr) dsmin_i[i] = square_of_distance(found, xi[i]);
    }
    return status;
  }

  /* Particles are predicted when a calculation needs them. */
  void forcePrediction(int /*nj*/) {}
  /* A particle as it was set, with acceleration and jerk without factors, and its position and
   * velocity at the time of the last set_time. Vectors may be null; pacc is the acceleration as it
   * was set. mass is 0 and id -1 if there is no particle at this address. */
  void retrieve_j_particle_state(int addr, double& mass, double& id, double& eps2, double pos[3],
                                 double vel[3], double acc[3], double jrk[3], double ppos[3],
                                 double pvel[3], double pacc[3]) {
    int index = -1;
    mass = 0;
    g6_get_j_particle_(&id_, &addr, &index, nullptr, &mass, pos, vel, acc, jrk, ppos, pvel);
    if (pacc != nullptr)
      g6_get_j_particle_(&id_, &addr, nullptr, nullptr, nullptr, nullptr, nullptr, pacc, nullptr,
                         nullptr, nullptr);
    id = index;
    const std::map<int, double>::const_iterator softening = eps_.find(addr);
    eps2 = softening == eps_.end() ? 0 : softening->second;
  }
  /* Position and velocity at the time of the last set_time, the acceleration as it was set. */
  void retrieve_predicted_j_particle(int addr, double& mass, double& id, double& eps2,
                                     double pos[3], double vel[3], double acc[3]) {
    retrieve_j_particle_state(addr, mass, id, eps2, nullptr, nullptr, acc, nullptr, pos, vel,
                              nullptr);
  }

  /* Neighbour lists of the last calculation, as of g6_read_neighbour_list and
   * g6_get_neighbour_list. The number of a cluster is not used. */
  int fetch_ngb_list_from_device(int /*ni*/) { return 0; }
  int read_ngb_list(int /*cluster_id*/) { return g6_read_neighbour_list_(&id_); }
  int get_ngb_list(int /*cluster_id*/, int ipipe, int maxlength, int& nblen, int nbl[]) {
    return g6_get_neighbour_list_(&id_, &ipipe, &maxlength, &nblen, nbl);
  }

 private:
  /* Clusters of libg6 that no caller of its functions has. */
  static int next_id() {
    static std::atomic<int> last(0x5a000000);
    return ++last;
  }
  void forget_particles() {
    ids_.clear();
    places_.clear();
    eps_.clear();
  }
  /* To the nearest of the calculation's particles with this id; clients may give one id to several.
   */
  double square_of_distance(int index, const double x[3]) {
    double least = -1;
    std::set<std::pair<int, int>>::const_iterator at =
        places_.lower_bound(std::make_pair(index, 0));
    for (; at != places_.end() && at->first == index && at->second < sources_; ++at) {
      int address = at->second;
      double p[3] = {0, 0, 0}, sum = 0;
      g6_get_j_particle_(&id_, &address, nullptr, nullptr, nullptr, nullptr, nullptr, nullptr,
                         nullptr, p, nullptr);
      for (int k = 0; k < 3; ++k) sum += (p[k] - x[k]) * (p[k] - x[k]);
      if (least < 0 || sum < least) least = sum;
    }
    return least < 0 ? 0 : least;
  }

  int id_;
  int sources_; /* number of j-particles of the last calculation */
  bool predicts_;
  std::map<int, int> ids_;               /* ids of particles by address */
  std::set<std::pair<int, int>> places_; /* ids and addresses of particles */
  std::map<int, double> eps_;            /* the argument eps by address, where it is not 0 */
  std::vector<double> rest_;             /* velocities of i-particles without */
  std::vector<int> nobody_;              /* ids of i-particles without */
};

#endif
