// The functions of the original library.
#pragma GCC visibility push(default)
#include "libgdr/compat/dgemm/gdrdgemm.h"
#pragma GCC visibility pop

#include "libgdr/compat/dgemm/boards.hpp"

namespace {

gdr::compat::Boards& boards() { return gdr::compat::Boards::of_process(); }

}  // namespace

void gdr_dgemm_(const int* nota, const int* notb, const int* m, const int* n, const int* k,
                const double* alpha, const double* beta, const int* lda, const int* ldb,
                const int* ldc, const double* a, const double* b, double* c, int* done) {
  if (done != nullptr) *done = 0;
  const bool did = boards().multiply({nota, notb, m, n, k, alpha, beta, lda, ldb, ldc, a, b, c});
  if (done != nullptr && did) *done = 1;
}

void gdr_init() { boards().open(); }
void gdr_free() { boards().close(); }
void gdrsetboardid(int board) { boards().set_board(board); }
void gdrsetnboards(int number) { boards().set_boards(number); }
void gdrsetforceswapab() { boards().set_swap(true); }
void gdrresetforceswapab() { boards().set_swap(false); }
void gdrsetskipsendjmat() { boards().set_skip(true); }
void gdrresetskipsendjmat() { boards().set_skip(false); }
void set_matmul_msg_level(int level) { boards().set_level(level); }
void gdrdgemm_set_procname(int process) { boards().set_process(process); }
void gdrdgemm_set_stress_factor(int) {}

void gdr_init_() { gdr_init(); }
void gdr_free_() { gdr_free(); }
void gdrsetboardid_(const int* board) { gdrsetboardid(*board); }
void gdrsetnboards_(const int* number) { gdrsetnboards(*number); }
void gdrsetforceswapab_() { gdrsetforceswapab(); }
void gdrresetforceswapab_() { gdrresetforceswapab(); }
void gdrsetskipsendjmat_() { gdrsetskipsendjmat(); }
void gdrresetskipsendjmat_() { gdrresetskipsendjmat(); }
void set_matmul_msg_level_(const int* level) { set_matmul_msg_level(*level); }
void gdrdgemm_set_procname_(const int* process) { gdrdgemm_set_procname(*process); }
void gdrdgemm_set_stress_factor_(const int* factor) { gdrdgemm_set_stress_factor(*factor); }
