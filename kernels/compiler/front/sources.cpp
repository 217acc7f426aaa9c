#include "kernels/compiler/front/sources.hpp"

#include <filesystem>

#include "emulator/assembler/front/files.hpp"

namespace gdr::kc::front {
namespace {

namespace fs = std::filesystem;

std::string normal(const fs::path& path) { return path.lexically_normal().string(); }

}  // namespace

Sources::Sources(std::string_view text, const std::string& name,
                 std::vector<std::string> include_dirs)
    : include_dirs_(std::move(include_dirs)), characters_(text.size()) {
  texts.push_back({name, std::string(text)});
  numbers_.emplace(normal(name), 0);
}

std::optional<Sources::Included> Sources::read(const std::string& path) {
  if (const auto known = numbers_.find(path); known != numbers_.end())
    return Included{known->second, false};
  std::optional<std::string> text = assembly::read_text(path);
  if (!text || text->size() > max_characters - characters_) return std::nullopt;
  characters_ += text->size();
  const auto number = static_cast<std::uint32_t>(texts.size());
  texts.push_back({path, std::move(*text)});
  numbers_.emplace(path, number);
  return Included{number, true};
}

std::optional<Sources::Included> Sources::find(const std::string& name, std::uint32_t from) {
  const fs::path path(name);
  const fs::path beside = fs::path(texts[from].name).parent_path();
  if (auto found = read(normal(path.is_absolute() ? path : beside / path))) return found;
  if (path.is_absolute()) return std::nullopt;
  for (const std::string& folder : include_dirs_) {
    if (auto found = read(normal(fs::path(folder) / path))) return found;
  }
  return std::nullopt;
}

}  // namespace gdr::kc::front
