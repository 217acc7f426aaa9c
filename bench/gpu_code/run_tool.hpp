// Running the tools of compilers: found in folders, their output as text.
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

namespace gdr::bench {

/// What a program printed to its standard output and error output, and whether it succeeded.
struct ToolOutput {
  bool succeeded = false;
  std::string text;
};
/// Runs a program with arguments, none of which the shell interprets. Throws Error (Io) if no
/// process can be started.
ToolOutput run_tool(const std::vector<std::string>& command);
/// The same, of a program that must succeed: throws Error (Program) with what it printed.
std::string run_required_tool(const std::vector<std::string>& command);

/// The first of these names that is a file in a folder of PATH or in one of `folders`, which come
/// first.
std::optional<std::string> find_tool(const std::vector<std::string>& names,
                                     const std::vector<std::filesystem::path>& folders = {});

/// A new folder in that of temporary files, removed with this.
class WorkFolder {
 public:
  WorkFolder();  ///< Throws Error (Io) if it cannot be made.
  WorkFolder(const WorkFolder&) = delete;
  ~WorkFolder();
  const std::filesystem::path& path() const noexcept { return path_; }

 private:
  std::filesystem::path path_;
};

}  // namespace gdr::bench
