// Options that several commands share, and the parsing of their values.
#pragma once

#include <CLI/App.hpp>
#include <cstdint>
#include <limits>
#include <string>
#include <string_view>
#include <vector>

#include "emulator/isa/geometry.hpp"
#include "libgdr/cli/device_choice.hpp"

namespace gdr::cli {

/// Add --device, --engine, --isa and --threads.
void add_device_options(CLI::App& app, DeviceChoice& choice);
/// Add --engine, --isa and --threads only, for commands that create their own device.
void add_engine_options(CLI::App& app, DeviceChoice& choice);
/// Add --json: results as JSON on standard output.
void add_json_option(CLI::App& app, bool& json);

/// Add --geometry FIELD=VALUE[,...]: sizes other than those of the real chip.
void add_geometry_option(CLI::App& app, std::vector<std::string>& settings);
/// The geometry that these settings describe. Throws Error (Usage).
Geometry geometry_from(const std::vector<std::string>& settings);

/// Add an option that may be given several times, each time with one value.
void add_repeatable(CLI::App& app, const std::string& name, std::vector<std::string>& values,
                    const std::string& description, const std::string& type);
/// Add -I, --include DIR, for sources that include others.
void add_include_option(CLI::App& app, std::vector<std::string>& folders);
/// Protect a source from being overwritten: throws Error (Usage) if `target` is the file `source`.
/// An empty name and - mean standard output.
void refuse_same_file(const std::string& source, const std::string& target);

/// Split `NAME=VALUE`. Throws Error (Usage) naming `option` if there is no `=`.
struct Setting {
  std::string name, value;
};
Setting split_setting(std::string_view option, std::string_view text);

/// A finite number, all of the text. Throws Error (Usage) naming `what`.
double parse_number(std::string_view what, std::string_view text);
/// A whole number from `first` to `last`, decimal digits only. Throws Error (Usage) naming `what`.
std::uint64_t parse_whole_number(std::string_view what, std::string_view text, std::uint64_t first,
                                 std::uint64_t last);

/// Add an option, --NAME, that takes a whole number from `first` to `last`: no sign to wrap around,
/// no leading zero that would mean octal. A number outside is an Error (Usage).
template <typename Integer>
CLI::Option* add_whole_number(CLI::App& app, const std::string& name, Integer& value,
                              const std::string& description, Integer first = 0,
                              Integer last = std::numeric_limits<Integer>::max()) {
  const auto take = [&value, name, first, last](const std::string& text) {
    value = static_cast<Integer>(parse_whole_number(name, text, first, last));
  };
  return app.add_option_function<std::string>(name, take, description)->type_name("N");
}

/// Add an option, --NAME, that takes a finite number.
CLI::Option* add_number(CLI::App& app, const std::string& name, double& value,
                        const std::string& description);

}  // namespace gdr::cli
