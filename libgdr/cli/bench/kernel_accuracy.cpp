// Errors of every kernel against direct sums in long double, with its clocks.
#include <fmt/format.h>

#include "libgdr/cli/bench/figure.hpp"
#include "libgdr/cli/bench/laws.hpp"

namespace gdr::bench {
namespace {

constexpr std::size_t particles = 1000;

/// The errors of one kernel on one engine; limits are asked of them where there are some.
void add_errors(std::vector<Figure>& list, const Context& context, const Kernel& kernel,
                const Law& law, const Sample& sample, const Columns& right) {
  for (const std::string_view engine : {"vector", "native"}) {
    cli::DeviceChoice choice = context.device;
    choice.engine = engine;
    choice.threads = context.threads;
    Device device = cli::open_device(choice);
    const Columns found = run_law(device, kernel, law, sample, sample);
    const double limit = engine == "native" ? law.native_limit : law.limit;
    for (const LawError& e : compare(law, found, right)) {
      const std::string name = fmt::format("{}, {}: {}", law.kernel, engine, e.quantity);
      list.push_back({name + ", rms", e.rms, "of its rms", {}, limit, true, {}});
      list.push_back({name + ", largest", e.largest, "of its rms", {}, {}, true, {}});
    }
  }
}

}  // namespace

std::vector<Figure> kernel_accuracy(const Context& context) {
  std::vector<Figure> list;
  for (const Law& law : laws()) {
    const Kernel kernel = Kernel::builtin(law.kernel);
    const Sample sample = law.sample(particles, context.seed);
    list.push_back({fmt::format("{}: clocks an interaction", law.kernel),
                    kernel.clocks_per_interaction(),
                    "clocks",
                    fmt::format("{} operations by the usual count", kernel.flops_per_interaction()),
                    {},
                    true,
                    {}});
    add_errors(list, context, kernel, law, sample, direct_law(kernel, law, sample, sample));
  }
  return list;
}

}  // namespace gdr::bench
