// Laying out help texts.
#include "libgdr/cli/help.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <vector>

#include "gdr/version.hpp"

namespace gdr::cli {
namespace {

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
  while (!text.empty()) {
    const std::size_t end = std::min(text.find('\n'), text.size());
    result += fmt::format("  {}\n", text.substr(0, end));
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return result;
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

}  // namespace gdr::cli
