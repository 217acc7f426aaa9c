// `gdr debug`: a kernel, instruction by instruction, in both directions.
#include <unistd.h>

#include <csignal>
#include <filesystem>
#include <iostream>
#include <iterator>

#include "gdr/debugger.hpp"
#include "libgdr/cli/command.hpp"
#include "libgdr/cli/debug/session.hpp"
#include "libgdr/cli/kernel_inputs.hpp"
#include "libgdr/cli/kernels.hpp"
#include "libgdr/device/names.hpp"
#include "libgdr/io/atomic_file.hpp"

namespace gdr::cli::debug_command {
namespace {

constexpr std::string_view prompt = "(gdr) ";

struct Options {
  std::string kernel;
  KernelInputOptions inputs;
  std::vector<std::string> scripts, commands;
  DeviceChoice device;
};

/// A kernel of the library by name, or a file.
LoadedKernel load(const Options& options) {
  if (is_library_kernel(options.kernel)) return {find_kernel(options.kernel), {}};
  const DeviceName name = parse_device_name(options.device.device, options.device);
  return load_kernel_for(options.kernel, name.geometry, true);
}

Session make_session(const Options& options) {
  LoadedKernel loaded = load(options);
  const Program& program = loaded.kernel.program();
  const KernelInput targets = read_input(program, VarKind::Target, options.inputs.targets,
                                         "--targets", options.inputs.target_count);
  const KernelInput sources = read_input(program, VarKind::Source, options.inputs.sources,
                                         "--sources", options.inputs.source_count);
  Machine machine(options.device.device, options.device);
  machine.load(loaded.kernel);
  const std::vector<Column> params = columns_of(program, VarKind::Param);
  for (const std::string& setting : options.inputs.settings)
    for (const auto& [index, value] : read_params(program, setting))
      machine.set_param({params[index].name, array_of<ConstArray>(value)});
  machine.sources(sources.rows, named_inputs(sources.columns));
  machine.targets(targets.rows, named_inputs(targets.columns));
  SourceText source(std::filesystem::path(options.kernel).parent_path().string());
  if (!loaded.assembly.empty() && !program.files.empty())
    source.add(program.files.front(), loaded.assembly);
  return Session(Debugger(std::move(machine)), std::move(loaded.kernel), std::move(source));
}

/// Ends the process as the signal does, if a script was interrupted.
void end_if_interrupted(const Session& session) {
  if (session.interrupted() == 0) return;
  flush_output();
  std::raise(session.interrupted());
}

/// Commands from a terminal: errors do not end the session, an empty line repeats a movement.
void interact(Session& session) {
  if (!is_quiet()) print("{}help lists the commands\n", session.greeting());
  std::string last;
  while (!session.finished()) {
    print("{}", prompt);
    flush_output();
    std::string line;
    if (!std::getline(std::cin, line)) {
      print("\n");
      return;
    }
    if (line.find_first_not_of(" \t") == std::string::npos) line = last;
    last = Session::repeats(line) ? line : std::string();
    try {
      session.execute(line);
    } catch (const Error& error) {
      print("{}\n", error.what());
    }
  }
}

int run(const Options& options) {
  std::vector<std::pair<std::string, std::string>> scripts;
  for (const std::string& path : options.scripts) scripts.emplace_back(read_file(path), path);
  Session session = make_session(options);
  const bool scripted = !options.scripts.empty() || !options.commands.empty();
  if (!scripted && isatty(STDIN_FILENO) == 1) {
    interact(session);
    return 0;
  }
  if (!scripted) {
    std::string text(std::istreambuf_iterator<char>(std::cin), {});
    scripts.emplace_back(std::move(text), "standard input");
  }
  for (const auto& [text, path] : scripts) {
    session.execute_script(text, path);
    end_if_interrupted(session);
  }
  for (std::size_t k = 0; k < options.commands.size() && !session.finished(); ++k) {
    try {
      session.execute(options.commands[k]);
    } catch (const Error& error) {
      throw Error(ErrorCategory::Input,
                  fmt::format("-e '{}': {}", options.commands[k], error.what()));
    }
    end_if_interrupted(session);
  }
  return 0;
}

void add_options(CLI::App& app, Options& options) {
  app.add_option("KERNEL", options.kernel,
                 "kernel of the library, object file (.gdo) or source (.gds, .gdk)")
      ->required();
  add_kernel_input_options(app, options.inputs);
  add_kernel_count_options(app, options.inputs);
  add_repeatable(app, "-x,--commands", options.scripts,
                 "execute the commands of a file instead of asking for some", "FILE");
  add_repeatable(app, "-e,--execute", options.commands, "execute a command, after those of files",
                 "COMMAND");
  add_device_options(app, options.device);
}

/// The paragraphs of the help text, with the table of commands.
std::string details_text() {
  std::string text =
      R"(The kernel runs on one chip, which every source passes; targets are divided over the
blocks. Files of inputs are those of gdr run. Without -x and -e commands are read from
the terminal, or from standard input; an error in a script ends it with status 1.

Commands may be shortened; in parentheses their short forms. help COMMAND explains one.
)";
  for (const Session::Help& h : Session::help())
    text += fmt::format("\n  {}{}{}{}", h.name, h.arguments.empty() ? "" : " ", h.arguments,
                        h.alias.empty() ? std::string() : fmt::format(" ({})", h.alias));
  return text;
}
const std::string details = details_text();

const Registration registration{
    {.name = "debug",
     .summary = "step through a kernel, forwards and backwards",
     .example = "gdr debug gravity.gds --targets targets.txt --sources sources.txt\n"
                "gdr debug gravity.gds --targets targets.txt --sources sources.txt -x commands.txt",
     .group = Group::Kernels,
     .prepare = prepare<Options, add_options, run>,
     .details = details}};

}  // namespace
}  // namespace gdr::cli::debug_command
