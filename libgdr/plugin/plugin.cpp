#include "libgdr/plugin/plugin.hpp"

#include <dlfcn.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <optional>

#include "gdr/error.hpp"

namespace gdr {
namespace {

namespace fs = std::filesystem;

/// The folder of the file that contains this function: libgdr.so, or a program. The name of a
/// program is what it was called by, which may be a name in the search path.
fs::path own_folder() {
  Dl_info info{};
  if (dladdr(reinterpret_cast<const void*>(&load_plugin), &info) == 0) return {};
  std::error_code ignored;
  const bool is_program = std::strcmp(info.dli_fname, program_invocation_name) == 0;
  const fs::path file = is_program ? fs::path("/proc/self/exe") : fs::path(info.dli_fname);
  return fs::weakly_canonical(file, ignored).parent_path();
}

/// The plugin's file, if there is one: beside libgdr.so or a program, for installed programs in the
/// folder of the libraries, for tests in the build's.
std::optional<fs::path> find_plugin(const std::string& file) {
  const fs::path own = own_folder();
  for (const char* const folder : {"", GDR_PROGRAMS_TO_LIBRARIES, "../libgdr"}) {
    std::error_code ignored;
    const fs::path path = fs::weakly_canonical(own / folder / file, ignored);
    if (fs::exists(path, ignored)) return path;
  }
  return {};
}

}  // namespace

std::string plugin_path(const char* variable, const std::string& file) {
  if (const char* given = std::getenv(variable); given != nullptr && *given != '\0') return given;
  return find_plugin(file).value_or(own_folder() / file).string();
}

bool plugin_exists(const std::string& file) { return find_plugin(file).has_value(); }

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
