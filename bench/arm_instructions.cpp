// Machine code for AArch64 with NEON: cycles of an interaction by LLVM's models of processors,
// beside the same loops in C++ with NEON's intrinsics. Needs no arm64 host.
#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <limits>
#include <string>
#include <vector>

#include "bench/arm_code/arm_loops.hpp"
#include "bench/arm_code/engine_loops.hpp"
#include "bench/measurement.hpp"
#include "gdr/error.hpp"
#include "gdr/kernel.hpp"

namespace gdr::bench {
namespace {

constexpr std::string_view processors[] = {"neoverse-n2", "apple-m1", "a64fx"};
/// The one whose cycles have limits.
constexpr std::string_view judged = "neoverse-n2";
constexpr double required_of_native = 0.95, required_of_exact = 0.12;

struct ComparedKernel {
  std::string_view kernel, law;
};
constexpr ComparedKernel compared[] = {
    {"gravity", "GravityLaw"}, {"gravity_jerk", "JerkLaw"}, {"lennard_jones", "LennardJonesLaw"}};

/// A loop with instructions; else `what` is missing.
ArmLoop found(ArmLoop loop, const std::string& what) {
  if (loop.empty()) throw Error(ErrorCategory::Internal, "no loop for arm64 of " + what);
  return loop;
}

double cycles_each(const ArmTools& tools, const ArmLoop& loop, std::string_view processor) {
  return tools.cycles(loop, processor) / loop.interactions;
}

/// The fastest of the loops that the compiler made.
double min_cycles(const ArmTools& tools, const std::vector<ArmLoop>& loops,
                  std::string_view processor) {
  double least = std::numeric_limits<double>::infinity();
  for (const ArmLoop& loop : loops) least = std::min(least, cycles_each(tools, loop, processor));
  return least;
}

void add_native(std::vector<Measurement>& list, const ArmTools& tools, const ComparedKernel& k,
                const std::string& assembly, bool floats) {
  const std::string name = fmt::format("{}, native{}", k.kernel, floats ? "-float" : "");
  const ArmLoop loop = found(native_loop_for_arm(tools, std::string(k.kernel), floats), name);
  const std::string_view vector_type = floats ? "Float4" : "Double2";
  const std::vector<ArmLoop> others = native_arm_loops(assembly, vector_type, k.law);
  if (others.empty())
    throw Error(ErrorCategory::Internal,
                fmt::format("the compiler's assembly of bench/native/neon.cpp has no loop with {} "
                            "and {} among functions pair_loop",
                            vector_type, k.law));
  for (const std::string_view processor : processors) {
    const double cycles = cycles_each(tools, loop, processor);
    const double other = min_cycles(tools, others, processor);
    Measurement made{fmt::format("{}, {}", name, processor), other / cycles,
                     "of C++ with intrinsics"};
    made.further = {
        {"cycles", cycles},
        {"cycles in C++", other},
        {"instructions", static_cast<double>(loop.instructions.size()) / loop.interactions}};
    if (processor == judged) made.required = required_of_native;
    list.push_back(std::move(made));
  }
}

void add_exact(std::vector<Measurement>& list, const ArmTools& tools, const ComparedKernel& k) {
  const std::string kernel(k.kernel);
  const ArmLoop exact = found(exact_loop_for_arm(tools, kernel), kernel + ", vector");
  const ArmLoop native = found(native_loop_for_arm(tools, kernel, false), kernel + ", native");
  for (const std::string_view processor : processors) {
    const double cycles = cycles_each(tools, exact, processor);
    Measurement made{fmt::format("{}, vector, {}", k.kernel, processor),
                     cycles_each(tools, native, processor) / cycles, "of native"};
    made.further = {
        {"cycles", cycles},
        {"instructions", static_cast<double>(exact.instructions.size()) / exact.interactions}};
    if (processor == judged && k.kernel == "gravity") made.required = required_of_exact;
    list.push_back(std::move(made));
  }
}

/// Loops of the native engines only: those of the exact one have more values than registers.
void add_spills(std::vector<Measurement>& list) {
  double moves = 0;
  std::string kernels;
  for (const std::string& name : Kernel::builtin_names()) {
    for (const bool floats : {false, true}) {
      const std::size_t spills = spills_for_arm(name, floats);
      if (spills == 0) continue;
      moves += static_cast<double>(spills);
      kernels += fmt::format("{}{}{} ({})", kernels.empty() ? "" : ", ", name,
                             floats ? " in floats" : "", spills);
    }
  }
  list.push_back({"moves of spilled registers, all kernels", moves, "moves", kernels, 0, true});
}

}  // namespace

std::vector<Measurement> arm_instructions(const Context& context) {
  const ArmTools tools;
  std::vector<Measurement> list;
  if (tools.missing().empty()) {
    const std::filesystem::path sources = data_folder(context) / "../..";
    const std::string assembly =
        tools.compiled((sources / "bench/native/neon.cpp").string(), sources.string());
    for (const ComparedKernel& k : compared) {
      for (const bool floats : {false, true}) add_native(list, tools, k, assembly, floats);
      add_exact(list, tools, k);
    }
  } else {
    list.push_back({"loops for arm64", 0, "", "not counted: " + tools.missing()});
  }
  add_spills(list);
  return list;
}

}  // namespace gdr::bench
