#include "emulator/engine/matmul/gpu/library_choice.hpp"

#include <cstdlib>
#include <string>
#include <string_view>

#include "gdr/error.hpp"

namespace gdr {

bool multiplies_by_library(const Gpu& gpu) {
  const char* const given = std::getenv("GDR_GPU_BLAS");
  const std::string_view wanted = given != nullptr ? given : "";
  if (wanted == "own") return false;
  if (!wanted.empty() && wanted != "library")
    throw Error(ErrorCategory::Usage,
                "GDR_GPU_BLAS is '" + std::string(wanted) +
                    "'; it is 'own', for kernels of GDR, or 'library', for cuBLAS or CLBlast");
  const gpu::BlasLibrary library = gpu.device->blas();
  if (wanted == "library" && library.blas == nullptr)
    throw Error(ErrorCategory::Unsupported, "GDR_GPU_BLAS is 'library', but " + library.reason);
  return library.blas != nullptr;
}

}  // namespace gdr
