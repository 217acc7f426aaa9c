// Running the command line: registration, parsing, errors, exit status.
#include "libgdr/cli/command.hpp"

#include <CLI/CLI.hpp>
#include <algorithm>
#include <exception>
#include <map>
#include <memory>
#include <new>
#include <stdexcept>
#include <string>

#include "gdr/error.hpp"
#include "gdr/version.hpp"
#include "libgdr/cli/help.hpp"
#include "libgdr/cli/output.hpp"
#include "libgdr/cli/ranks.hpp"
#include "libgdr/device/names.hpp"

namespace gdr::cli {
namespace {

constexpr int status_error = 1;
constexpr int status_usage = 2;
constexpr int status_broken_pipe = 128 + 13;  // as after SIGPIPE

std::vector<Command>& registry() {
  static std::vector<Command> list;
  return list;
}

/// One command with its parser.
struct Entry {
  Command command;
  CLI::App* app;
  Action action;
};

std::string quoted_command(const CLI::App* app) {
  return app == nullptr ? "'gdr'" : "'gdr " + app->get_name() + "'";
}

std::vector<std::string> option_names(const CLI::App& app) {
  std::vector<std::string> names;
  for (const CLI::Option* option : app.get_options())
    for (const std::string& name : option->get_lnames()) names.push_back("--" + name);
  // Among equally near names the first is suggested: --help is seldom meant.
  std::stable_partition(names.begin(), names.end(),
                        [](const auto& name) { return name != "--help"; });
  return names;
}

std::vector<std::string> command_names() {
  std::vector<std::string> names;
  for (const Command& command : commands())
    if (command.group != Group::Hidden) names.emplace_back(command.name);
  return names;
}

std::string did_you_mean(const std::string& word, const std::vector<std::string>& names) {
  const auto near = nearest_name(word, {names.begin(), names.end()});
  return near ? "; did you mean '" + std::string(*near) + "'?" : std::string();
}

/// The message about an unknown argument. `sub` is the command, null for `gdr` itself.
std::string unexpected_argument(const std::string& argument, const CLI::App& top,
                                const CLI::App* sub) {
  if (argument.starts_with("-") && argument.size() > 1) {
    const std::string name = argument.substr(0, argument.find('='));
    const std::vector<std::string> names = option_names(sub == nullptr ? top : *sub);
    return "unknown option '" + name + "' of " + quoted_command(sub) + did_you_mean(name, names);
  }
  if (sub == nullptr)
    return "unknown command '" + argument + "'" + did_you_mean(argument, command_names());
  return "unexpected argument '" + argument + "' of " + quoted_command(sub);
}

int usage_error(const std::string& message, const CLI::App* sub) {
  report_error(message);
  const std::string command = sub == nullptr ? "gdr" : "gdr " + sub->get_name();
  note("gdr: see '" + command + " --help'");
  return status_usage;
}

/// Errors of CLI11: unknown arguments first, as they explain most of the others.
int parse_error(const CLI::App& top, const CLI::App* sub, const CLI::ParseError& error) {
  const std::vector<std::string> rest = top.remaining(true);
  const auto unknown = std::find_if(rest.begin(), rest.end(), [](const std::string& argument) {
    return argument.starts_with("-") && argument.size() > 1;
  });
  if (unknown != rest.end()) return usage_error(unexpected_argument(*unknown, top, sub), sub);
  if (!rest.empty()) return usage_error(unexpected_argument(rest.front(), top, sub), sub);
  if (sub == nullptr) return usage_error("a command is missing", nullptr);
  return usage_error("gdr " + sub->get_name() + ": " + error.what(), sub);
}

template <typename Work>
int guarded(const CLI::App* const& sub, const Work& work) {
  try {
    const int status = work();
    flush_output();
    return status;
  } catch (const OutputClosed&) {
    abort_ranks(std::runtime_error("the reader of standard output has closed it"),
                status_broken_pipe);
    return status_broken_pipe;
  } catch (const Error& error) {
    const bool usage = error.category() == ErrorCategory::Usage;
    if (!abort_ranks(error, usage ? status_usage : status_error))
      return usage ? status_usage : status_error;
    if (usage) return usage_error(error.what(), sub);
    const bool internal = error.category() == ErrorCategory::Internal;
    report_error((internal ? "internal error: " : "") + std::string(error.what()));
  } catch (const std::bad_alloc& error) {
    abort_ranks(error, status_error);
    report_error("out of memory");
  } catch (const std::exception& error) {
    abort_ranks(error, status_error);
    report_error("internal error: " + std::string(error.what()));
  }
  return status_error;
}

std::vector<Entry> add_commands(CLI::App& top) {
  std::vector<Entry> entries;
  for (const Command& command : commands()) {
    CLI::App* app = top.add_subcommand(std::string(command.name), std::string(command.summary));
    app->set_help_flag();
    app->add_flag("-h,--help")->description("print this help");
    entries.push_back({command, app, command.prepare(*app)});
  }
  return entries;
}

/// Whether an option is present, also if the rest of the line is wrong.
bool has_flag(int argc, const char* const* argv, int first, std::string_view long_name,
              std::string_view short_name) {
  for (int i = first; i < argc; ++i) {
    const std::string_view argument = argv[i];
    if (argument == "--") return false;
    if (argument == long_name || (!short_name.empty() && argument == short_name)) return true;
  }
  return false;
}

/// Run a command; `sub` becomes its parser, for error messages.
int run_entries(CLI::App& top, const std::vector<Entry>& entries, int argc, const char* const* argv,
                const CLI::App*& sub) {
  const auto named = std::find_if(entries.begin(), entries.end(), [&](const Entry& entry) {
    return argc > 1 && entry.command.name == argv[1];
  });
  sub = named == entries.end() ? nullptr : named->app;
  if (has_flag(argc, argv, sub == nullptr ? 1 : 2, "--help", "-h")) {
    write_output(sub == nullptr ? main_help() : command_help(*sub, named->command));
    return 0;
  }
  if (sub == nullptr && has_flag(argc, argv, 1, "--version", "")) {
    print("gdr {}\n", version());
    return 0;
  }
  try {
    top.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    return parse_error(top, sub, error);
  }
  return named->action();
}

}  // namespace

Registration::Registration(const Command& command) { registry().push_back(command); }

std::vector<Command> commands() {
  std::vector<Command> list = registry();
  std::sort(list.begin(), list.end(), [](const Command& a, const Command& b) {
    return std::pair(a.group, a.name) < std::pair(b.group, b.name);
  });
  return list;
}

int run_command_line(int argc, const char* const* argv) {
  prepare_standard_streams();
  CLI::App top("gdr", "gdr");
  top.set_help_flag();
  top.add_flag("-h,--help")->description("print this help");
  top.add_flag("--version")->description("print the version");
  top.require_subcommand(1);
  const CLI::App* sub = nullptr;
  return guarded(sub, [&] {
    const std::vector<Entry> entries = add_commands(top);
    return run_entries(top, entries, argc, argv, sub);
  });
}

}  // namespace gdr::cli
