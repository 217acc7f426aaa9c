// The commands that run at a server, and what their arguments mean: which of them name files.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace gdr::driver {

enum class ArgumentKind {
  Flag,    ///< without a value
  Value,   ///< a number or a word
  Input,   ///< a file that is read
  Kernel,  ///< a kernel of the library, or a file with one
  Output,  ///< a file that is written
  Folder,  ///< a folder that is written
};

struct JobArgument {
  std::string_view name;  ///< "--eps", or "FILE" for the one without a name
  ArgumentKind kind = ArgumentKind::Value;
  std::string_view fallback = {};  ///< Output, Folder: name of the file without the argument
};

/// The arguments of a command; nothing for commands that do not run at servers. Others than these
/// are not passed on, so that new ones cannot reach files of the server by mistake.
std::span<const JobArgument> job_arguments(std::string_view command) noexcept;
const JobArgument* find_argument(std::span<const JobArgument> arguments,
                                 std::string_view name) noexcept;

bool names_file(ArgumentKind kind, std::string_view value) noexcept;

/// Splits the arguments of a job, "--NAME=VALUE", "--FLAG" or "FILE=VALUE".
struct GivenArgument {
  const JobArgument* argument = nullptr;
  std::string value;
};
/// Throws Error (Usage) for a command or an argument that is not in the table.
std::vector<GivenArgument> parse_job(std::span<const std::string> arguments);

}  // namespace gdr::driver
