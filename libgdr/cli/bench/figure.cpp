// The table of benchmarks, and what its figures have in common.
#include "libgdr/cli/bench/figure.hpp"

#include <algorithm>

#include "libgdr/cli/bench/timing.hpp"

namespace gdr::bench {

std::optional<bool> Figure::met() const {
  if (met_otherwise) return met_otherwise;
  if (!required) return {};
  return lower_is_better ? value <= *required : value >= *required;
}

double median(std::vector<double> values) {
  if (values.empty()) return 0;
  std::sort(values.begin(), values.end());
  const std::size_t middle = values.size() / 2;
  return values.size() % 2 != 0 ? values[middle] : (values[middle - 1] + values[middle]) / 2;
}

std::span<const NamedBenchmark> benchmarks() noexcept {
  static constexpr NamedBenchmark list[] = {
      {"engines", "engines beside native loops, small and first calls", engine_table},
      {"gravity", "gravity by engine, beside a native double loop", gravity_rate},
      {"clocks", "clocks an interaction of the kernels", gravity_clocks},
      {"accuracy", "accelerations of plummer_4096 against its reference file", gravity_accuracy},
      {"numerics", "fast numerics beside exact ones, on plummer_4096", fast_accuracy},
      {"kernels", "every kernel of the library against direct sums in long double",
       kernel_accuracy},
      {"energy", "energy drift of plummer_1024, beside leapfrog in double", energy_drift},
      {"assembler", "lines assembled a second", assembler_rate},
      {"fp", "lines of arithmetic a second", fp_rate},
      {"force-call", "fixed cost of a force call", force_call},
      {"small-calls", "calls with few targets, of the rate of large ones", small_calls},
      {"products", "products of matrices, exact and beside the host's BLAS", matrix_rates},
      {"matrix", "predicted products and LU on one real board at 400 MHz", matrix_predictions},
  };
  return list;
}

}  // namespace gdr::bench
