#include "kernels/compiler/front/sources.hpp"

#include <filesystem>

#include "emulator/assembler/front/files.hpp"

namespace gdr::kc::front {
Sources::Sources(std::string_view text, const std::string& name,
                 std::vector<std::string> include_dirs)
    : include_dirs_(std::move(include_dirs)), characters_(text.size()) {
  texts.push_back({name, std::string(text)});
  numbers_.emplace(std::filesystem::path(name).lexically_normal().string(), 0);
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
  return assembly::find_include(name, texts[from].name, include_dirs_,
                                [&](const std::string& path) { return read(path); });
}

}  // namespace gdr::kc::front
