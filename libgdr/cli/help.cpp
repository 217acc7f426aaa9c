#include "libgdr/cli/help.hpp"

#include <algorithm>
#include <ranges>

#include "gdr/version.hpp"

namespace gdr::cli {
namespace {

constexpr std::size_t text_column = 28;

std::string help_row(std::string_view left, std::string_view right) {
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

}  // namespace

const char* const main_example =
    "gdr nbody examples/data/plummer_1024.hdf5 --eps 0.015625 --dt 0.001 --t-end 1 --out run1";

std::string main_help(const std::vector<CommandDescription>& commands) {
  std::string text = fmt::format(
      "gdr {}: emulator, assembler and tools for a GRAPE-DR-style accelerator\n\n"
      "Usage: gdr COMMAND [OPTIONS]\n",
      version());
  const CommandDescription* before = nullptr;
  for (const CommandDescription& command : commands) {
    if (before == nullptr || before->group != command.group)
      text += fmt::format("\n{}\n", group_title(command.group));
    text += fmt::format("  {:<12}{}\n", command.name, command.summary);
    before = &command;
  }
  text += "\nOptions\n";
  for (const OptionDescription& option : top_options())
    text += fmt::format("  {:<14}{}\n", option.text(), option.meaning);
  text += fmt::format("\nExample\n{}", indented_lines(main_example));
  text +=
      "\n'gdr help COMMAND' describes a command, as 'gdr COMMAND --help' does.\nExit status: "
      "0 success, 1 error, 2 wrong usage.\n";
  return text;
}

std::string command_help(const CommandDescription& command) {
  std::string text =
      fmt::format("gdr {}: {}\n\nUsage: {}\n", command.name, command.summary, command.usage());
  if (!command.details.empty()) text += fmt::format("\n{}\n", command.details);
  if (!command.arguments.empty()) text += "\nArguments\n";
  for (const OptionDescription& argument : command.arguments)
    text += help_row(argument.text(), argument.meaning);
  text += "\nOptions\n";
  for (const OptionDescription& option : command.options)
    text += help_row(option.text(), option.meaning + (option.required ? " (required)" : ""));
  return text + "\nExample\n" + indented_lines(command.example);
}

}  // namespace gdr::cli
