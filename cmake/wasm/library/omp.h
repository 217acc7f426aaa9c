/* OpenMP's functions in a build of one thread. */
#ifndef GDR_WASM_OMP_H
#define GDR_WASM_OMP_H

static inline int omp_get_max_threads(void) { return 1; }
static inline int omp_get_thread_num(void) { return 0; }

#endif
