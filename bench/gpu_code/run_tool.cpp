#include "bench/gpu_code/run_tool.hpp"

#include <stdlib.h>

#include <array>
#include <cstdio>
#include <memory>
#include <sstream>

#include "gdr/error.hpp"

namespace gdr::bench {
namespace {

namespace fs = std::filesystem;

std::string quoted(const std::string& word) {
  std::string made = "'";
  for (const char c : word) made += c == '\'' ? std::string("'\\''") : std::string(1, c);
  return made + "'";
}

}  // namespace

ToolOutput run_tool(const std::vector<std::string>& command) {
  std::string line;
  for (const std::string& word : command) line += quoted(word) + ' ';
  ToolOutput output;
  std::FILE* const pipe = popen((line + "2>&1 </dev/null").c_str(), "r");
  if (pipe == nullptr) throw Error(ErrorCategory::Io, "cannot start '" + command.front() + "'");
  std::array<char, 65536> buffer{};
  for (std::size_t got; (got = std::fread(buffer.data(), 1, buffer.size(), pipe)) > 0;)
    output.text.append(buffer.data(), got);
  output.succeeded = pclose(pipe) == 0;
  return output;
}

std::string run_required_tool(const std::vector<std::string>& command) {
  ToolOutput output = run_tool(command);
  if (!output.succeeded)
    throw Error(ErrorCategory::Program, "'" + command.front() + "' failed: " + output.text);
  return std::move(output.text);
}

std::optional<std::string> find_tool(const std::vector<std::string>& names,
                                     const std::vector<fs::path>& folders) {
  std::vector<fs::path> all = folders;
  const char* const path = std::getenv("PATH");
  std::istringstream list(path != nullptr ? path : "");
  for (std::string folder; std::getline(list, folder, ':');) all.emplace_back(folder);
  for (const std::string& name : names)
    for (const fs::path& folder : all)
      if (std::error_code error; fs::is_regular_file(folder / name, error))
        return (folder / name).string();
  return std::nullopt;
}

WorkFolder::WorkFolder() {
  std::string name = (fs::temp_directory_path() / "gdr_bench_XXXXXX").string();
  if (mkdtemp(name.data()) == nullptr)
    throw Error(ErrorCategory::Io, "cannot make a folder " + name);
  path_ = name;
}
WorkFolder::~WorkFolder() {
  std::error_code ignored;
  fs::remove_all(path_, ignored);
}

}  // namespace gdr::bench
