/* The matrix product of the original GRAPE-DR library, on the devices of libgdr.
 *
 * Link with -lgdrdgemm (-lsing and -lhib are the same library). The names and the order of
 * arguments of gdr_dgemm_ are the original's, as in its public callers. No public source describes
 * the other functions of the original beyond their names; the comments below define them here.
 * Every function may be called from several threads (products run one at a time) and from Fortran,
 * under its name with a trailing underscore (gdr_dgemm_ under its own name).
 *
 * Environment: GDR_DEVICE (the device; else "emulator"), GDR_ENGINE (else "native"),
 * GDR_DGEMM_PRECISION: "chip" (the default: the leading 50 bits of each factor count) or "full"
 * (all 53).
 */
#ifndef GDRDGEMM_H
#define GDRDGEMM_H

#ifdef __cplusplus
extern "C" {
#endif

/* C = alpha op(A) op(B) + beta C, by the rules of BLAS: matrices are stored by columns, op(A) has m
 * rows and k columns, op(B) k rows and n columns. *nota and *notb are 1 for the matrix, 0 for its
 * transpose. *done becomes 1 if the board computed the product, else 0, and the caller must compute
 * the product itself. C is unchanged then, unless a board failed during the product: C may be
 * partly written, which the message states. */
void gdr_dgemm_(const int* nota, const int* notb, const int* m, const int* n, const int* k,
                const double* alpha, const double* beta, const int* lda, const int* ldb,
                const int* ldc, const double* a, const double* b, double* c, int* done);

/* Open the boards, and close them. The first product opens them, too; a product after gdr_free
 * opens them again. */
void gdr_init(void);
void gdr_free(void);

/* The first board of this process (from 0), and the number of boards (at least 1; GDR_DEVICE
 * overrides it). Open boards are closed, and opened again by the next product. All boards of the
 * emulator are equal: messages contain the number of the first. */
void gdrsetboardid(int board);
void gdrsetnboards(int boards);

/* Choose the factor in the memories of the boards, from which it is broadcast while the PEs hold
 * tiles of the other factor: A, or (force swap) B. The result is the same. */
void gdrsetforceswapab(void);
void gdrresetforceswapab(void);

/* While skip-send is set, that factor is not sent again if it is unchanged since the last product:
 * same address, shape and elements (checked by a checksum). */
void gdrsetskipsendjmat(void);
void gdrresetskipsendjmat(void);

/* Messages on standard error: 0 none; 1 reasons for failed products (the default; repeated messages
 * are printed once); 2 and more also a line for every product. They contain the process number. */
void set_matmul_msg_level(int level);
void gdrdgemm_set_procname(int process);

/* Accepted without effect: the emulator needs no stress test. */
void gdrdgemm_set_stress_factor(int factor);

/* The same functions for Fortran. */
void gdr_init_(void);
void gdr_free_(void);
void gdrsetboardid_(const int* board);
void gdrsetnboards_(const int* boards);
void gdrsetforceswapab_(void);
void gdrresetforceswapab_(void);
void gdrsetskipsendjmat_(void);
void gdrresetskipsendjmat_(void);
void set_matmul_msg_level_(const int* level);
void gdrdgemm_set_procname_(const int* process);
void gdrdgemm_set_stress_factor_(const int* factor);

#ifdef __cplusplus
}
#endif

#endif /* GDRDGEMM_H */
