#include "emulator/host/gpu/cuda/library_search.hpp"

#include <dlfcn.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>

namespace gdr::gpu::cuda {
namespace {

namespace fs = std::filesystem;

/// The folders besides those of the loader.
std::vector<fs::path> library_folders(const std::string& package_folder) {
  std::vector<fs::path> folders;
  for (const char* const variable : {"CUDA_HOME", "CUDA_PATH"})
    if (const char* const given = std::getenv(variable); given != nullptr && *given != '\0')
      folders.push_back(fs::path(given) / "lib64");
  folders.emplace_back("/usr/local/cuda/lib64");
  if (const char* const conda = std::getenv("CONDA_PREFIX"))
    folders.push_back(fs::path(conda) / "lib");
  std::vector<fs::path> packages;
  Dl_info own{};
  if (dladdr(reinterpret_cast<const void*>(&library_folders), &own) != 0 &&
      own.dli_fname != nullptr) {
    std::error_code error;
    const fs::path library = fs::absolute(own.dli_fname, error);
    packages.push_back(library.parent_path().parent_path());
  }
  if (const char* const active = std::getenv("VIRTUAL_ENV")) {
    std::error_code error;
    for (const auto& version : fs::directory_iterator(fs::path(active) / "lib", error))
      packages.push_back(version.path() / "site-packages");
  }
  for (const fs::path& package : packages)
    for (const std::string& part : {std::string("cu13"), package_folder})
      folders.push_back(package / "nvidia" / part / "lib");
  return folders;
}

}  // namespace

std::vector<int> versions_for(int driver_version) {
  constexpr int oldest = 11, newest = 14;
  const int own = std::max(driver_version / 1000, oldest);
  std::vector<int> versions;
  for (int major = own; major >= oldest; --major) versions.push_back(major);
  for (int major = own + 1; major <= newest; ++major) versions.push_back(major);
  return versions;
}

std::vector<std::string> places_of(const std::string& library, const std::string& package) {
  std::vector<std::string> places{library};
  for (const fs::path& folder : library_folders(package))
    if (std::error_code error; fs::exists(folder / library, error))
      places.push_back((folder / library).string());
  return places;
}

}  // namespace gdr::gpu::cuda
