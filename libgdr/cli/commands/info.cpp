// `gdr info`: the host, the emulated device, and the kernels of the library.
#include <nlohmann/json.hpp>
#include <thread>

#include "emulator/board/time_model.hpp"
#include "emulator/engine/gpu/cards.hpp"
#include "emulator/engine/vector/vector.hpp"
#include "emulator/host/host_limits.hpp"
#include "gdr/kernel.hpp"
#include "gdr/version.hpp"
#include "libgdr/cli/bug_report.hpp"
#include "libgdr/cli/command.hpp"
#include "libgdr/cli/gpus.hpp"
#include "libgdr/device/names.hpp"
#include "libgdr/device/self_test.hpp"

namespace gdr::cli::info_command {
namespace {

struct Options {
  DeviceChoice device;
  bool json = false, bug_report = false;
};

/// Each PE adds and multiplies once a clock; a double-precision product takes the multiplier two
/// clocks and an adder slot in every second one.
double peak_gflops(const Geometry& g) { return 2e-9 * g.pes() * g.clock_hz; }

Json geometry_json(const Geometry& g) {
  return {{"chips_per_board", g.chips_per_board},
          {"blocks", g.blocks},
          {"pes_per_block", g.pes_per_block},
          {"pes", g.pes()},
          {"register_words", g.register_words},
          {"local_words", g.local_words},
          {"broadcast_words", g.broadcast_words},
          {"instruction_words", g.instruction_words},
          {"dram_bytes", g.dram_bytes},
          {"clock_hz", g.clock_hz},
          {"peak_gflops_single", peak_gflops(g)},
          {"peak_gflops_double", peak_gflops(g) / 2},
          {"board_peak_gflops_single", peak_gflops(g) * g.chips_per_board}};
}

Json kernels_json() {
  Json list = Json::array();
  for (const std::string& name : Kernel::builtin_names()) {
    const Kernel kernel = Kernel::builtin(name);
    list.push_back({{"name", name},
                    {"clocks_per_interaction", kernel.clocks_per_interaction()},
                    {"flops_per_interaction", kernel.flops_per_interaction()}});
  }
  return list;
}

Json time_model_json() {
  Json list = Json::array();
  for (const TimeConstant& c : time_constants())
    list.push_back({{"name", c.name},
                    {"value", c.value},
                    {"unit", c.unit},
                    {"source", c.source},
                    {"reason", c.reason}});
  return list;
}

Json info_json(const Device& device, const TestedGpus& tested) {
  const Statistics s = device.statistics();
  Json json{{"version", version()}};
  for (const std::string_view kind : device_kind_names()) json["devices"].push_back(kind);
  for (const std::string_view engine : engine_names()) json["engines"].push_back(engine);
  json["host"]["proved_doubles"] = Json::array();
  for (const Isa isa : host_isas()) {
    json["host"]["isas"].push_back(isa_name(isa));
    if (can_verify_doubles(isa)) json["host"]["proved_doubles"].push_back(isa_name(isa));
  }
  json["host"]["gpus"] = Json::array();
  for (const TestedGpu& gpu : tested.gpus)
    json["host"]["gpus"].push_back({{"name", "gpu:" + gpu.name},
                                    {"description", gpu.description},
                                    {"exact", gpu.failure.empty()},
                                    {"products", gpu.products},
                                    {"default", gpu.is_default},
                                    {"failure", gpu.failure}});
  json["host"]["hardware_threads"] = std::thread::hardware_concurrency();
  can_execute_generated_code();
  json["host"]["limits"] = host_limits_text();
  json["device"] = {{"description", device.description()},
                    {"engine", s.engine},
                    {"isa", s.isa},
                    {"threads", s.threads},
                    {"boards", core_of(device)->boards.size()},
                    {"geometry", geometry_json(core_of(device)->geometry)}};
  json["kernels"] = kernels_json();
  json["time_model"] = time_model_json();
  return json;
}

std::string joined(const Json& list) {
  std::string text;
  for (const Json& item : list) text += (text.empty() ? "" : ", ") + item.get<std::string>();
  return text;
}

constexpr ReportRow row{22, "  "};

std::string geometry_text(const Geometry& g) {
  return row("chips of a board", "{}", g.chips_per_board) +
         row("PEs of a chip", "{} = {} blocks of {}", g.pes(), g.blocks, g.pes_per_block) +
         row("register file", "{} long words a PE", g.register_words) +
         row("local memory", "{} long words a PE", g.local_words) +
         row("broadcast memory", "{} long words a block", g.broadcast_words) +
         row("instruction memory", "{} instructions", g.instruction_words) +
         row("board memory", "{:.6g} MiB a chip",
             static_cast<double>(g.dram_bytes) / (1024.0 * 1024.0)) +
         row("clock", "{:.6g} MHz", g.clock_hz * 1e-6) +
         row("peak of a chip", "{:.6g} Gflops single, {:.6g} double", peak_gflops(g),
             peak_gflops(g) / 2) +
         row("peak of a board", "{:.6g} Gflops single, {:.6g} double",
             peak_gflops(g) * g.chips_per_board, peak_gflops(g) * g.chips_per_board / 2);
}

/// What follows the GPU that an engine without a number uses.
std::string default_text() {
  const auto rank = local_rank();
  if (!rank) return "; the default";
  return fmt::format("; the default of this process, by {}={}", rank->variable, rank->number);
}

std::string info_text(const Json& json, const std::string& why_no_gpu, const Geometry& geometry) {
  std::string text = fmt::format("gdr {}\n\nHost\n", version());
  text += row("instruction sets", "{} (best first; --isa, GDR_ISA)", joined(json["host"]["isas"]));
  const Json& proved = json["host"]["proved_doubles"];
  text += row(
      "exact arithmetic", "{}",
      proved.empty() ? "on integers" : "in doubles, checked by exception flags: " + joined(proved));
  text += row("hardware threads", "{}", json["host"]["hardware_threads"].get<unsigned>());
  const auto limits = json["host"]["limits"].get<std::string>();
  if (!limits.empty()) text += row("limits", "{}", limits);
  const Json& gpus = json["host"]["gpus"];
  for (const Json& gpu : gpus) {
    const auto failure = gpu["failure"].get<std::string>();
    const auto products = gpu["products"].get<std::string>();
    text +=
        row(gpu["name"].get<std::string>(), "{}; {}", gpu["description"].get<std::string>(),
            (failure.empty() ? "tested: its doubles are exact" : "not for gpu-exact: " + failure) +
                (products.empty() ? "" : "; matrix products: " + products) +
                (gpus.size() > 1 && gpu["default"].get<bool>() ? default_text() : ""));
  }
  if (gpus.empty()) text += row("GPU", "none: {}", why_no_gpu);
  text += row("engines", "{} (--engine, GDR_ENGINE)", joined(json["engines"]));
  text += row("devices", "{} (--device, GDR_DEVICE)", joined(json["devices"]));
  text += "\nDevice\n" + row("this one", "{}", json["device"]["description"].get<std::string>());
  text += geometry_text(geometry);
  text += "\nKernels\n";
  std::size_t longest = 0;
  for (const Json& kernel : json["kernels"])
    longest = std::max(longest, kernel["name"].get<std::string>().size());
  const ReportRow kernel_row{longest + 2, "  "};
  for (const Json& kernel : json["kernels"])
    text += kernel_row(kernel["name"].get<std::string>(),
                       "{:.4g} clocks and {:.4g} operations an interaction",
                       kernel["clocks_per_interaction"].get<double>(),
                       kernel["flops_per_interaction"].get<double>());
  text += "\nTime model (constants of predicted times)\n";
  for (const TimeConstant& c : time_constants())
    text += row(c.name, "{:.6g} {}; {}", c.value, c.unit, c.source);
  return text;
}

int run(const Options& options) {
  if (options.bug_report && options.json)
    throw usage_error("--bug-report prints text: give it without --json");
  if (options.bug_report) {
    write_output(bug_report(options.device));
    return 0;
  }
  const TestedGpus tested = tested_gpus();
  const Device device = open_device(options.device, EngineUse::Description);
  const Json json = info_json(device, tested);
  write_output(options.json ? json_text(json)
                            : info_text(json, tested.why_none, core_of(device)->geometry));
  return 0;
}

void add_options(CLI::App& app, Options& options) {
  app.add_flag("--bug-report", options.bug_report,
               "print build, host, environment and tests of all engines and boards, for an issue: "
               "without names of hosts and users");
  add_json_option(app, options.json);
  add_device_options(app, options.device);
}

const Registration registration{
    {.name = "info",
     .summary = "devices, engines, host features, sizes, kernels",
     .example = "gdr info\ngdr info --device emulator:blocks=4,pes=8,clock=400e6 --json\n"
                "gdr info --bug-report",
     .group = Group::Machine,
     .prepare = prepare<Options, add_options, run>}};

}  // namespace
}  // namespace gdr::cli::info_command
