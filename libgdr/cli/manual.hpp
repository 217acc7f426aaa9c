// Manual pages in the language of man(7), from the descriptions of the commands.
#pragma once

#include <string>
#include <vector>

#include "libgdr/cli/description.hpp"

namespace gdr::cli {

/// gdr(1): the commands by group, options, environment, exit status.
std::string manual_page(const std::vector<CommandDescription>& commands);
/// gdr-NAME(1).
std::string manual_page(const CommandDescription& command);

}  // namespace gdr::cli
