// The host's floating-point mode for emulated arithmetic.
#pragma once

#include <cstdint>
#if defined(__x86_64__)
#include <immintrin.h>
#endif

namespace gdr {

/// Rounding to nearest, zeros for subnormals on both sides, all exceptions masked; the caller's
/// mode is restored at the end of the scope. The mode is that of the thread. On other hosts than
/// x86-64 and AArch64 the mode stays as it is.
class MachineFloatMode {
 public:
  MachineFloatMode() : MachineFloatMode(machine_mode) {}
  ~MachineFloatMode() { set_mode(saved_); }
  MachineFloatMode(const MachineFloatMode&) = delete;
  MachineFloatMode& operator=(const MachineFloatMode&) = delete;

 protected:
#if defined(__x86_64__)
  using Mode = unsigned;
  static constexpr Mode machine_mode = 0x9fc0, host_mode = 0x1f80;
  static Mode mode() { return _mm_getcsr(); }
  static void set_mode(Mode mode) { _mm_setcsr(mode); }
#elif defined(__aarch64__)
  using Mode = std::uint64_t;
  static constexpr Mode machine_mode = Mode{1} << 24, host_mode = 0;  // FZ
  static Mode mode() {
    Mode mode;
    asm volatile("mrs %0, fpcr" : "=r"(mode));
    return mode;
  }
  static void set_mode(Mode mode) { asm volatile("msr fpcr, %0" : : "r"(mode)); }
#else
  using Mode = unsigned;
  static constexpr Mode machine_mode = 0, host_mode = 0;
  static Mode mode() { return 0; }
  static void set_mode(Mode) {}
#endif
  explicit MachineFloatMode(Mode mode_of_scope) : saved_(mode()) { set_mode(mode_of_scope); }

 private:
  Mode saved_;
};

/// The same for the host's own arithmetic: rounding to nearest, with subnormals, all exceptions
/// masked.
class HostFloatMode : public MachineFloatMode {
 public:
  HostFloatMode() : MachineFloatMode(host_mode) {}
};

}  // namespace gdr
