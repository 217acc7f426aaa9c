#include "libgdr/cli/predict_host.hpp"

#include <nlohmann/json.hpp>

#include "libgdr/cli/output.hpp"

namespace gdr::cli {
namespace {

constexpr std::string_view of_host[] = {"--accuracy", "--device", "--engine",
                                        "--exact",    "--isa",    "--threads"};
constexpr std::string_view of_machines[] = {"--machine",    "--set",  "--partition", "--clocks",
                                            "--flops",      "--grid", "--resident",  "--scaling",
                                            "--no-overlap", "--csv"};

bool given(const CLI::App& app, std::string_view name) {
  return app.get_option(std::string(name))->count() > 0;
}

std::string time_text(double seconds) {
  if (seconds >= 3600) return fmt::format("{:.3g} h", seconds / 3600);
  if (seconds >= 60) return fmt::format("{:.3g} min", seconds / 60);
  if (seconds >= 1) return fmt::format("{:.3g} s", seconds);
  return seconds >= 1e-3 ? fmt::format("{:.3g} ms", 1e3 * seconds)
                         : fmt::format("{:.3g} us", 1e6 * seconds);
}

}  // namespace

void add_host_options(CLI::App& app, HostOptions& options) {
  app.add_flag("--host", options.wanted,
               "a kernel on this host: the time of the calculation, from short runs of it");
  add_number(app, "--accuracy", options.accuracy, "A",
             "with --host: that of a tree, as of gdr force (default: direct sums)");
  add_device_options(app, options.device);
}

void check_host_options(const CLI::App& app, const HostOptions& options) {
  if (options.wanted) {
    for (const std::string_view name : of_machines)
      if (given(app, name))
        throw usage_error("{} is of described machines, and does not apply to --host", name);
  } else {
    for (const std::string_view name : of_host)
      if (given(app, name)) throw usage_error("{} requires --host", name);
  }
  if (options.accuracy && !(*options.accuracy > 0 && *options.accuracy < 1))
    throw usage_error("--accuracy: must be above 0 and below 1");
}

void report_on_host(const Kernel& kernel, std::size_t targets, std::size_t sources,
                    const HostOptions& options, bool json) {
  Device device = open_device(options.device);
  const Estimate e =
      estimate(device, kernel,
               {.targets = targets, .sources = sources, .accuracy = options.accuracy.value_or(0)});
  if (json) {
    print_json({{"job", kernel.name()},
                {"device", device.description()},
                {"targets", targets},
                {"sources", sources},
                {"seconds", e.seconds},
                {"low", e.low},
                {"high", e.high},
                {"pairs", e.pairs},
                {"tree", e.tree},
                {"measuring", e.measuring}});
    return;
  }
  constexpr ReportRow row{22};
  std::string text = fmt::format("{}, {} targets, {} sources\n", kernel.name(), targets, sources);
  text += row("device", "{}", device.description());
  text += row("time", "about {}, {} to {} while the host is as busy as now", time_text(e.seconds),
              time_text(e.low), time_text(e.high));
  const bool other_way = options.accuracy.has_value() && !e.tree;
  text += row("method", "{}{}", e.tree ? "tree" : "direct sums",
              other_way ? ", no tree is faster at this accuracy" : "");
  if (!e.tree && e.seconds > 0) text += row("rate", "{:.3g} pairs/s", e.pairs / e.seconds);
  text += row("measured in", "{}", time_text(e.measuring));
  write_output(text);
}

}  // namespace gdr::cli
