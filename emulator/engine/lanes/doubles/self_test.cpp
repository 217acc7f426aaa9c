// Self-test of the host's exception flags: sums with known results and flags.
#include <array>
#include <cmath>

#if defined(__x86_64__)
#include <immintrin.h>
#endif

#include "emulator/engine/lanes/doubles/verified.hpp"
#include "emulator/host/float_mode.hpp"

namespace gdr {

#if defined(__x86_64__)
constexpr unsigned all_flags = 0x3f;
unsigned raised_flags() noexcept { return _mm_getcsr() & all_flags; }
void clear_flags() noexcept { _mm_setcsr(_mm_getcsr() & ~all_flags); }
#elif defined(__aarch64__)
/// FPSR has the flags of invalid operations, overflow and underflow at other bits. A result that
/// FPCR's FZ flushes to zero raises underflow only, not inexact.
unsigned raised_flags() noexcept {
  std::uint64_t fpsr;
  asm volatile("mrs %0, fpsr" : "=r"(fpsr) : : "memory");
  constexpr unsigned invalid = 0x1, overflow = 0x4, underflow = 0x8, inexact = 0x10;
  const auto raised = static_cast<unsigned>(fpsr);
  return (raised & invalid) | (raised & (overflow | underflow | inexact)) << 1;
}
void clear_flags() noexcept { asm volatile("msr fpsr, %0" : : "r"(std::uint64_t{0}) : "memory"); }
#else
unsigned raised_flags() noexcept { return 0; }
void clear_flags() noexcept {}
#endif

namespace {

/// Frame of one row for each of h, l, b and the results.
struct KernelTest {
  alignas(64) std::array<double, 5 * 32> rows{};
  std::array<DoublesOp, 2> ops;  ///< the tested operation, and the end
  DoublesRun run;

  KernelTest(double h, double l, double b) {
    for (std::size_t i = 0; i < 32; ++i) {
      rows[i] = h;
      rows[32 + i] = l;
      rows[64 + i] = b;
    }
    constexpr auto row = static_cast<std::uint32_t>(32 * sizeof(double));
    DoublesOp& op = ops[0];
    op.elements = 1;
    op.lanes = 32;
    op.a = {0, row, row};
    op.b = {2 * row, 2 * row, row};
    op.out = {3 * row, 4 * row, row};
    run.frame = reinterpret_cast<std::byte*>(rows.data());
  }

  /// True if flags and failure bits report an exact result.
  bool is_exact(DoublesKernel kernel, unsigned failure_flags) {
    clear_flags();
    ops[0].kernel = kernel;
    ops[1].kernel = stop;
    kernel(ops[0], run);
    return (raised_flags() & failure_flags) == 0 && run.failure == 0;
  }
  double h() const { return rows[96]; }
  double l() const { return rows[128]; }
};

bool sums_hold(const DoublesKernels& k) {
  const auto& add = k.sum[0][2][0];
  KernelTest exact(1.5, 0x1p-55, 0x1.8p-20);
  if (!exact.is_exact(add[1].always, k.failure_flags)) return false;
  if (exact.h() != 1.5 + 0x1.8p-20 || exact.l() != 0x1p-55) return false;
  KernelTest rounded(1.5, 0x1p-55, 0x1.000002p-59);  // ends below the 60th place, and rounds there
  if (!rounded.is_exact(add[1].always, k.failure_flags)) return false;
  if (rounded.h() != 1.5 || rounded.l() != 0x1p-55 + 0x1p-59) return false;
  KernelTest far(1.5, 0x1p-55, 0x1.000002p-150);  // the tail would need more than a double
  if (far.is_exact(add[1].always, k.failure_flags)) return false;
  KernelTest tiny(0x1p-1018, 0, 0x1p-1022);
  if (tiny.is_exact(add[1].always, k.failure_flags)) return false;
  KernelTest overflow(0x1p1023, 0, 0x1p1023);
  return !overflow.is_exact(add[1].always, k.failure_flags) || std::isnan(overflow.h());
}

bool shorts_hold(const DoublesKernels& k) {
  const DoublesKernel mul = k.product[0][0][0][0].always;
  const DoublesKernel add = k.sum[0][0][0][0].always;
  KernelTest tie(1.0, 0, 0x1p-25);
  if (!tie.is_exact(add, k.failure_flags) || tie.h() != 1.0) return false;
  KernelTest up(1.0 + 0x1p-24, 0, 0x1p-25);
  if (!up.is_exact(add, k.failure_flags) || up.h() != 1.0 + 0x1p-23) return false;
  KernelTest zero(-0.0, 0, 0x1.8p3);
  return zero.is_exact(mul, k.failure_flags) && std::signbit(zero.h()) && zero.h() == 0;
}

[[maybe_unused]] bool exception_flags_work(const DoublesKernels& kernels) {
  const MachineFloatMode mode;
  return sums_hold(kernels) && shorts_hold(kernels);
}

}  // namespace

const DoublesKernels* verified_doubles_kernels([[maybe_unused]] Isa isa,
                                               [[maybe_unused]] std::uint32_t batch) {
#if defined(__x86_64__)
  if (isa == Isa::Avx512) {
    static const bool hold = exception_flags_work(doubles_kernels_avx512(wide_batch));
    return hold ? &doubles_kernels_avx512(batch) : nullptr;
  }
  if (isa == Isa::Avx2) {
    static const bool hold = exception_flags_work(doubles_kernels_avx2(wide_batch));
    return hold ? &doubles_kernels_avx2(batch) : nullptr;
  }
#elif defined(__aarch64__)
  if (isa == Isa::Neon) {
    static const bool hold = exception_flags_work(doubles_kernels_neon(wide_batch));
    return hold ? &doubles_kernels_neon(batch) : nullptr;
  }
#endif
  return nullptr;
}

}  // namespace gdr
