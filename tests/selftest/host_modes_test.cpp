// Engines neither depend on nor change the calling thread's floating-point environment: rounding,
// flushing to zero, and flags.
#include <cfenv>
#include <memory>
#include <vector>

#if defined(__SSE2__)
#include <immintrin.h>
#endif

#include "emulator/selftest/case.hpp"
#include "support/catch.hpp"

namespace gdr::test {
namespace {

class KeepEnvironment {
 public:
  KeepEnvironment() { std::fegetenv(&kept_); }
  ~KeepEnvironment() { std::fesetenv(&kept_); }
  KeepEnvironment(const KeepEnvironment&) = delete;
  KeepEnvironment& operator=(const KeepEnvironment&) = delete;

 private:
  std::fenv_t kept_{};
};

/// The visible settings of the floating-point unit: rounding, and on x86 all control bits.
std::vector<unsigned> settings() {
  std::vector<unsigned> list{static_cast<unsigned>(std::fegetround())};
#if defined(__SSE2__)
  list.push_back(_mm_getcsr() & ~0x3FU);
#endif
  return list;
}

struct Mode {
  const char* name;
  void (*set)();
};

const Mode modes[] = {
    {"rounding up", [] { std::fesetround(FE_UPWARD); }},
    {"rounding to zero", [] { std::fesetround(FE_TOWARDZERO); }},
    {"flags raised", [] { std::feraiseexcept(FE_ALL_EXCEPT); }},
#if defined(__SSE2__)
    {"flushing to zero", [] { _mm_setcsr(_mm_getcsr() | 0x8040U); }},
#endif
};

}  // namespace

TEST_CASE("engines neither depend on nor change the host's floating-point settings") {
  const auto reference = make_engine("reference");
  for (const Isa isa : host_isas()) {
    const auto engine = make_engine("vector", isa_name(isa));
    for (const Mode& mode : modes) {
      for (std::uint64_t seed = 0; seed < 12; ++seed) {
        const selftest::Case test =
            seed % 2 == 0 ? selftest::loop_case(seed) : selftest::operation_case(seed);
        const BlockState expected = run_case(*reference, test);
        const KeepEnvironment keep;
        mode.set();
        const auto before = settings();
        const bool raised = std::fetestexcept(FE_INEXACT) != 0;
        const BlockState got = run_case(*engine, test);
        const auto after = settings();
        const bool still_raised = std::fetestexcept(FE_INEXACT) != 0;
        std::fesetround(FE_TONEAREST);
        INFO(isa_name(isa) << ", " << mode.name << ", seed " << seed);
        CHECK(got == expected);
        CHECK(after == before);
        // Flags that the user's code raised remain set.
        CHECK((!raised || still_raised));
      }
    }
  }
}

}  // namespace gdr::test
