#include "libgdr/cli/options.hpp"

#include <charconv>
#include <cmath>
#include <filesystem>
#include <system_error>

#include "libgdr/cli/ranks.hpp"
#include "libgdr/cli/text.hpp"

namespace gdr::cli {

void add_engine_options(CLI::App& app, DeviceChoice& choice) {
  app.add_option("--engine", choice.engine,
                 "engine: reference, vector, native, native-float (or GDR_ENGINE)")
      ->type_name("NAME");
  app.add_option("--isa", choice.isa, "host instruction set: avx512, avx2, portable (or GDR_ISA)")
      ->type_name("NAME");
  add_whole_number(app, "--threads", choice.threads, "host threads; 0: one for each core");
}

void add_device_options(CLI::App& app, DeviceChoice& choice) {
  app.add_option("--device", choice.device,
                 "device, with options: emulator:boards=2,clock=400e6 (or GDR_DEVICE)")
      ->type_name("NAME");
  add_engine_options(app, choice);
}

void add_json_option(CLI::App& app, bool& json) {
  app.add_flag("--json", json, "print results as one JSON object on standard output");
}

DeviceOptions device_options(const DeviceChoice& choice) {
  DeviceOptions options;
  options.engine = choice.engine;
  options.isa = choice.isa;
  options.threads = choice.threads;
  return options;
}

Device open_device(const DeviceChoice& choice) {
  Device device = Device::open(choice.device, device_options(choice));
  attach_ranks(device);
  return device;
}

void add_geometry_option(CLI::App& app, std::vector<std::string>& settings) {
  app.add_option(
         "--geometry", settings,
         "other sizes of the machine: blocks, pes, registers, local, bm, chips, instructions, "
         "dram, clock")
      ->type_name("FIELD=VALUE,...")
      ->delimiter(',')
      ->expected(1)
      ->multi_option_policy(CLI::MultiOptionPolicy::TakeAll);
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

void add_repeatable(CLI::App& app, const std::string& name, std::vector<std::string>& values,
                    const std::string& description, const std::string& type) {
  app.add_option(name, values, description + "; repeatable")
      ->type_name(type)
      ->expected(1)
      ->multi_option_policy(CLI::MultiOptionPolicy::TakeAll);
}

void add_include_option(CLI::App& app, std::vector<std::string>& folders) {
  add_repeatable(app, "-I,--include", folders, "folder to search for included files", "DIR");
}

void refuse_same_file(const std::string& source, const std::string& target) {
  std::error_code ignored;
  if (!target.empty() && target != "-" && std::filesystem::equivalent(source, target, ignored))
    throw usage_error("'{}' is the input file; name another output file", target);
}

Setting split_setting(std::string_view option, std::string_view text) {
  const std::size_t equals = text.find('=');
  if (equals == std::string_view::npos || equals == 0)
    throw usage_error("{} '{}': write it as NAME=VALUE", option, text);
  return {std::string(text.substr(0, equals)), std::string(text.substr(equals + 1))};
}

double parse_number(std::string_view what, std::string_view text) {
  double value = 0;
  const char* end = text.data() + text.size();
  std::string_view digits = text;
  if (digits.starts_with('+')) digits.remove_prefix(1);
  const auto [stop, code] = std::from_chars(digits.data(), end, value);
  if (code != std::errc{} || stop != end || !std::isfinite(value))
    throw usage_error("{}: '{}' is not a finite number", what, text);
  return value;
}

std::uint64_t parse_whole_number(std::string_view what, std::string_view text, std::uint64_t first,
                                 std::uint64_t last) {
  std::uint64_t value = 0;
  const char* const end = text.data() + text.size();
  const auto [stop, code] = std::from_chars(text.data(), end, value);
  if (code == std::errc{} && stop == end && value >= first && value <= last) return value;
  constexpr std::uint64_t unlimited = std::numeric_limits<unsigned>::max();
  if (last < unlimited)
    throw usage_error("{}: '{}' is not a whole number from {} to {}", what, text, first, last);
  throw usage_error("{}: '{}' is not a whole number{}", what, text,
                    first == 0 ? "" : fmt::format(" of at least {}", first));
}

CLI::Option* add_number(CLI::App& app, const std::string& name, double& value,
                        const std::string& description) {
  const auto take = [&value, name](const std::string& text) { value = parse_number(name, text); };
  return app.add_option_function<std::string>(name, take, description);
}

}  // namespace gdr::cli
