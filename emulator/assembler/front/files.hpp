// Reading of source texts and resolution of includes.
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

namespace gdr::assembly {

/// The contents of a regular file of at most 1 GiB, or nothing.
std::optional<std::string> read_text(const std::string& path);

/// Resolve an include: `open` is tried with the path of `name` in the directory of the file `from`,
/// then in the include directories. Returns its first result that is not empty.
template <class Open>
auto find_include(const std::string& name, const std::string& from,
                  const std::vector<std::string>& include_dirs, const Open& open)
    -> decltype(open(name)) {
  const std::filesystem::path path(name);
  const auto in = [&](const std::filesystem::path& directory) {
    return open((directory / path).lexically_normal().string());
  };
  if (auto found = in(std::filesystem::path(from).parent_path())) return found;
  if (path.is_absolute()) return {};
  for (const std::string& directory : include_dirs)
    if (auto found = in(directory)) return found;
  return {};
}

}  // namespace gdr::assembly
