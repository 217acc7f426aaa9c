// One entry for each routine that is forwarded to the host's BLAS: a jump, so that arguments, results
// and hidden string lengths of any type pass unchanged. A slot holds the address of the routine;
// initially that of gdrblas_lazy, which looks the routine up by its index in names.inc.
#define NAME(name) gdrblas_entry name, __COUNTER__;

.macro gdrblas_entry name, index
  .globl \name
  .type \name, @function
  .balign 16
\name:
  endbr64
  movl $\index, %r11d
  jmp *gdrblas_slots + 8 * \index(%rip)
  .size \name, . - \name
.endm

  .text
#include "names.inc"

// Saves all argument registers, calls gdrblas_resolve(index), restores them and jumps to the result.
  .type gdrblas_lazy, @function
  .balign 16
gdrblas_lazy:
  .cfi_startproc
  endbr64
  pushq %rbp
  .cfi_def_cfa_offset 16
  .cfi_offset %rbp, -16
  movq %rsp, %rbp
  .cfi_def_cfa_register %rbp
  subq $192, %rsp
  movq %rdi, 0(%rsp)
  movq %rsi, 8(%rsp)
  movq %rdx, 16(%rsp)
  movq %rcx, 24(%rsp)
  movq %r8, 32(%rsp)
  movq %r9, 40(%rsp)
  movq %rax, 48(%rsp)  // number of vector registers used by a variadic call
  movaps %xmm0, 64(%rsp)
  movaps %xmm1, 80(%rsp)
  movaps %xmm2, 96(%rsp)
  movaps %xmm3, 112(%rsp)
  movaps %xmm4, 128(%rsp)
  movaps %xmm5, 144(%rsp)
  movaps %xmm6, 160(%rsp)
  movaps %xmm7, 176(%rsp)
  movl %r11d, %edi
  call gdrblas_resolve
  movq %rax, %r11
  movaps 176(%rsp), %xmm7
  movaps 160(%rsp), %xmm6
  movaps 144(%rsp), %xmm5
  movaps 128(%rsp), %xmm4
  movaps 112(%rsp), %xmm3
  movaps 96(%rsp), %xmm2
  movaps 80(%rsp), %xmm1
  movaps 64(%rsp), %xmm0
  movq 48(%rsp), %rax
  movq 40(%rsp), %r9
  movq 32(%rsp), %r8
  movq 24(%rsp), %rcx
  movq 16(%rsp), %rdx
  movq 8(%rsp), %rsi
  movq 0(%rsp), %rdi
  leave
  .cfi_def_cfa %rsp, 8
  jmp *%r11
  .cfi_endproc
  .size gdrblas_lazy, . - gdrblas_lazy

#undef NAME
#define NAME(name) .quad gdrblas_lazy;
  .section .data.rel.local, "aw", @progbits
  .balign 8
  .globl gdrblas_slots
  .hidden gdrblas_slots
  .type gdrblas_slots, @object
gdrblas_slots:
#include "names.inc"
  .size gdrblas_slots, . - gdrblas_slots

  .section .note.GNU-stack, "", @progbits
