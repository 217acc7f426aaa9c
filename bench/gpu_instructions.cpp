// Machine code of GPU kernels: registers, and instructions of an interaction. Needs no GPU.
#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <string>
#include <vector>

#include "bench/gpu_code/texts.hpp"
#include "bench/gpu_code/toolchain.hpp"
#include "bench/measurement.hpp"
#include "emulator/host/gpu/device.hpp"
#include "emulator/host/parallel.hpp"

namespace gdr::bench {
namespace {

/// A text with its place in the table.
struct Row {
  std::string kernel;
  std::string_view engine;
  LoopText loop;
  bool is_product = false;
  std::optional<MachineCode> code{};
};

/// What one interaction of gravity may take, so that exact and native forces reach the rates for
/// which the kernels were designed.
struct Limit {
  std::string_view engine;
  std::optional<double> instructions, on_doubles;
};
constexpr Limit limits_of_gravity[] = {{"gpu-exact", 250, 130}, {"gpu", 24, std::nullopt}};

std::vector<Row> rows(const Context& context, bool doubles) {
  std::vector<Row> all;
  for (const std::string_view engine : {"gpu", "gpu-float", "gpu-exact"}) {
    if (!doubles && engine != "gpu-float") continue;
    for (const std::string& name : Kernel::builtin_names())
      all.push_back({name, engine, loop_text(context, engine, Kernel::builtin(name))});
    for (std::string& text : product_texts(context, engine))
      all.push_back({"matrix product", engine, {std::move(text)}, true});
  }
  return all;
}

/// The loop that a thread is in most of the time.
const LoopCode& main_loop(const Row& row) {
  return *std::ranges::max_element(row.code->loops, {}, [&](const LoopCode& loop) {
    return row.is_product ? loop.fused() : loop.shortest_way.size();
  });
}

void add(std::vector<Measurement>& list, const Row& row) {
  const std::string name = fmt::format("{}, {}", row.kernel, row.engine);
  if (row.loop.text.empty()) {
    list.push_back({name, 0, "", "on the processor"});
    return;
  }
  if (!row.code || row.code->loops.empty()) {
    list.push_back({name, 0, "", "not counted; compiled for NVIDIA's and AMD's cards"});
    return;
  }
  const LoopCode& loop = main_loop(row);
  const double interactions = row.loop.interactions;
  const auto each = [&](std::size_t n) { return static_cast<double>(n) / interactions; };
  Measurement made{name, each(loop.shortest_way.size()), "instructions"};
  made.further = {{"on doubles", each(loop.on_doubles())},
                  {"with branches", each(loop.all)},
                  {"registers", row.code->registers},
                  {"bytes spilled", row.code->spilled_bytes}};
  if (row.is_product) made.further.emplace_back("fused", each(loop.fused()));
  made.lower_is_better = true;
  const auto limit = std::ranges::find(limits_of_gravity, row.engine, &Limit::engine);
  if (row.kernel == "gravity" && limit != std::end(limits_of_gravity)) {
    made.required = limit->instructions;
    list.push_back(made);
    if (limit->on_doubles)
      list.push_back({name + ", on doubles",
                      each(loop.on_doubles()),
                      "instructions",
                      {},
                      limit->on_doubles,
                      true});
  } else {
    list.push_back(made);
  }
}

/// No kernel may spill: memory for want of registers costs more than any instruction.
void add_spills(std::vector<Measurement>& list, const std::vector<Row>& all) {
  double bytes = 0;
  std::string kernels;
  for (const Row& row : all) {
    if (!row.code || row.code->spilled_bytes == 0) continue;
    bytes += row.code->spilled_bytes;
    kernels += fmt::format("{}{} ({})", kernels.empty() ? "" : ", ", row.kernel, row.engine);
  }
  list.push_back({"bytes spilled by all kernels", bytes, "bytes", kernels, 0, true});
}

}  // namespace

std::vector<Measurement> gpu_instructions(const Context& context) {
  const auto missing = [](const std::string& why) {
    return std::vector<Measurement>{{"GPU kernels", 0, "", "not measured: " + why}};
  };
  const Toolchain tools;
  if (gpu::devices().empty()) return missing(gpu::why_no_device());
  if (!tools.no_compiler().empty()) return missing(tools.no_compiler());
  std::vector<Row> all = rows(context, gpu::open_device("")->info().has_doubles);
  const Phase compile{all.size(), [&](std::size_t n) {
                        if (!all[n].loop.text.empty())
                          all[n].code = tools.compile(all[n].loop.text);
                      }};
  run_phases({&compile, 1}, context.threads);
  std::vector<Measurement> list;
  for (const Row& row : all) add(list, row);
  if (tools.no_machine_code().empty())
    add_spills(list, all);
  else
    list.push_back({"instructions", 0, "", "not counted: " + tools.no_machine_code()});
  return list;
}

}  // namespace gdr::bench
