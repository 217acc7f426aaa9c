// The table of benchmarks, and functions that all of them use.
#include "bench/measurement.hpp"

#include <fmt/format.h>

#include <filesystem>

#include "gdr/error.hpp"

namespace gdr::bench {

std::optional<bool> Measurement::met() const {
  if (met_override) return met_override;
  if (!required) return {};
  return lower_is_better ? value <= *required : value >= *required;
}

Device open_device(const Context& context, std::string_view engine, std::string_view isa,
                   unsigned threads) {
  cli::DeviceChoice choice = context.device;
  if (!engine.empty()) choice.engine = engine;
  if (!isa.empty()) choice.isa = isa;
  choice.threads = threads > 0 ? threads : context.threads;
  return cli::open_device(choice, EngineUse::Benchmark);
}

std::filesystem::path data_folder(const Context& context) {
  return context.data_folder.empty() ? "examples/data" : context.data_folder;
}

bool has_examples(const Context& context) {
  return !context.data_folder.empty() || std::filesystem::exists(data_folder(context));
}

std::string data_file(const Context& context, const std::string& name) {
  const std::filesystem::path path = data_folder(context) / name;
  if (!std::filesystem::exists(path))
    throw Error(ErrorCategory::Io, fmt::format("'{}' is not there: run from the source folder, or "
                                               "name the folder of the example snapshots with "
                                               "--data",
                                               path.string()));
  return path.string();
}

std::span<const NamedBenchmark> benchmarks() noexcept {
  static constexpr NamedBenchmark list[] = {
      {"engines", "engines beside native loops, small and first calls", engine_table},
      {"gravity", "gravity by engine, beside a native double loop", gravity_rate},
      {"clocks", "clocks an interaction of the kernels", gravity_clocks},
      {"accuracy", "accelerations of plummer_4096 against its reference file", gravity_accuracy,
       false, true},
      {"numerics", "fast numerics beside exact ones, on plummer_4096", fast_accuracy, false, true},
      {"kernels", "every kernel of the library against direct sums in long double",
       kernel_accuracy},
      {"kernel-rates", "every kernel of the library on the native engines, of gravity's rate",
       kernel_rates},
      {"energy", "energy drift of plummer_1024, beside leapfrog in double", energy_drift, false,
       true},
      {"hermite", "block steps of the Hermite scheme on plummer_1024: time and energy error",
       block_steps, false, true},
      {"compiler", "loops of the kernel compiler beside their lower bounds, and compile times",
       compiler_quality, false, true},
      {"assembler", "lines assembled a second", assembler_rate},
      {"fp", "lines of arithmetic a second", fp_rate},
      {"force-call", "fixed cost of a force call", force_call},
      {"small-calls", "calls with few targets, of the rate of large ones", small_calls},
      {"few-targets", "1 to 8 targets with 100000 sources, of the rate with 8", few_targets},
      {"sets", "many sets of targets and sources in one call, of the rate of one job", set_calls},
      {"moving", "block steps on a board: bytes and predicted time, by who predicts the sources",
       moving_sources},
      {"lists", "kernels with neighbour lists, of the rate without lists", neighbour_lists},
      {"tables", "gravity by an interpolated table, of the rate of a native loop", table_rates},
      {"gpu", "gravity on a GPU or another OpenCL device, of the rate of a loop in OpenCL",
       gpu_rates},
      {"gpu-sizes", "rates of the GPU engines at sizes that fill a card, and with few targets",
       gpu_sizes},
      {"gpu-products", "products of matrices on a GPU, of a tiled kernel in OpenCL and of native",
       gpu_products},
      {"gpu-instructions",
       "machine code of the GPU kernels: registers, instructions of an interaction",
       gpu_instructions, true},
      {"arm-instructions",
       "machine code for arm64: cycles of an interaction by LLVM's models, of C++ with intrinsics",
       arm_instructions, true, true},
      {"products", "products of matrices, exact and beside the host's BLAS", matrix_rates},
      {"matrix", "predicted products and LU on one real board at 400 MHz", matrix_predictions},
  };
  return list;
}

}  // namespace gdr::bench
