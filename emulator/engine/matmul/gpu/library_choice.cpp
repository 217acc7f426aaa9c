#include "emulator/engine/matmul/gpu/library_choice.hpp"

#include <cstdlib>
#include <string>
#include <string_view>
#include <utility>

#include "gdr/error.hpp"

namespace gdr {

std::shared_ptr<gpu::Blas> multiplying_library(gpu::Device& device) {
  const char* const given = std::getenv("GDR_GPU_BLAS");
  const std::string_view wanted = given != nullptr ? given : "";
  if (wanted == "own") return nullptr;
  if (!wanted.empty() && wanted != "library")
    throw Error(ErrorCategory::Usage,
                "GDR_GPU_BLAS is '" + std::string(wanted) +
                    "'; it is 'own', for kernels of GDR, or 'library', for cuBLAS or CLBlast");
  gpu::BlasLibrary library = device.blas();
  if (wanted == "library" && library.blas == nullptr)
    throw Error(ErrorCategory::Unsupported, "GDR_GPU_BLAS is 'library', but " + library.reason);
  return std::move(library.blas);
}

}  // namespace gdr
