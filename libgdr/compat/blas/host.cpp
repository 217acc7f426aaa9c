// Finding the host's BLAS, excluding this library.
#include "libgdr/compat/blas/host.hpp"

#include <dlfcn.h>
#include <link.h>

#include <string>
#include <vector>

#include "libgdr/compat/blas/settings.hpp"

/// Identifies this library under any name and in any copy.
extern "C" [[gnu::visibility("default")]] const char gdrblas_version[] = GDR_VERSION;

namespace gdr::blas {
namespace {

struct Host {
  void* handle = nullptr;
  std::string path = "none";
};

/// The system's own BLAS comes first, as the program would have used it; then usual names, in case
/// the first one is this library.
constexpr const char* usual[] = {"libblas.so.3",
                                 "libopenblas.so.0",
                                 "libopenblas.so",
                                 "libblis.so.4",
                                 "libmkl_rt.so.2",
                                 "libmkl_rt.so.1",
                                 "/usr/lib/" GDR_MULTIARCH "/blas/libblas.so.3",
                                 "/usr/lib64/libblas.so.3",
                                 "/usr/lib/libblas.so.3"};

/// The library if it is a BLAS and not this one; else null, and why.
void* open_blas(const char* name, std::string& why) {
  void* const handle = dlopen(name, RTLD_NOW | RTLD_LOCAL);
  if (handle == nullptr) {
    const char* const message = dlerror();
    why = message == nullptr ? "it cannot be opened" : message;
    return nullptr;
  }
  if (dlsym(handle, "gdrblas_version") != nullptr)
    why = "it is this library, or needs it";
  else if (dlsym(handle, "dgemm_") == nullptr)
    why = "it has no dgemm_";
  else
    return handle;
  dlclose(handle);
  return nullptr;
}

std::string path_of(void* handle) {
  Dl_info info;
  return dladdr(dlsym(handle, "dgemm_"), &info) != 0 ? info.dli_fname : "?";
}

const Host* search() {
  auto* const host = new Host;  // never deleted
  std::string why;
  const std::string& wanted = settings().host;
  if (wanted == "none") return host;
  if (!wanted.empty()) {
    host->handle = open_blas(wanted.c_str(), why);
    if (host->handle == nullptr)
      report("GDR_BLAS_HOST=" + wanted + " cannot be used: " + why +
             "; searching for another BLAS");
  }
  for (const char* name : usual)
    if (host->handle == nullptr) host->handle = open_blas(name, why);
  if (host->handle != nullptr)
    host->path = path_of(host->handle);
  else
    report(
        "no BLAS found on this host (set GDR_BLAS_HOST=PATH): products that do not run on the "
        "device use plain loops");
  return host;
}

const Host& host() {
  static const Host* const found = search();
  return *found;
}

/// Paths of loaded libraries that may be the BLAS of a wheel.
std::vector<std::string> loaded_blas() {
  std::vector<std::string> paths;
  dl_iterate_phdr(
      [](dl_phdr_info* info, std::size_t, void* to) {
        const std::string path = info->dlpi_name == nullptr ? "" : info->dlpi_name;
        if (path.find("openblas") != std::string::npos)
          static_cast<std::vector<std::string>*>(to)->push_back(path);
        return 0;
      },
      &paths);
  return paths;
}

}  // namespace

void* host_routine(const char* name) noexcept {
  void* const handle = host().handle;
  return handle == nullptr ? nullptr : dlsym(handle, name);
}

const char* host_path() noexcept { return host().path.c_str(); }

void* wheel_routine(const char* name) noexcept {
  for (const std::string& path : loaded_blas()) {
    void* const handle = dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL | RTLD_NOLOAD);
    if (handle == nullptr) continue;
    void* const found = dlsym(handle, name);
    dlclose(handle);  // the caller keeps it loaded
    if (found != nullptr) return found;
  }
  return nullptr;
}

}  // namespace gdr::blas
