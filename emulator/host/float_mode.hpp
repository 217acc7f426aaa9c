// The floating-point modes of a thread: for emulated arithmetic, and for the host's own.
#pragma once

#include <cstdint>
#include <optional>
#if defined(__x86_64__)
#include <immintrin.h>
#endif

namespace gdr {

/// The register of a thread's floating-point mode. On other hosts than x86-64 and AArch64 the mode
/// stays as it is.
struct FloatMode {
#if defined(__x86_64__)
  using Bits = unsigned;
  static constexpr Bits machine = 0x9fc0, host = 0x1f80, flags = 0x3f;
  static Bits get() { return _mm_getcsr(); }
  static void set(Bits mode) { _mm_setcsr(mode); }
#elif defined(__aarch64__)
  // FPCR, and in the upper half FPSR with the flags of exceptions.
  using Bits = std::uint64_t;
  static constexpr Bits machine = Bits{1} << 24, host = 0, flags = Bits{0xffffffff} << 32;  // FZ
  static Bits get() {
    Bits mode, status;
    asm volatile("mrs %0, fpcr\n\tmrs %1, fpsr" : "=r"(mode), "=r"(status) : : "memory");
    return mode | status << 32;
  }
  static void set(Bits mode) {
    asm volatile("msr fpcr, %0\n\tmsr fpsr, %1" : : "r"(mode & ~flags), "r"(mode >> 32) : "memory");
  }
#else
  using Bits = unsigned;
  static constexpr Bits machine = 0, host = 0, flags = 0;
  static Bits get() { return 0; }
  static void set(Bits) {}
#endif
};

/// Sets the mode for a scope; the caller's is restored at its end.
class FloatModeScope {
 public:
  explicit FloatModeScope(FloatMode::Bits mode) : saved_(FloatMode::get()) { FloatMode::set(mode); }
  ~FloatModeScope() { FloatMode::set(saved_); }
  FloatModeScope(const FloatModeScope&) = delete;
  FloatModeScope& operator=(const FloatModeScope&) = delete;

 private:
  FloatMode::Bits saved_;
};

/// Emulated arithmetic: rounding to nearest, zeros for subnormals on both sides, all exceptions
/// masked.
class MachineFloatMode : FloatModeScope {
 public:
  MachineFloatMode() : FloatModeScope(FloatMode::machine) {}
};

/// The host's own arithmetic: rounding to nearest, with subnormals, all exceptions masked.
/// Functions that users call begin with it, so that results do not depend on the mode of their
/// thread. Where that is already so, as nearly everywhere, it only costs to read the mode.
class HostFloatMode {
 public:
  HostFloatMode() {
    if (!is_host_mode(FloatMode::get())) changed_.emplace(FloatMode::host);
  }

 private:
  /// Without the flags of exceptions that have occurred.
  static bool is_host_mode(FloatMode::Bits mode) {
    return (mode & ~FloatMode::flags) == (FloatMode::host & ~FloatMode::flags);
  }
  std::optional<FloatModeScope> changed_;
};

}  // namespace gdr
