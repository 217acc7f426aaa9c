#include <atomic>
#include <cstdlib>
#include <fstream>

#include "emulator/host/gpu/backend.hpp"
#include "gdr/error.hpp"

namespace gdr::gpu {

void write_text(const std::string& text) {
  const char* const folder = std::getenv("GDR_GPU_TEXT");
  if (folder == nullptr || *folder == '\0') return;
  static std::atomic<unsigned> number{0};
  const std::string path = std::string(folder) + "/" + std::to_string(number++) + ".cl";
  std::ofstream file(path);
  if (!(file << text) || !file.flush())
    throw Error(ErrorCategory::Usage, "GDR_GPU_TEXT: " + path + " cannot be written");
}

}  // namespace gdr::gpu
