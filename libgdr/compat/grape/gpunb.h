/* The interface of NBODY6 to accelerators: regular forces with neighbour lists, and potentials.
 * Functions are for Fortran: every scalar is passed by its address. G = 1; potentials are positive.
 *
 * Versions of NBODY6 differ in the meaning of h2, and each has a library of its own:
 *   -lgpunb_nbody6  since 2013 (calls with RS**2/BODYM): neighbours have distance^2 < m_j h2, with
 *                   the mass of the j-particle
 *   -lgpunb         before (calls with RS**2): distance^2 < h2
 * NBODY6++GPU has other arguments: gpunb_nbody6pp.h, -lgpunb_nbody6pp.
 *
 * Functions return 0 when all is well, and -1 after an invalid call, with a message on standard
 * error; results are then unchanged. They also return -1 if sums are not finite. The device is that
 * of GDR_DEVICE, by default this host's CPU in double precision; see
 * docs/guides/grape-libraries.md. */
#ifndef GDR_GPUNB_H
#define GDR_GPUNB_H

#ifdef __cplusplus
extern "C" {
#endif

/* Open the device and prepare for about nbmax particles (any number is accepted later), and free
 * them. */
int gpunb_open_(int* nbmax);
int gpunb_close_(void);
/* Set the j-particles. */
int gpunb_send_(int* nj, double mj[], double xj[][3], double vj[][3]);
/* Sums over the j-particles outside of the neighbour spheres of ni i-particles: acceleration, its
 * time derivative and potential. A pair is left out of the sums and listed if the square of its
 * distance, now or after dtr on straight lines, is less than h2 (-lgpunb_nbody6: than mj times h2);
 * a particle is in its own list.
 * list[i * lmax] is the number of listed j-particles, which follow, counted from 0 in increasing
 * order; it is -1, and nothing follows, if there are more than nbmax or lmax - 1. The sums are
 * right in that case, too. The j-particles must have been sent before. */
int gpunb_regf_(int* ni, double h2[], double dtr[], double xi[][3], double vi[][3], double acc[][3],
                double jrk[][3], double pot[], int* lmax, int* nbmax, int* list);
/* Potentials of n particles due to each other. */
int gpupot_(int* n, double m[], double x[][3], double pot[]);

#ifdef __cplusplus
}
#endif

#endif
