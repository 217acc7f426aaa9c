/* The interface of NBODY6++GPU to accelerators: regular forces with neighbour lists, and
 * potentials. Link with -lgpunb_nbody6pp. NBODY6 calls functions of the same names with other
 * arguments, which are in gpunb.h. Functions are for Fortran: every scalar is passed by its
 * address. G = 1; potentials are positive.
 *
 * Functions return 0 when all is well, and -1 after an invalid call, with a message on standard
 * error; results are then unchanged. They also return -1 if sums are not finite. The device is that
 * of GDR_DEVICE, by default this host's CPU in double precision; see
 * docs/guides/grape-libraries.md. */
#ifndef GDR_GPUNB_NBODY6PP_H
#define GDR_GPUNB_NBODY6PP_H

#ifdef __cplusplus
extern "C" {
#endif

/* Open the device, whatever the rank, and prepare for about nbmax particles (any number is accepted
 * later); free them. */
int gpunb_devinit_(int* irank);
int gpunb_open_(int* nbmax, int* irank);
int gpunb_close_(void);
/* Accepted: there is no profile. */
int gpunb_profile_(int* irank);
/* Set the j-particles. */
int gpunb_send_(int* nj, double mj[], double xj[][3], double vj[][3]);
/* Sums over the j-particles outside of the neighbour spheres of ni i-particles: acceleration, its
 * time derivative and potential. A pair is left out of the sums and listed if the square of its
 * distance, now or after dtr on straight lines, is less than h2, or, where m_flag is not 0, than
 * h2 times the mass of the j-particle; a particle is in its own list. list[i * lmax] is the number
 * of listed j-particles, which follow, counted from 0 in increasing order; it is minus that number,
 * and nothing follows, if there are more than nnbmax or lmax - 1. The sums are right in that case,
 * too. The j-particles must have been sent before. */
int gpunb_regf_(int* ni, double h2[], double dtr[], double xi[][3], double vi[][3], double acc[][3],
                double jrk[][3], double pot[], int* lmax, int* nnbmax, int* list, int* m_flag);
/* Potentials, pot[0] and following, of the ni particles from number istart on, counted from 1, due
 * to all n particles. */
int gpupot_(int* irank, int* istart, int* ni, int* n, double m[], double x[][3], double pot[]);

#ifdef __cplusplus
}
#endif

#endif
