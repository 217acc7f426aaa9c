// Options that several commands share, and the parsing of their values.
#include <cmath>
#include <filesystem>
#include <system_error>

#include "libgdr/cli/command.hpp"
#include "libgdr/cli/ranks.hpp"
#include "libgdr/io/atomic_file.hpp"

namespace gdr::cli {

CLI::Option* add_text(CLI::App& app, const std::string& name, std::string& value,
                      const std::string& type, const std::string& description) {
  return app.add_option(name, value, description)->type_name(type);
}

namespace {

/// An option that takes exactly one value each time, so that the arguments behind it stay theirs.
CLI::Option* add_list(CLI::App& app, const std::string& name, std::vector<std::string>& values,
                      const std::string& description, const std::string& type) {
  return app.add_option(name, values, description)
      ->type_name(type)
      ->expected(1)
      ->allow_extra_args(false)
      ->multi_option_policy(CLI::MultiOptionPolicy::TakeAll);
}

}  // namespace

void add_engine_options(CLI::App& app, DeviceChoice& choice) {
  CLI::Option* const engine = add_text(
      app, "--engine", choice.engine, "ENGINE",
      "engine: native, exact (or vector), reference, native-mixed, native-float, native-fast, gpu, "
      "gpu-float, gpu-exact (or GDR_ENGINE)");
  app.add_flag_callback(
         "--exact", [&choice] { choice.engine = "exact"; }, "the same as --engine exact")
      ->excludes(engine);
  add_text(app, "--isa", choice.isa, "ISA",
           "host instruction set: avx512, avx2, neon, portable (or GDR_ISA)");
  add_whole_number(app, "--threads", choice.threads, "host threads; 0: one for each core");
}

void add_device_options(CLI::App& app, DeviceChoice& choice) {
  add_text(app, "--device", choice.device, "DEVICE",
           "device, with options: emulator:boards=2,clock=400e6 (or GDR_DEVICE)");
  add_engine_options(app, choice);
}

void add_json_option(CLI::App& app, bool& json) {
  app.add_flag("--json", json, "print results as one JSON object on standard output");
}

Device open_device(const DeviceChoice& choice, EngineUse use) {
  DeviceOptions options = choice;
  options.default_engine = default_engine(use);
  Device device = Device::open(choice.device, options);
  attach_ranks(device);
  if (is_verbose()) {
    const Statistics s = device.statistics();
    verbose("device", "{}", device.description());
    verbose("engine", "{}, {}, {}", s.engine, s.isa, counted(s.threads, "thread"));
  }
  return device;
}

void add_geometry_option(CLI::App& app, std::vector<std::string>& settings) {
  add_list(app, "--geometry", settings,
           "other sizes of the machine: blocks, pes, registers, local, bm, chips, instructions, "
           "dram, clock",
           "FIELD=VALUE,...")
      ->delimiter(',');
}

Geometry geometry_from(const std::vector<std::string>& settings) {
  Geometry geometry;
  for (const std::string& text : settings) {
    const Setting setting = split_setting("--geometry", text);
    const std::string wrong = set_geometry_field(geometry, setting.name, setting.value);
    if (!wrong.empty()) throw usage_error("--geometry {}: {}", text, wrong);
  }
  return geometry;
}

CLI::Option* add_repeatable(CLI::App& app, const std::string& name,
                            std::vector<std::string>& values, const std::string& description,
                            const std::string& type) {
  return add_list(app, name, values, description + "; repeatable", type);
}

void add_include_option(CLI::App& app, std::vector<std::string>& folders) {
  add_repeatable(app, "-I,--include", folders, "folder to search for included files", "DIR");
}

void refuse_same_file(const std::string& source, const std::string& target) {
  std::error_code ignored;
  if (!target.empty() && target != "-" && std::filesystem::equivalent(source, target, ignored))
    throw usage_error("'{}' is the input file; name another output file", target);
}

void check_result_file(const std::string& option, const std::string& file,
                       const std::string& source) {
  if (file == "-") throw usage_error("{} -: name a file; the report is on standard output", option);
  refuse_same_file(source, file);
  check_writable(file);
}

Setting split_setting(std::string_view option, std::string_view text) {
  const std::size_t equals = text.find('=');
  if (equals == std::string_view::npos || equals == 0)
    throw usage_error("{} '{}': write it as NAME=VALUE", option, text);
  return {std::string(text.substr(0, equals)), std::string(text.substr(equals + 1))};
}

double parse_number(std::string_view what, std::string_view text) {
  const auto value = parse_all<double>(text.starts_with('+') ? text.substr(1) : text);
  if (!value || !std::isfinite(*value))
    throw usage_error("{}: '{}' is not a finite number", what, text);
  return *value;
}

std::uint64_t parse_whole_number(std::string_view what, std::string_view text, std::uint64_t first,
                                 std::uint64_t last) {
  const auto value = parse_all<std::uint64_t>(text);
  if (value && *value >= first && *value <= last) return *value;
  constexpr std::uint64_t unlimited = std::numeric_limits<unsigned>::max();
  if (last < unlimited)
    throw usage_error("{}: '{}' is not a whole number from {} to {}", what, text, first, last);
  throw usage_error("{}: '{}' is not a whole number{}", what, text,
                    first == 0 ? "" : fmt::format(" of at least {}", first));
}

}  // namespace gdr::cli
