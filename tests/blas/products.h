// Declarations of the tested routines of Fortran BLAS and CBLAS.
#pragma once

#include <complex.h>
#include <stddef.h>
#include <stdint.h>

#define FORTRAN_GEMM(name, number, size)                                                    \
  void name(const char*, const char*, const size*, const size*, const size*, const number*, \
            const number*, const size*, const number*, const size*, const number*, number*, \
            const size*, size_t, size_t)
#define C_GEMM(name, number, size)                                                             \
  void name(int, int, int, size, size, size, number, const number*, size, const number*, size, \
            number, number*, size)

FORTRAN_GEMM(dgemm_, double, int);
FORTRAN_GEMM(sgemm_, float, int);
FORTRAN_GEMM(scipy_dgemm_, double, int);
FORTRAN_GEMM(scipy_dgemm_64_, double, int64_t);
FORTRAN_GEMM(dgemm_64_, double, int64_t);
C_GEMM(cblas_dgemm, double, int);
C_GEMM(cblas_sgemm, float, int);
C_GEMM(scipy_cblas_dgemm, double, int);
C_GEMM(scipy_cblas_dgemm64_, double, int64_t);
C_GEMM(cblas_dgemm64_, double, int64_t);

double ddot_(const int*, const double*, const int*, const double*, const int*);
double cblas_ddot(int, const double*, int, const double*, int);
float snrm2_(const int*, const float*, const int*);
int idamax_(const int*, const double*, const int*);
void daxpy_(const int*, const double*, const double*, const int*, double*, const int*);
double complex zdotc_(const int*, const double complex*, const int*, const double complex*,
                      const int*);
void cblas_dtrsm(int, int, int, int, int, int, int, double, const double*, int, double*, int);
