// Lines of source files, for listings.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace gdr::cli {

/// Texts of source files by their names in a program; files that cannot be read have no lines.
class SourceText {
 public:
  /// `folder`: where files of relative names are searched, too. Empty: the current one only.
  explicit SourceText(std::string folder = {}) : folder_(std::move(folder)) {}
  /// The text of a file that is generated.
  void add(const std::string& file, std::string_view text);
  /// A line without blanks around it; empty if it is unknown.
  std::string line(const std::string& file, std::uint32_t number);

 private:
  std::string folder_;
  std::map<std::string, std::vector<std::string>> files_;
};

}  // namespace gdr::cli
