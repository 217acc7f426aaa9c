// The results of benchmarks, what is required of them, and the table of all benchmarks.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "libgdr/cli/device_choice.hpp"

namespace gdr::bench {

/// One measured number.
struct Measurement {
  std::string name;  ///< quantity, in words
  double value = 0;
  std::string unit{};
  std::string comment{};             ///< method or comparison, may be empty
  std::optional<double> required{};  ///< limit: lower, or upper if `lower_is_better`
  bool lower_is_better = false;
  std::optional<bool> met_override{};  ///< result of a requirement that one number cannot state
  std::vector<std::pair<std::string, double>>
      further{};  ///< names and values, in the same unit or none

  /// Whether the requirement is met; nothing where there is none.
  std::optional<bool> met() const;
};

/// Options that all benchmarks share.
struct Context {
  cli::DeviceChoice device;
  std::uint64_t seed = 1;
  unsigned repetitions = 5;
  unsigned threads = 1;          ///< threads of the emulator and of the native loop
  std::string data_folder = {};  ///< example snapshots; empty: that of a source tree
};

/// Open the context's device with another engine, instruction set or number of threads; empty and
/// 0: those of the context.
Device open_device(const Context& context, std::string_view engine = {}, std::string_view isa = {},
                   unsigned threads = 0);

/// Folder of the example snapshots.
std::filesystem::path data_folder(const Context& context);

/// Whether a folder of example snapshots is named, or this is the root of a source tree.
bool has_examples(const Context& context);

/// Path of an example snapshot. Throws Error (Io) if it is not there.
std::string data_file(const Context& context, const std::string& name);

using Benchmark = std::vector<Measurement> (*)(const Context& context);

/// A benchmark that can be named on the command line.
struct NamedBenchmark {
  std::string_view name, summary;
  Benchmark run;
  bool only_by_name = false;    ///< takes minutes: not one of those that run without names
  bool reads_examples = false;  ///< needs the example snapshots, or the sources beside them
};
std::span<const NamedBenchmark> benchmarks() noexcept;

std::vector<Measurement> engine_table(const Context& context);
std::vector<Measurement> gravity_rate(const Context& context);
std::vector<Measurement> gravity_clocks(const Context& context);
std::vector<Measurement> compiler_quality(const Context& context);
std::vector<Measurement> assembler_rate(const Context& context);
std::vector<Measurement> fp_rate(const Context& context);
std::vector<Measurement> force_call(const Context& context);
std::vector<Measurement> small_calls(const Context& context);
std::vector<Measurement> few_targets(const Context& context);
std::vector<Measurement> moving_sources(const Context& context);
std::vector<Measurement> set_calls(const Context& context);
std::vector<Measurement> neighbour_lists(const Context& context);
std::vector<Measurement> table_rates(const Context& context);
std::vector<Measurement> gpu_rates(const Context& context);
std::vector<Measurement> gpu_sizes(const Context& context);
std::vector<Measurement> gpu_products(const Context& context);
std::vector<Measurement> gpu_instructions(const Context& context);
std::vector<Measurement> arm_instructions(const Context& context);
std::vector<Measurement> gravity_accuracy(const Context& context);
std::vector<Measurement> fast_accuracy(const Context& context);
std::vector<Measurement> kernel_accuracy(const Context& context);
std::vector<Measurement> kernel_rates(const Context& context);
std::vector<Measurement> energy_drift(const Context& context);
std::vector<Measurement> block_steps(const Context& context);
std::vector<Measurement> matrix_rates(const Context& context);
std::vector<Measurement> matrix_predictions(const Context& context);

}  // namespace gdr::bench
