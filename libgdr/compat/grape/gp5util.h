/* The GRAPE-5 library interface: accelerations and potentials of softened gravity. Link with -lg5.
 *
 * Units are the caller's, with G = 1. The potential is positive and contains the pair of a particle
 * with itself, m / eps. Pairs at the same place without softening contribute 0.
 *
 * Functions with MC take a device id first, any number: each has j-particles and settings of its
 * own, and threads may call them concurrently, one id per thread. The others use device 0. Invalid
 * calls print a message on standard error and change nothing; arrays for results then keep what
 * they contain. Forms with a trailing underscore are for Fortran: every scalar is passed by its
 * address.
 *
 * The device is that of GDR_DEVICE, by default this host's CPU in double precision; see
 * docs/guides/grape-libraries.md. */
#ifndef GDR_GP5UTIL_H
#define GDR_GP5UTIL_H

#ifdef __cplusplus
extern "C" {
#endif

/* Number of j-particles for which clients make their arrays; more are accepted, up to 2^26. */
#ifndef JMEMSIZE
#define JMEMSIZE 131072
#endif

/* Functions for device 0 (NAME), for any device (NAMEMC), and their forms for Fortran. `P` has the
 * arguments by value, `D` those with the device first, `F` and `FD` those by address. */
#define GDR_G5_FUNCTION(type, name, P, D, F, FD) \
  type g5_##name P;                              \
  type g5_##name##MC D;                          \
  type g5_##name##_ F;                           \
  type g5_##name##MC_ FD;

/* Any call opens a device, and prints a message if there is none; closing it frees its particles
 * and settings. */
GDR_G5_FUNCTION(void, open, (void), (int), (void), (int*))
GDR_G5_FUNCTION(void, close, (void), (int), (void), (int*))

/* Number of i-particles of a call for which clients make their arrays: 96, or GDR_G5_PIPES. */
GDR_G5_FUNCTION(int, get_number_of_pipelines, (void), (int), (void), (int*))
GDR_G5_FUNCTION(int, get_number_of_real_pipelines, (void), (int), (void), (int*))
GDR_G5_FUNCTION(int, get_number_of_pipelines_per_board, (void), (int), (void), (int*))
GDR_G5_FUNCTION(int, get_number_of_boards, (void), (int), (void), (int*))
GDR_G5_FUNCTION(int, get_firstcluster, (void), (int), (void), (int*))
GDR_G5_FUNCTION(int, get_jmemsize, (void), (int), (void), (int*))

/* The window of the original's fixed-point numbers, (xmin, xmax, mmin): not used. */
GDR_G5_FUNCTION(void, set_range, (double, double, double), (int, double, double, double),
                (double*, double*, double*), (int*, double*, double*, double*))

/* Softening of all i-particles, eps or its square, or of each of ni, also of those that are set
 * already: a run has the softening that was set last. Squares must not be negative. */
GDR_G5_FUNCTION(void, set_eps_to_all, (double), (int, double), (double*), (int*, double*))
GDR_G5_FUNCTION(void, set_eps2_to_all, (double), (int, double), (double*), (int*, double*))
GDR_G5_FUNCTION(void, set_eps, (int, double*), (int, int, double*), (int*, double*),
                (int*, int*, double*))
GDR_G5_FUNCTION(void, set_eps2, (int, double*), (int, int, double*), (int*, double*),
                (int*, int*, double*))

/* Number of j-particles that are used, from address 0 on. A run needs positions and masses of all.
 */
GDR_G5_FUNCTION(void, set_n, (int), (int, int), (int*), (int*, int*))
/* Set nj j-particles from an address on: positions and masses; masses and positions; positions;
 * masses; positions, masses and squares of their softening, which is added to that of the
 * i-particle (else 0). */
GDR_G5_FUNCTION(void, set_xmj, (int, int, double (*)[3], double*),
                (int, int, int, double (*)[3], double*), (int*, int*, double (*)[3], double*),
                (int*, int*, int*, double (*)[3], double*))
GDR_G5_FUNCTION(void, set_jp, (int, int, double*, double (*)[3]),
                (int, int, int, double*, double (*)[3]), (int*, int*, double*, double (*)[3]),
                (int*, int*, int*, double*, double (*)[3]))
GDR_G5_FUNCTION(void, set_xj, (int, int, double (*)[3]), (int, int, int, double (*)[3]),
                (int*, int*, double (*)[3]), (int*, int*, int*, double (*)[3]))
GDR_G5_FUNCTION(void, set_mj, (int, int, double*), (int, int, int, double*), (int*, int*, double*),
                (int*, int*, int*, double*))
GDR_G5_FUNCTION(void, set_xmeps2j, (int, int, double (*)[3], double*, double*),
                (int, int, int, double (*)[3], double*, double*),
                (int*, int*, double (*)[3], double*, double*),
                (int*, int*, int*, double (*)[3], double*, double*))

/* Set the i-particles: positions; with squares of softening; with softening; with softening and a
 * radius that is not used. Null for the softening: that of all. */
GDR_G5_FUNCTION(void, set_xi, (int, double (*)[3]), (int, int, double (*)[3]),
                (int*, double (*)[3]), (int*, int*, double (*)[3]))
GDR_G5_FUNCTION(void, set_xei, (int, double (*)[3], double*), (int, int, double (*)[3], double*),
                (int*, double (*)[3], double*), (int*, int*, double (*)[3], double*))
GDR_G5_FUNCTION(void, set_xepsi, (int, double (*)[3], double*), (int, int, double (*)[3], double*),
                (int*, double (*)[3], double*), (int*, int*, double (*)[3], double*))
GDR_G5_FUNCTION(void, set_ip, (int, double (*)[3], double*, double*),
                (int, int, double (*)[3], double*, double*),
                (int*, double (*)[3], double*, double*),
                (int*, int*, double (*)[3], double*, double*))
/* Compute, and get accelerations and potentials of the first ni i-particles. There are none to get
 * before a run of the i-particles that were set last, after a run that failed, and where a number
 * is not finite, which is an error of the run. */
GDR_G5_FUNCTION(void, run, (void), (int), (void), (int*))
GDR_G5_FUNCTION(void, get_force, (int, double (*)[3], double*), (int, int, double (*)[3], double*),
                (int*, double (*)[3], double*), (int*, int*, double (*)[3], double*))
/* All of that for any number of i-particles: (x, a, p, ni) and (x, eps2, a, p, ni). */
GDR_G5_FUNCTION(void, calculate_force_on_x, (double (*)[3], double (*)[3], double*, int),
                (int, double (*)[3], double (*)[3], double*, int),
                (double (*)[3], double (*)[3], double*, int*),
                (int*, double (*)[3], double (*)[3], double*, int*))
GDR_G5_FUNCTION(void, calculate_force_on_xe, (double (*)[3], double*, double (*)[3], double*, int),
                (int, double (*)[3], double*, double (*)[3], double*, int),
                (double (*)[3], double*, double (*)[3], double*, int*),
                (int*, double (*)[3], double*, double (*)[3], double*, int*))

/* Cut-off of the force: with R = r / eta, where r is the softened distance, the force of a pair is
 * multiplied by fcor * ffunc(R) and is 0 from R = fcut on; the potential likewise with pfunc, pcut
 * and pcor. Such sums run on the host in double precision. A null ffunc ends the cut-off; if the
 * functions or numbers are refused, the former cut-off remains.
 *
 * The functions are called now, for a table, and not later; never at R = 0 and R = fcut (pcut),
 * where they need not be finite. The table has a relative error of 1e-12 for smooth functions. It
 * locates jumps to 3e-14 of fcut, with values between those on both sides.
 *
 * In the forms for Fortran they are functions of Fortran, which take R by its address:
 *   double precision function ffunc(r)
 *     double precision, intent(in) :: r */
GDR_G5_FUNCTION(void, set_eta, (double), (int, double), (double*), (int*, double*))
GDR_G5_FUNCTION(void, set_cutoff_table,
                (double (*)(double), double, double, double (*)(double), double, double),
                (int, double (*)(double), double, double, double (*)(double), double, double),
                (double (*)(double*), double*, double*, double (*)(double*), double*, double*),
                (int*, double (*)(double*), double*, double*, double (*)(double*), double*,
                 double*))

/* Of the library Phantom-GRAPE: j-particles with squares of their softening, as g5_set_xmeps2j, and
 * forces on i-particles with theirs, (x, a, p, ni, eps2). */
GDR_G5_FUNCTION(void, set_xmj0, (int, int, double (*)[3], double*, double*),
                (int, int, int, double (*)[3], double*, double*),
                (int*, int*, double (*)[3], double*, double*),
                (int*, int*, int*, double (*)[3], double*, double*))
GDR_G5_FUNCTION(void, calculate_force_on_x0, (double (*)[3], double (*)[3], double*, int, double*),
                (int, double (*)[3], double (*)[3], double*, int, double*),
                (double (*)[3], double (*)[3], double*, int*, double*),
                (int*, double (*)[3], double (*)[3], double*, int*, double*))
void g5_set_xmjMC0(int, int, int, double (*)[3], double*, double*);
void g5_calculate_force_on_xMC0(int, double (*)[3], double (*)[3], double*, int, double*);

/* A law of the distance in place of gravity, for all devices: accelerations are the sums of
 * m force(r) d, where d is the difference of positions, and 0 from r = rcut on. Softening and the
 * cut-off of g5_set_cutoff_table are not used, potentials are 0, and sums run on the host in double
 * precision. The function is called now, for a table, and never at 0 and rcut. A null function is
 * gravity again. */
void pg5_gen_force_table(double (*force)(double), double rcut);
/* The same with the short-range force of a P3M or TreePM code: that of shape S2 (Hockney and
 * Eastwood 1981, section 8-3) with the diameter sft_for_pp, minus that with the larger diameter
 * sft_for_pm, at which it ends. */
void pg5_gen_s2_force_table(double sft_for_pp, double sft_for_pm);
/* The unit of positions in floats: not used, they are doubles. */
void pg5_set_xscale(double);

#ifdef __cplusplus
}
#endif

#endif
