// Completion scripts for shells, from the descriptions of the commands.
#pragma once

#include <string>
#include <vector>

#include "libgdr/cli/description.hpp"

namespace gdr::cli {

/// Scripts that complete commands, options, and values as far as their types say what they are.
std::string bash_completion(const std::vector<CommandDescription>& commands);
std::string zsh_completion(const std::vector<CommandDescription>& commands);
std::string fish_completion(const std::vector<CommandDescription>& commands);

}  // namespace gdr::cli
