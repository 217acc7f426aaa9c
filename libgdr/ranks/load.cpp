// Finds and loads the MPI plugin.
#include <dlfcn.h>

#include <cstdlib>
#include <filesystem>

#include "gdr/error.hpp"
#include "libgdr/ranks/plugin.hpp"
#include "libgdr/ranks/ranks.hpp"

namespace gdr {
namespace {

/// The directory of libgdr.
std::filesystem::path own_directory() {
  Dl_info info{};
  if (dladdr(reinterpret_cast<const void*>(&mpi_library_path), &info) == 0) return {};
  std::error_code ignored;
  return std::filesystem::weakly_canonical(info.dli_fname, ignored).parent_path();
}

bool has_symbol(const char* name) { return dlsym(RTLD_DEFAULT, name) != nullptr; }
bool is_set(const char* name) { return std::getenv(name) != nullptr; }

/// Whether MPICH is loaded in this process or started it.
bool is_mpich() {
  if (has_symbol("MPIR_Err_create_code")) return true;
  if (has_symbol("ompi_mpi_comm_world")) return false;
  return !is_set("OMPI_COMM_WORLD_SIZE") && is_set("PMI_RANK");
}
/// Whether Open MPI 5 or later, which has ULFM, is loaded in this process or started it.
bool is_open_mpi_5() {
  if (has_symbol("ompi_mpi_comm_world")) return has_symbol("MPIX_Comm_revoke");
  return is_set("OMPI_COMM_WORLD_SIZE") && is_set("OMPI_VERSION");
}

/// Plugins for other MPIs than that of the build.
struct Choice {
  const char* file;
  bool (*applies)();
};
constexpr Choice choices[] = {{"libgdr_mpi_mpich.so", is_mpich},
                              {"libgdr_mpi_ulfm.so", is_open_mpi_5}};

RankPlugin load_plugin() {
  const std::string path = mpi_library_path();
  // Open MPI's components resolve its symbols globally.
  void* const library = dlopen(path.c_str(), RTLD_NOW | RTLD_GLOBAL);
  if (library == nullptr) {
    const char* const why = dlerror();
    throw Error(ErrorCategory::Unsupported,
                "devices of kind \"mpi\" need " + path + ", which cannot be loaded (" +
                    (why != nullptr ? why : "no reason given") +
                    "); build with MPI installed (libopenmpi-dev or libmpich-dev) and without "
                    "GDR_MPI=OFF, or set GDR_MPI_LIBRARY to the library");
  }
  void* const symbol = dlsym(library, rank_plugin_symbol);
  if (symbol == nullptr)
    throw Error(ErrorCategory::Unsupported,
                path + " is not of the same build as libgdr; install both together");
  return reinterpret_cast<RankPlugin>(symbol);
}

}  // namespace

std::string mpi_library_path() {
  if (const char* given = std::getenv("GDR_MPI_LIBRARY"); given != nullptr && *given != '\0')
    return given;
  const std::filesystem::path directory = own_directory();
  std::error_code ignored;
  for (const Choice& choice : choices)
    if (choice.applies() && std::filesystem::exists(directory / choice.file, ignored))
      return (directory / choice.file).string();
  return (directory / "libgdr_mpi.so").string();
}

std::unique_ptr<RankGroup> mpi_ranks(std::optional<std::int32_t> communicator) {
  static const RankPlugin plugin = load_plugin();
  char error[512] = "";
  RankGroup* const group = plugin(communicator.value_or(0), !communicator, error, sizeof error);
  if (group == nullptr)
    throw Error(ErrorCategory::Device, std::string("MPI cannot be used: ") + error);
  return std::unique_ptr<RankGroup>(group);
}

}  // namespace gdr
