// Running the command line: registration, help texts (one layout for all commands, whatever version
// of the option parser is installed), parsing, errors, exit status.
#include "libgdr/cli/command.hpp"

#include <CLI/CLI.hpp>
#include <algorithm>
#include <exception>
#include <new>
#include <ranges>
#include <stdexcept>

#include "gdr/version.hpp"
#include "libgdr/cli/ranks.hpp"
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

constexpr std::string_view group_titles[] = {"Simulation", "Kernels", "Machine"};
constexpr std::size_t text_column = 28;

/// `  -o, --output FILE`, with room left for the description.
std::string option_text(const CLI::Option& option) {
  if (option.get_positional()) return option.get_name(true);
  std::string text = option.get_name(false, true);
  for (std::size_t comma = text.find(','); comma != std::string::npos;
       comma = text.find(',', comma + 2))
    text.insert(comma + 1, 1, ' ');
  const bool takes_value = option.get_expected_max() != 0 && option.get_items_expected_max() != 0;
  return takes_value ? fmt::format("{} {}", text, option.get_type_name()) : text;
}

std::string row(std::string_view left, std::string_view right) {
  std::string text = fmt::format("  {}", left);
  if (text.size() + 2 > text_column) text += "\n";
  const std::size_t used = text.size() - std::min(text.size(), text.rfind('\n') + 1);
  text.append(text_column - used, ' ');
  return fmt::format("{}{}\n", text, wrap(right, text_column));
}

std::string indented_lines(std::string_view text) {
  std::string result;
  for (const auto line : std::views::split(text, '\n'))
    result += fmt::format("  {}\n", std::string_view(line.begin(), line.end()));
  return result;
}

/// `gdr --help`: the commands under their headings.
std::string main_help() {
  std::string text = fmt::format(
      "gdr {}: emulator, assembler and tools for a GRAPE-DR-style accelerator\n\n"
      "Usage: gdr COMMAND [OPTIONS]\n",
      version());
  for (std::size_t group = 0; group < std::size(group_titles); ++group) {
    text += fmt::format("\n{}\n", group_titles[group]);
    for (const Command& command : commands())
      if (command.group == static_cast<Group>(group))
        text += fmt::format("  {:<10}{}\n", command.name, command.summary);
  }
  text +=
      "\nOptions\n"
      "  -h, --help      print this help\n"
      "  --version       print the version\n"
      "\nExample\n"
      "  gdr nbody examples/data/plummer_1024.hdf5 --eps 0.015625 --dt 0.001 --t-end 1 --out run1\n"
      "\n'gdr COMMAND --help' describes a command. Exit status: 0 success, 1 error, 2 wrong "
      "usage.\n";
  return text;
}

/// `gdr NAME --help`: usage, summary, arguments, options, example.
std::string command_help(const CLI::App& app, const Command& command) {
  std::string usage, arguments, options;
  for (const CLI::Option* option : app.get_options()) {
    if (option->get_group().empty()) continue;
    if (option->get_positional()) {
      const std::string name = option->get_name(true);
      const bool many = option->get_expected_max() > 1;
      const std::string shown = fmt::format("{}{}", name, many ? "..." : "");
      usage += fmt::format(fmt::runtime(option->get_required() ? " {}" : " [{}]"), shown);
      arguments += row(name, option->get_description());
    } else {
      const std::string_view needed = option->get_required() ? " (required)" : "";
      options += row(option_text(*option), fmt::format("{}{}", option->get_description(), needed));
    }
  }
  std::string text = fmt::format("gdr {}: {}\n\nUsage: gdr {} [OPTIONS]{}\n", command.name,
                                 command.summary, command.name, usage);
  if (!command.details.empty()) text += fmt::format("\n{}\n", command.details);
  if (!arguments.empty()) text += "\nArguments\n" + arguments;
  text += "\nOptions\n" + options;
  text += "\nExample\n" + indented_lines(command.example);
  return text;
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

Registration::Registration(const Command& command) { registry().push_back(command); }

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
