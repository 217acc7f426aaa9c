#include "emulator/host/executable_code.hpp"

#include <sys/mman.h>

#include <cstring>

#include "emulator/host/host_limits.hpp"

namespace gdr {

std::shared_ptr<const std::byte> executable_copy(std::span<const std::uint32_t> code) {
  const std::size_t bytes = code.size_bytes();
  void* const pages =
      mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (pages == MAP_FAILED) return nullptr;
  std::memcpy(pages, code.data(), bytes);
  if (mprotect(pages, bytes, PROT_READ | PROT_EXEC) != 0) {
    munmap(pages, bytes);
    report_host_limit(HostLimit::ExecutableCode);
    return nullptr;
  }
  // Instruction caches do not see what was written, on other hosts than x86.
  [[maybe_unused]] auto* const begin = static_cast<char*>(pages);
#if !defined(__wasm__)  // which has no such pages
  __builtin___clear_cache(begin, begin + bytes);
#endif
  return {static_cast<const std::byte*>(pages),
          [bytes](const std::byte* p) { munmap(const_cast<std::byte*>(p), bytes); }};
}

}  // namespace gdr
