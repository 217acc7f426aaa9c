// Counting, and the output at exit.
#include "libgdr/compat/blas/statistics.hpp"

#include <atomic>
#include <cstdio>

#include "libgdr/compat/blas/settings.hpp"

namespace gdr::blas {
namespace {

struct Counts {
  std::atomic<std::uint64_t> device{0}, host{0};
  std::atomic<double> flops{0};
};
// Constant-initialised and trivially destroyed: usable at any time.
constinit Counts counts[routines];

[[gnu::destructor]] void print() {
  if (!settings().statistics) return;
  for (std::size_t r = 0; r < routines; ++r) {
    if (counts[r].device + counts[r].host == 0) continue;
    char line[160];
    std::snprintf(line, sizeof line, "%s device=%llu host=%llu flops=%.0f", routine_names[r],
                  static_cast<unsigned long long>(counts[r].device),
                  static_cast<unsigned long long>(counts[r].host), counts[r].flops.load());
    report(line);
  }
}

}  // namespace

void count(Routine routine, ComputedOn where, double flops) noexcept {
  Counts& to = counts[static_cast<std::size_t>(routine)];
  (where == ComputedOn::Device ? to.device : to.host).fetch_add(1, std::memory_order_relaxed);
  to.flops.fetch_add(flops, std::memory_order_relaxed);
}

void reset_statistics() noexcept {
  for (Counts& of : counts) of.device = 0, of.host = 0, of.flops = 0;
}

}  // namespace gdr::blas
