#include "libgdr/plugin/plugin.hpp"

#include <dlfcn.h>

#include <cstdlib>
#include <filesystem>

#include "gdr/error.hpp"

namespace gdr {
namespace {

std::filesystem::path directory_of_libgdr() {
  Dl_info info{};
  if (dladdr(reinterpret_cast<const void*>(&load_plugin), &info) == 0) return {};
  std::error_code ignored;
  return std::filesystem::weakly_canonical(info.dli_fname, ignored).parent_path();
}

}  // namespace

std::string plugin_path(const char* variable, const std::string& file) {
  if (const char* given = std::getenv(variable); given != nullptr && *given != '\0') return given;
  return (directory_of_libgdr() / file).string();
}

bool plugin_exists(const std::string& file) {
  std::error_code ignored;
  return std::filesystem::exists(directory_of_libgdr() / file, ignored);
}

void* load_plugin(const Plugin& plugin) {
  void* const library =
      dlopen(plugin.path.c_str(), RTLD_NOW | (plugin.global ? RTLD_GLOBAL : RTLD_LOCAL));
  if (library == nullptr) {
    const char* const why = dlerror();
    throw Error(ErrorCategory::Unsupported,
                std::string(plugin.users) + " need " + plugin.path + ", which cannot be loaded (" +
                    (why != nullptr ? why : "no reason given") + "); " + plugin.remedy);
  }
  void* const symbol = dlsym(library, plugin.symbol);
  if (symbol == nullptr)
    throw Error(ErrorCategory::Unsupported,
                plugin.path + " is not of the same build as libgdr; install both together");
  return symbol;
}

}  // namespace gdr
