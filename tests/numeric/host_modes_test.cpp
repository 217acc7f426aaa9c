// Results do not depend on the calling thread's floating-point environment.
#include <array>
#include <bit>
#include <cfenv>
#include <vector>

#if defined(__SSE2__)
#include <immintrin.h>
#endif

#include "emulator/numeric/convert.hpp"
#include "emulator/numeric/float.hpp"
#include "support/catch.hpp"
#include "support/oracle_cases.hpp"

namespace {

using namespace gdr;  // NOLINT: the names under test

constexpr std::array conversions{
    Conversion{HostType::F64, MachineFormat::FloatLong, 0},
    Conversion{HostType::F64, MachineFormat::FloatShort, 0},
    Conversion{HostType::F32, MachineFormat::FloatLong, 0},
    Conversion{HostType::F32, MachineFormat::FloatShort, 0},
    Conversion{HostType::F64, MachineFormat::Fixed, 0},
    Conversion{HostType::F64, MachineFormat::Fixed, 40},
    Conversion{HostType::I64, MachineFormat::Integer, 0},
};

/// All results of arithmetic and conversions for a fixed set of operands.
std::vector<u128> fingerprint() {
  std::vector<u128> words;
  oracle::Cases cases(31);
  for (int i = 0; i < 20'000; ++i) {
    const Long a{cases.word(oracle::long_format).bits};
    const Long b{cases.word(oracle::long_format).bits};
    Flags flags = no_flags;
    for (const auto op : {fadd, fsub, fmul, dmul, fmax, fmin}) {
      words.push_back(op(a, b, Width::Long, flags).bits);
      words.push_back(op(a, b, Width::Short, flags).bits);
    }
    for (const auto conversion : conversions) {
      const auto format =
          conversion.host == HostType::F32 ? oracle::single_format : oracle::double_format;
      const auto host = cases.word(format).bits;
      words.push_back(to_machine(conversion, Width::Long, host, flags));
      words.push_back(to_machine(conversion, Width::Short, host, flags));
      words.push_back(to_host(conversion, Width::Long, a.bits, flags));
      words.push_back(to_host(conversion, Width::Short, upper_half(b).bits, flags));
    }
    words.push_back(flags);
  }
  return words;
}

/// Restores the thread's floating-point environment at the end of its scope.
class KeepEnvironment {
 public:
  KeepEnvironment() { std::fegetenv(&kept_); }
  ~KeepEnvironment() { std::fesetenv(&kept_); }
  KeepEnvironment(const KeepEnvironment&) = delete;
  KeepEnvironment& operator=(const KeepEnvironment&) = delete;

 private:
  std::fenv_t kept_;
};

}  // namespace

TEST_CASE("the host's rounding mode has no effect", "[numeric]") {
  const auto expected = fingerprint();
  for (const int mode : {FE_UPWARD, FE_DOWNWARD, FE_TOWARDZERO}) {
    const KeepEnvironment keep;
    REQUIRE(std::fesetround(mode) == 0);
    const bool same = fingerprint() == expected;
    std::fesetround(FE_TONEAREST);
    INFO("mode " << mode);
    CHECK(same);
  }
}

#if defined(__SSE2__)
TEST_CASE("the host's flush-to-zero mode and traps have no effect", "[numeric]") {
  const auto expected = fingerprint();
  const KeepEnvironment keep;
  const unsigned before = _mm_getcsr();
  constexpr unsigned flush_to_zero = 0x8000;
  constexpr unsigned denormals_are_zeros = 0x0040;
  constexpr unsigned masks = 0x1f80;  // a clear bit lets the exception trap
  _mm_setcsr((before & ~0x3fU) | flush_to_zero | denormals_are_zeros);
  const bool same_flushed = fingerprint() == expected;
  _mm_setcsr((before & ~0x3fU) & ~masks);
  const bool same_trapping = fingerprint() == expected;
  _mm_setcsr(before);
  CHECK(same_flushed);
  CHECK(same_trapping);
}
#endif
