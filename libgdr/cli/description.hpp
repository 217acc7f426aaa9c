// Commands and their options as plain data, read from the parsers: what help texts, manual pages
// and shell completion are laid out from.
#pragma once

#include <CLI/App.hpp>
#include <string>
#include <vector>

#include "libgdr/cli/command.hpp"

namespace gdr::cli {

/// What a shell may offer for a value, by the type of the value ("FILE", "ENGINE", "pad|error").
struct Offer {
  bool files = false, folders = false;
  std::vector<std::string> words = {};
};

/// An argument or an option.
struct OptionDescription {
  std::vector<std::string> names;  ///< "-o", "--output"; of an argument "FILE"
  std::string type;                ///< kind of the value; empty for a flag
  std::string meaning;
  bool required = false;
  bool many = false;  ///< may be given several times
  Offer offer;

  /// "-o, --output FILE".
  std::string text() const;
};

struct CommandDescription {
  std::string name, summary, example, details;
  Group group = Group::Machine;
  std::vector<OptionDescription> arguments, options;

  /// "gdr asm [OPTIONS] FILE".
  std::string usage() const;
};

/// A command whose options have been added to `app`.
CommandDescription describe(const CLI::App& app, const Command& command);

/// All commands that are listed in `gdr --help`, by group and name.
std::vector<CommandDescription> describe_commands();

/// Their names.
std::vector<std::string> command_names();

/// Options of `gdr` itself.
const std::vector<OptionDescription>& top_options();

/// Title of a group of commands.
std::string_view group_title(Group group) noexcept;

}  // namespace gdr::cli
