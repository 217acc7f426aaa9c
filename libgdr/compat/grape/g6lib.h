/* The GRAPE-6 library interface: accelerations, their time derivatives, potentials, nearest
 * neighbours and neighbour lists for Hermite schemes. Link with -lg6 (pkg-config g6lib).
 *
 * A cluster id is any number; each has particles of its own. Addresses are slots for j-particles
 * from 0 on, indices are the particles' ids in the full range of int. Units are the caller's, with
 * G = 1; potentials are negative. A pair of equal indices is left out; pairs at the same place
 * without softening contribute 0.
 *
 * Functions of type int return 0 when all is well. After an invalid call they print a message on
 * standard error and return -1; results are then unchanged. Forms with a trailing underscore are
 * for Fortran: every scalar is passed by its address. A null clusterid there is cluster 0.
 *
 * The device is that of GDR_DEVICE, by default this host's CPU in double precision; see
 * docs/guides/grape-libraries.md. */
#ifndef GDR_G6LIB_H
#define GDR_G6LIB_H

#ifdef __cplusplus
extern "C" {
#endif

/* Open a cluster and its device, which any call does, and free its particles; the others return at
 * once. -1 if there is no such device. */
int g6_open(int clusterid);
int g6_close(int clusterid);
int g6_open_special(int clusters, int list[]);
int g6_reset(int clusterid);
int g6_reset_fofpga(int clusterid);
void g6_reinitialize(int clusterid);
int g6_set_overflow_flag_test_mode(int acc, int jerk, int potential);
int get_device_count(void);

/* Number of i-particles of a call for which clients make their arrays: 48, or GDR_G6_PIPES. Calls
 * may have more. */
int g6_npipes(void);
int g6_get_number_of_pipelines(void);
/* Number of j-particles for which there is an address. */
int g6_getnjmax(int clusterid);

/* Scales of the original's fixed-point numbers: never read, whatever the pointer. */
int g6_set_tunit(int tunit);
int g6_set_xunit(int xunit);

/* The time to which j-particles are predicted. */
int g6_set_ti(int clusterid, double ti);

/* Set a j-particle at its own time tj; a2by18 is the second derivative of its acceleration divided
 * by 18, a1by6 the first divided by 6, aby2 the acceleration divided by 2. dtj is not used. x must
 * not be null; other vectors that are null are 0. A particle that is not finite is refused, and
 * calculations that use it fail until it is set again. */
int g6_set_j_particle(int clusterid, int address, int index, double tj, double dtj, double mass,
                      double a2by18[3], double a1by6[3], double aby2[3], double v[3], double x[3]);
/* The same for a particle at rest. */
int g6_set_j_particle_mxonly(int clusterid, int address, int index, double mass, double x[3]);
/* A j-particle as it was set, with its acceleration and jerk without the factors, and its position
 * px and velocity pv at the time of g6_set_ti. Any of the pointers may be null. -1 for an address
 * whose particle was never set. The original has no such function. */
int g6_get_j_particle(int clusterid, int address, int* index, double* tj, double* mass, double x[3],
                      double v[3], double acc[3], double jerk[3], double px[3], double pv[3]);
int g6_initialize_jp_buffer(int clusterid, int size);
int g6_flush_jp_buffer(int clusterid);
int g6_setup_njdata(int clusterid, int nj);

/* Start a calculation for ni i-particles over the j-particles of addresses 0 .. nj - 1. fold, jold
 * and phiold are not used. h2 may be null: no neighbour lists. eps2 must not be negative. A
 * calculation may come without its second half. */
void g6calc_firsthalf(int clusterid, int nj, int ni, int index[], double xi[][3], double vi[][3],
                      double fold[][3], double jold[][3], double phiold[], double eps2,
                      double h2[]);
/* Its results, to arrays that may be the same or null: acc is written before jerk. Arguments up to
 * h2 are those of the first half. Results that are not finite are an error, as is a first half that
 * was not called, or failed. */
int g6calc_lasthalf(int clusterid, int nj, int ni, int index[], double xi[][3], double vi[][3],
                    double eps2, double h2[], double acc[][3], double jerk[][3], double pot[]);
/* The same with the index of the nearest j-particle, without softening; -1 if there is none. */
int g6calc_lasthalf2(int clusterid, int nj, int ni, int index[], double xi[][3], double vi[][3],
                     double eps2, double h2[], double acc[][3], double jerk[][3], double pot[],
                     int nnbindex[]);
/* The same with a softening for each i-particle. */
void g6calc_firsthalf0(int clusterid, int nj, int ni, int index[], double xi[][3], double vi[][3],
                       double fold[][3], double jold[][3], double phiold[], double eps2[],
                       double h2[]);
int g6calc_lasthalf0(int clusterid, int nj, int ni, int index[], double xi[][3], double vi[][3],
                     double eps2[], double h2[], double acc[][3], double jerk[][3], double pot[]);
int g6calc_lasthalf20(int clusterid, int nj, int ni, int index[], double xi[][3], double vi[][3],
                      double eps2[], double h2[], double acc[][3], double jerk[][3], double pot[],
                      int nnbindex[]);

/* Make the neighbour lists of the last calculation: 0, or positive if the memory for lists was full
 * (which it never is here). */
int g6_read_neighbour_list(int clusterid);
/* The indices of the j-particles with |x_j - x_i|^2 < h2 for i-particle number ipipe, sorted,
 * without the particle itself; with GDR_G6_SOFTENED_LISTS=1 the softening is added to the distance.
 * Returns 1 and the first maxlength if there are more, -1 and nblen 0 if h2 is not a number. */
int g6_get_neighbour_list(int clusterid, int ipipe, int maxlength, int* nblen, int nbl[]);
/* Accepted; lists are always sorted. */
void g6_set_neighbour_list_sort_mode(int mode);
int g6_get_neighbour_list_sort_mode(void);

int g6_open_(int* clusterid);
int g6_close_(int* clusterid);
int g6_open_special_(int* clusters, int list[]);
int g6_reset_(int* clusterid);
int g6_reset_fofpga_(int* clusterid);
void g6_reinitialize_(int* clusterid);
int g6_set_overflow_flag_test_mode_(int* acc, int* jerk, int* potential);
int g6_npipes_(void);
int g6_get_number_of_pipelines_(void);
int g6_getnjmax_(int* clusterid);
int g6_set_tunit_(void* tunit);
int g6_set_xunit_(void* xunit);
int g6_set_ti_(int* clusterid, double* ti);
int g6_set_j_particle_(int* clusterid, int* address, int* index, double* tj, double* dtj,
                       double* mass, double a2by18[3], double a1by6[3], double aby2[3], double v[3],
                       double x[3]);
int g6_set_j_particle_mxonly_(int* clusterid, int* address, int* index, double* mass, double x[3]);
int g6_get_j_particle_(int* clusterid, int* address, int* index, double* tj, double* mass,
                       double x[3], double v[3], double acc[3], double jerk[3], double px[3],
                       double pv[3]);
int g6_initialize_jp_buffer_(int* clusterid, int* size);
int g6_flush_jp_buffer_(int* clusterid);
int g6_setup_njdata_(int* clusterid, int* nj);
void g6calc_firsthalf_(int* clusterid, int* nj, int* ni, int index[], double xi[][3],
                       double vi[][3], double fold[][3], double jold[][3], double phiold[],
                       double* eps2, double h2[]);
int g6calc_lasthalf_(int* clusterid, int* nj, int* ni, int index[], double xi[][3], double vi[][3],
                     double* eps2, double h2[], double acc[][3], double jerk[][3], double pot[]);
int g6calc_lasthalf2_(int* clusterid, int* nj, int* ni, int index[], double xi[][3], double vi[][3],
                      double* eps2, double h2[], double acc[][3], double jerk[][3], double pot[],
                      int nnbindex[]);
void g6calc_firsthalf0_(int* clusterid, int* nj, int* ni, int index[], double xi[][3],
                        double vi[][3], double fold[][3], double jold[][3], double phiold[],
                        double eps2[], double h2[]);
int g6calc_lasthalf0_(int* clusterid, int* nj, int* ni, int index[], double xi[][3], double vi[][3],
                      double eps2[], double h2[], double acc[][3], double jerk[][3], double pot[]);
int g6calc_lasthalf20_(int* clusterid, int* nj, int* ni, int index[], double xi[][3],
                       double vi[][3], double eps2[], double h2[], double acc[][3],
                       double jerk[][3], double pot[], int nnbindex[]);
int g6_read_neighbour_list_(int* clusterid);
int g6_get_neighbour_list_(int* clusterid, int* ipipe, int* maxlength, int* nblen, int nbl[]);
void g6_set_neighbour_list_sort_mode_(int* mode);
int g6_get_neighbour_list_sort_mode_(void);

/* The particle at an address of cluster 0, as Sapporo2 gives it: as it was set, with acceleration
 * and jerk without factors, and predicted. nj is not used, eps2 is 0. mass is 0 and id -1 if the
 * particle was never set. In C++ mass, eps2 and id are references, and the form of Sapporo without
 * them exists, too. */
#ifdef __cplusplus
void get_j_part_data(int addr, int nj, double* pos, double* vel, double* acc, double* jrk,
                     double* ppos, double* pvel, double& mass, double& eps2, int& id);
}
inline int get_j_part_data(int addr, int /*nj*/, double* pos, double* vel, double* acc, double* jrk,
                           double* ppos, double* pvel) {
  int cluster = 0;
  return g6_get_j_particle_(&cluster, &addr, 0, 0, 0, pos, vel, acc, jrk, ppos, pvel);
}
#else
void get_j_part_data(int addr, int nj, double* pos, double* vel, double* acc, double* jrk,
                     double* ppos, double* pvel, double* mass, double* eps2, int* id);
#endif

#endif
