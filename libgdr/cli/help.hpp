// Help texts: one layout for all commands, whatever version of the option parser is installed.
#pragma once

#include <CLI/App.hpp>
#include <string>
#include <string_view>

#include "libgdr/cli/command.hpp"

namespace gdr::cli {

/// `gdr --help`: the commands under their headings.
std::string main_help();

/// `gdr NAME --help`: usage, summary, arguments, options, example.
std::string command_help(const CLI::App& app, const Command& command);

/// Text broken into lines of at most `width` columns, the second and later ones indented.
std::string wrap(std::string_view text, std::size_t indent, std::size_t width = 88);

}  // namespace gdr::cli
