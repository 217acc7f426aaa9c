// A subcommand of `gdr`: one file in commands/, which registers itself; and options that several
// commands share. Each has a namespace of its own, because builds compile several of them together.
//
//   namespace gdr::cli::force_command {
//   namespace {
//   void add_options(CLI::App& app, Options& options) {
//     app.add_option("FILE", options.file, "snapshot to read")->required();
//     add_device_options(app, options.device);
//   }
//   int run(const Options& options);                       // called after parsing: exit status
//   const Registration registration{{.name = "force",
//                                    .summary = "accelerations and potentials of a snapshot",
//                                    .example = "gdr force cluster.hdf5 --eps 0.01 -o forces.hdf5",
//                                    .group = Group::Simulation,
//                                    .prepare = prepare<Options, add_options, run>}};
//   }  // namespace
//   }  // namespace gdr::cli::force_command
//
// `run` throws gdr::Error to end the command: `gdr: error: ...` goes to standard error, and the
// exit status is 2 for category Usage, 1 for the others. Commands print through output.hpp, which
// detects a full disk or a closed pipe. Every command has --quiet and --verbose: what is no result
// is printed by `note` or unless is_quiet(), and choices are reported by `verbose`.
//
// The type of a value ("FILE", "ENGINE") selects what shells offer for it (description.cpp).
#pragma once

#include <CLI/App.hpp>
#include <cstdint>
#include <functional>
#include <limits>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "emulator/host/parse_number.hpp"
#include "emulator/isa/geometry.hpp"
#include "libgdr/cli/device_choice.hpp"
#include "libgdr/cli/output.hpp"

namespace gdr::cli {

/// Runs a command whose options have been parsed; returns the exit status.
using Action = std::function<int()>;

/// Headings of the list of commands in `gdr --help`, in this order. Hidden commands are not listed.
enum class Group { Simulation, Kernels, Machine, Help, Hidden };

struct Command {
  std::string_view name;
  std::string_view summary;  ///< one line without a full stop, for the list of commands
  std::string_view example;  ///< working command lines, one a line
  Group group = Group::Machine;
  Action (*prepare)(CLI::App& app) = nullptr;  ///< adds the options, returns the action
  std::string_view details = {};               ///< paragraphs of `gdr NAME --help`, may be empty
  /// Names for values of a type that other commands do not have, which shells offer; may be null.
  std::vector<std::string> (*words)(std::string_view type) = nullptr;
};

/// `Command::prepare` of a command whose options are a structure.
template <typename Options, void (*add_options)(CLI::App&, Options&), int (*run)(const Options&)>
Action prepare(CLI::App& app) {
  auto options = std::make_shared<Options>();  // lives as long as the action
  add_options(app, *options);
  return [options] { return run(*options); };
}

/// A static object of this type registers a command.
struct Registration {
  explicit Registration(const Command& command);
};

/// Text broken into lines of at most `width` columns, the second and later ones indented.
std::string wrap(std::string_view text, std::size_t indent, std::size_t width = 88);

/// The whole program: parse, run, report errors. Returns the exit status.
int run_command_line(int argc, const char* const* argv);

/// Add an option that takes a text; `type` is its kind in the help text ("FILE").
CLI::Option* add_text(CLI::App& app, const std::string& name, std::string& value,
                      const std::string& type, const std::string& description);

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
CLI::Option* add_repeatable(CLI::App& app, const std::string& name,
                            std::vector<std::string>& values, const std::string& description,
                            const std::string& type);
/// Add -I, --include DIR, for sources that include others.
void add_include_option(CLI::App& app, std::vector<std::string>& folders);
/// Protect a source from being overwritten: throws Error (Usage) if `target` is the file `source`.
/// An empty name and - mean standard output.
void refuse_same_file(const std::string& source, const std::string& target);

/// Check the file of an option before the work whose results it gets. Throws Error (Usage) if it is
/// the file `source`, or "-", where other output goes; Error (Io) if it cannot be written.
void check_result_file(const std::string& option, const std::string& file,
                       const std::string& source);

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

/// Add an option, --NAME, that takes a finite number; `value` is a double, or optional.
template <typename Number>
CLI::Option* add_number(CLI::App& app, const std::string& name, Number& value,
                        const std::string& type, const std::string& description) {
  const auto take = [&value, name](const std::string& text) { value = parse_number(name, text); };
  return app.add_option_function<std::string>(name, take, description)->type_name(type);
}

}  // namespace gdr::cli
