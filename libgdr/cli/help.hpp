// Help texts, in one layout for all commands, whatever version of the option parser is installed.
#pragma once

#include <string>

#include "libgdr/cli/description.hpp"

namespace gdr::cli {

/// `gdr --help`: the commands under their headings.
std::string main_help(const std::vector<CommandDescription>& commands);

/// `gdr NAME --help`: usage, summary, arguments, options, example.
std::string command_help(const CommandDescription& command);

/// A command line of the main help.
extern const char* const main_example;

}  // namespace gdr::cli
