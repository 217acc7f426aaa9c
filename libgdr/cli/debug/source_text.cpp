#include "libgdr/cli/debug/source_text.hpp"

#include <filesystem>
#include <sstream>

#include "gdr/error.hpp"
#include "libgdr/io/atomic_file.hpp"

namespace gdr::cli {
namespace {

std::string trimmed(const std::string& line) {
  const std::size_t first = line.find_first_not_of(" \t\r");
  if (first == std::string::npos) return {};
  return line.substr(first, line.find_last_not_of(" \t\r") - first + 1);
}

}  // namespace

void SourceText::add(const std::string& file, std::string_view text) {
  std::vector<std::string>& lines = files_[file];
  lines.clear();
  std::istringstream in{std::string(text)};
  for (std::string line; std::getline(in, line);) lines.push_back(trimmed(line));
}

std::string SourceText::line(const std::string& file, std::uint32_t number) {
  if (file.empty() || number == 0) return {};
  if (!files_.contains(file)) {
    files_[file];  // also if it cannot be read: it is not tried again
    for (const std::filesystem::path& path :
         {std::filesystem::path(file), std::filesystem::path(folder_) / file}) {
      std::error_code ignored;
      if (!std::filesystem::is_regular_file(path, ignored)) continue;
      try {
        add(file, read_file(path.string()));
        break;
      } catch (const Error&) {
        continue;  // a listing without source is of use, too
      }
    }
  }
  const std::vector<std::string>& lines = files_[file];
  return number <= lines.size() ? lines[number - 1] : std::string();
}

}  // namespace gdr::cli
