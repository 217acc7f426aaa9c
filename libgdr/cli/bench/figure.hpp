// What a benchmark gives: figures with what is required beside what was measured.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "libgdr/cli/options.hpp"

namespace gdr::bench {

/// One measured number.
struct Figure {
  std::string name;  ///< what was measured
  double value = 0;
  std::string unit;
  std::string comment;  ///< how, or beside what; may be empty
  /// The limit that it must keep, where there is one: at least, or at most (`lower_is_better`).
  std::optional<double> required;
  bool lower_is_better = false;
  /// Overrides the comparison, for requirements that name two figures of which one is enough.
  std::optional<bool> met_otherwise;

  /// Nothing where nothing is required.
  std::optional<bool> met() const;
};

/// What all benchmarks are told.
struct Context {
  cli::DeviceChoice device;
  std::uint64_t seed = 1;
  unsigned repetitions = 5;
  unsigned threads = 1;  ///< that the emulator and the native loop use
  std::string data_folder;
};

using Benchmark = std::vector<Figure> (*)(const Context& context);

/// A benchmark that can be named on the command line.
struct NamedBenchmark {
  std::string_view name, summary;
  Benchmark run;
};
std::span<const NamedBenchmark> benchmarks() noexcept;

std::vector<Figure> engine_table(const Context& context);
std::vector<Figure> gravity_rate(const Context& context);
std::vector<Figure> gravity_clocks(const Context& context);
std::vector<Figure> assembler_rate(const Context& context);
std::vector<Figure> fp_rate(const Context& context);
std::vector<Figure> force_call(const Context& context);
std::vector<Figure> small_calls(const Context& context);
std::vector<Figure> gravity_accuracy(const Context& context);
std::vector<Figure> fast_accuracy(const Context& context);
std::vector<Figure> kernel_accuracy(const Context& context);
std::vector<Figure> energy_drift(const Context& context);
std::vector<Figure> matrix_rates(const Context& context);
std::vector<Figure> matrix_predictions(const Context& context);

}  // namespace gdr::bench
