// Loops that are compiled for several instruction sets.
#pragma once

/// Compiles a function for several instruction sets; one is chosen when the library is loaded. Only
/// for functions whose results are the same with all of them: compile their file with
/// -ffp-contract=off.
#if defined(__x86_64__) && defined(__GNUC__) && !defined(__clang__) && !defined(__SANITIZE_THREAD__)
#define GDR_FOR_EACH_ISA __attribute__((target_clones("avx512f", "avx2", "default")))
#else
#define GDR_FOR_EACH_ISA
#endif
