// Running the command line: registration, parsing, options of all commands, errors, exit status.
#include "libgdr/cli/command.hpp"

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cstdlib>
#include <ctime>
#include <exception>
#include <new>
#include <ranges>
#include <stdexcept>
#include <system_error>

#include "emulator/host/host_limits.hpp"
#include "emulator/host/stopwatch.hpp"
#include "gdr/version.hpp"
#include "libgdr/cli/environment.hpp"
#include "libgdr/cli/help.hpp"
#include "libgdr/cli/ranks.hpp"
#include "libgdr/cli/server_command.hpp"
#include "libgdr/device/names.hpp"

namespace gdr::cli {
namespace {

std::vector<Command>& registry() {
  static std::vector<Command> list;
  return list;
}

/// All commands, by group and name.
std::vector<Command> commands() {
  std::vector<Command> list = registry();
  std::sort(list.begin(), list.end(), [](const Command& a, const Command& b) {
    return std::pair(a.group, a.name) < std::pair(b.group, b.name);
  });
  return list;
}

constexpr int status_error = 1;
constexpr int status_usage = 2;
constexpr int status_broken_pipe = 128 + 13;  // as after SIGPIPE

/// One command with its parser.
struct Entry {
  Command command;
  CLI::App* app;
  Action action;
};

/// --quiet and --verbose of the command that runs.
struct Loudness {
  bool quiet = false, verbose = false;
};

/// "gdr", or "gdr NAME".
std::string command_name(const CLI::App* app) {
  return app == nullptr ? "gdr" : "gdr " + app->get_name();
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

std::string did_you_mean(const std::string& word, const std::vector<std::string>& names) {
  const auto near = nearest_name(word, {names.begin(), names.end()});
  return near ? "; did you mean '" + std::string(*near) + "'?" : std::string();
}

bool is_option(const std::string& argument) {
  return argument.starts_with("-") && argument.size() > 1;
}

/// The message about an unknown argument. `sub` is the command, null for `gdr` itself.
std::string unexpected_argument(const std::string& argument, const CLI::App& top,
                                const CLI::App* sub) {
  if (is_option(argument)) {
    const std::string name = argument.substr(0, argument.find('='));
    const std::vector<std::string> names = option_names(sub == nullptr ? top : *sub);
    return fmt::format("unknown option '{}' of '{}'{}", name, command_name(sub),
                       did_you_mean(name, names));
  }
  if (sub == nullptr)
    return fmt::format("unknown command '{}'{}", argument, did_you_mean(argument, command_names()));
  return fmt::format("unexpected argument '{}' of '{}'", argument, command_name(sub));
}

int report_usage_error(const std::string& message, const CLI::App* sub) {
  report_error(message);
  note(fmt::format("gdr: see '{} --help'", command_name(sub)));
  return status_usage;
}

/// Errors of CLI11: unknown arguments first, as they explain most of the others.
int parse_error(const CLI::App& top, const CLI::App* sub, const CLI::ParseError& error) {
  const std::vector<std::string> rest = top.remaining(true);
  if (!rest.empty()) {
    const auto option = std::ranges::find_if(rest, is_option);
    const std::string& argument = option != rest.end() ? *option : rest.front();
    return report_usage_error(unexpected_argument(argument, top, sub), sub);
  }
  if (sub == nullptr) return report_usage_error("a command is missing", nullptr);
  return report_usage_error(command_name(sub) + ": " + error.what(), sub);
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
    const int status = usage ? status_usage : status_error;
    if (!abort_ranks(error, status)) return status;
    if (usage) return report_usage_error(error.what(), sub);
    const bool internal = error.category() == ErrorCategory::Internal;
    report_error((internal ? "internal error: " : "") + std::string(error.what()));
  } catch (const std::bad_alloc& error) {
    abort_ranks(error, status_error);
    report_error("out of memory");
  } catch (const std::system_error& error) {  // of a library that needs threads
    abort_ranks(error, status_error);
    const bool refused = error.code() == std::errc::resource_unavailable_try_again;
    report_error(refused ? refused_thread_text() : "internal error: " + std::string(error.what()));
  } catch (const std::exception& error) {
    abort_ranks(error, status_error);
    report_error("internal error: " + std::string(error.what()));
  }
  return status_error;
}

/// All commands with their options; every one also has those for help and messages.
std::vector<Entry> add_commands(CLI::App& top, Loudness& loudness) {
  std::vector<Entry> entries;
  for (const Command& command : commands()) {
    CLI::App* app = top.add_subcommand(std::string(command.name), std::string(command.summary));
    app->set_help_flag();
    app->add_flag("-h,--help")->description("print this help");
    entries.push_back({command, app, command.prepare(*app)});
    app->add_flag("-q,--quiet", loudness.quiet, "print results, warnings and errors only");
    app->add_flag("-v,--verbose", loudness.verbose,
                  "also print what was chosen and how long it took, on standard error");
  }
  return entries;
}

std::vector<CommandDescription> descriptions(const std::vector<Entry>& entries) {
  std::vector<CommandDescription> list;
  for (const Entry& entry : entries)
    if (entry.command.group != Group::Hidden) list.push_back(describe(*entry.app, entry.command));
  return list;
}

void set_loudness(const Loudness& loudness) {
  if (loudness.quiet && loudness.verbose)
    throw usage_error("--quiet and --verbose exclude each other: give one of them");
  set_verbosity(loudness.quiet     ? Verbosity::Quiet
                : loudness.verbose ? Verbosity::Verbose
                                   : Verbosity::Normal);
}

/// The variables that are set, of those that choose for options.
std::string set_variables() {
  std::string text;
  for (const EnvironmentVariable& variable : environment_variables())
    if (const char* value = std::getenv(std::string(variable.name).c_str()))
      text += fmt::format("{}{}={}", text.empty() ? "" : " ", variable.name, value);
  return text.empty() ? "none of the variables in gdr(1) is set" : text;
}

/// Runs the action of a command, with its choices and its time in the verbose report.
int run_action(const Entry& entry) {
  const Stopwatch timer;
  const std::clock_t start = std::clock();
  verbose("version", "gdr {}, command {}", version(), entry.command.name);
  verbose("environment", "{}", set_variables());
  const int status = runs_at_server(*entry.app) ? run_at_server(*entry.app) : entry.action();
  verbose("time", "{:.3g} s, {:.3g} s of processors", timer.seconds(),
          static_cast<double>(std::clock() - start) / CLOCKS_PER_SEC);
  return status;
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
int run_entries(CLI::App& top, const std::vector<Entry>& entries, const Loudness& loudness,
                int argc, const char* const* argv, const CLI::App*& sub) {
  // `gdr help COMMAND` is `gdr COMMAND --help`.
  if (argc > 1 && std::string_view(argv[1]) == "help") {
    if (argc > 3)
      return report_usage_error(fmt::format("help: one command at a time, got '{}', too", argv[3]),
                                nullptr);
    const char* const asked[] = {argv[0], argc > 2 ? argv[2] : "--help", "--help"};
    return run_entries(top, entries, loudness, argc > 2 ? 3 : 2, asked, sub);
  }
  const auto named = std::find_if(entries.begin(), entries.end(), [&](const Entry& entry) {
    return argc > 1 && entry.command.name == argv[1];
  });
  sub = named == entries.end() ? nullptr : named->app;
  // `gdr UNKNOWN --help` is no question about gdr itself.
  if (sub == nullptr && argc > 1 && !is_option(argv[1]))
    return report_usage_error(unexpected_argument(argv[1], top, nullptr), nullptr);
  if (has_flag(argc, argv, sub == nullptr ? 1 : 2, "--help", "-h")) {
    write_output(sub == nullptr ? main_help(descriptions(entries))
                                : command_help(describe(*sub, named->command)));
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
  set_loudness(loudness);
  return run_action(*named);
}

}  // namespace

std::string wrap(std::string_view text, std::size_t indent, std::size_t width) {
  std::string result;
  std::size_t column = indent;
  while (!text.empty()) {
    const std::size_t end = std::min(text.find(' '), text.size());
    const std::string_view word = text.substr(0, end);
    if (column > indent && column + 1 + word.size() > width) {
      result += '\n';
      result.append(indent, ' ');
      column = indent;
    } else if (column > indent) {
      result += ' ';
      ++column;
    }
    result += word;
    column += word.size();
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return result;
}

std::vector<std::string> command_names() {
  std::vector<std::string> names;
  for (const Command& command : commands())
    if (command.group != Group::Hidden) names.emplace_back(command.name);
  return names;
}

std::vector<CommandDescription> describe_commands() {
  CLI::App top("gdr", "gdr");
  Loudness loudness;
  return descriptions(add_commands(top, loudness));
}

Registration::Registration(const Command& command) { registry().push_back(command); }

int run_command_line(int argc, const char* const* argv) {
  prepare_standard_streams();
  CLI::App top("gdr", "gdr");
  top.set_help_flag();
  for (const OptionDescription& option : top_options())
    top.add_flag(fmt::format("{}", fmt::join(option.names, ",")))->description(option.meaning);
  top.require_subcommand(1);
  const CLI::App* sub = nullptr;
  return guarded(sub, [&] {
    Loudness loudness;
    const std::vector<Entry> entries = add_commands(top, loudness);
    return run_entries(top, entries, loudness, argc, argv, sub);
  });
}

}  // namespace gdr::cli
