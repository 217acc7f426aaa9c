// A subcommand of `gdr`: one file in commands/, which registers itself.
//
//   namespace gdr::cli {
//   namespace {
//   Action prepare(CLI::App& app) {
//     auto options = std::make_shared<Options>();          // lives as long as the action
//     app.add_option("FILE", options->file, "snapshot to read")->required();
//     add_device_options(app, options->device);            // options.hpp
//     return [options] { return work(*options); };         // called after parsing: exit status
//   }
//   const Registration registration{{.name = "force",
//                                    .summary = "accelerations and potentials of a snapshot",
//                                    .example = "gdr force cluster.hdf5 --eps 0.01 -o forces.hdf5",
//                                    .group = Group::Simulation,
//                                    .prepare = prepare}};
//   }  // namespace
//   }  // namespace gdr::cli
//
// An action throws gdr::Error to end the command: `gdr: error: ...` goes to standard error, and the
// exit status is 2 for category Usage, 1 for the others. Commands print through output.hpp, which
// detects a full disk or a closed pipe.
#pragma once

#include <CLI/App.hpp>
#include <functional>
#include <string_view>
#include <vector>

namespace gdr::cli {

/// Runs a command whose options have been parsed; returns the exit status.
using Action = std::function<int()>;

/// Headings of the list of commands in `gdr --help`, in this order. Hidden commands are not listed.
enum class Group { Simulation, Kernels, Machine, Hidden };

struct Command {
  std::string_view name;
  std::string_view summary;  ///< one line without a full stop, for the list of commands
  std::string_view example;  ///< working command lines, one a line
  Group group = Group::Machine;
  Action (*prepare)(CLI::App& app) = nullptr;  ///< adds the options, returns the action
  std::string_view details = {};               ///< paragraphs of `gdr NAME --help`, may be empty
};

/// A static object of this type registers a command.
struct Registration {
  explicit Registration(const Command& command);
};

/// All commands, by group and name.
std::vector<Command> commands();

/// The whole program: parse, run, report errors. Returns the exit status.
int run_command_line(int argc, const char* const* argv);

}  // namespace gdr::cli
