// Source texts of a kernel: the file and its includes.
#pragma once

#include <deque>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "emulator/assembler/diagnostic.hpp"

namespace gdr::kc::front {

/// Limit of the total size of all texts in characters.
constexpr std::size_t max_characters = std::size_t{1} << 20;

class Sources {
 public:
  Sources(std::string_view text, const std::string& name, std::vector<std::string> include_dirs);

  /// A deque: references stay valid when texts are added.
  std::deque<SourceText> texts;
  /// Files being read, the innermost last.
  std::vector<std::uint32_t> open;

  struct Included {
    std::uint32_t file = 0;
    bool is_new = false;  ///< read for the first time
  };
  /// The file `name` of an include in the file `from`: searched in that file's directory, then in
  /// the include directories. Nothing if it cannot be read, or if the total size exceeds the limit.
  std::optional<Included> find(const std::string& name, std::uint32_t from);

 private:
  std::optional<Included> read(const std::string& path);

  std::vector<std::string> include_dirs_;
  std::unordered_map<std::string, std::uint32_t> numbers_;  ///< text index by normalised path
  std::size_t characters_ = 0;
};

}  // namespace gdr::kc::front
