// Texts without names of people and hosts.
#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace gdr::cli {

/// Private words, and what is written in their place. The home folder comes first, as its path may
/// contain the name of the user.
using PrivateWords = std::vector<std::pair<std::string, std::string>>;

/// Home folder, user and host of this process, from the system and from the environment.
PrivateWords private_words();

/// The text with private words replaced where they are whole words, and with other folders under
/// /home, /Users and /run/user reduced to these.
std::string anonymous(std::string_view text, const PrivateWords& words);

}  // namespace gdr::cli
