// The texts that a kernel is made of: the file itself and what it includes.
#pragma once

#include <deque>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "emulator/assembler/diagnostic.hpp"

namespace gdr::kc::front {

/// More characters than this, in all texts together, are refused.
constexpr std::size_t most_characters = std::size_t{1} << 20;

class Sources {
 public:
  Sources(std::string_view text, const std::string& name, std::vector<std::string> include_dirs);

  /// A deque: texts do not move when more are read.
  std::deque<SourceText> texts;
  /// Files that are being read, the innermost last.
  std::vector<std::uint32_t> open;

  struct Included {
    std::uint32_t file = 0;
    bool is_new = false;  ///< read just now, for the first time
  };
  /// The file that `name` means in an include of the file `from`: searched beside it, then in the
  /// include folders. Nothing if it cannot be read, or if all texts together became too long.
  std::optional<Included> find(const std::string& name, std::uint32_t from);

 private:
  std::optional<Included> read(const std::string& path);

  std::vector<std::string> include_dirs_;
  std::unordered_map<std::string, std::uint32_t> numbers_;  ///< of the texts, by normalised path
  std::size_t characters_ = 0;
};

}  // namespace gdr::kc::front
