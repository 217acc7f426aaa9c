#include "emulator/host/host_limits.hpp"

#include <sys/mman.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <string_view>

namespace gdr {
namespace {

constexpr std::array<std::string_view, 2> texts{
    "the system refuses further threads, so fewer compute (raise the limit of processes: ulimit "
    "-u, or pids of the container)",
    "memory may not become executable, so no machine code is generated (allow mprotect with "
    "PROT_EXEC: SELinux execmem, seccomp)"};

std::array<std::atomic<bool>, texts.size()> met = {};

}  // namespace

void report_host_limit(HostLimit limit) noexcept {
  met[static_cast<std::size_t>(limit)].store(true, std::memory_order_relaxed);
}

std::string refused_thread_text() {
  return "the system refuses further threads and processes (raise their limit: ulimit -u, or pids "
         "of "
         "the container)";
}

std::string host_limits_text() {
  std::string text;
  for (std::size_t k = 0; k < texts.size(); ++k) {
    if (!met[k].load(std::memory_order_relaxed)) continue;
    text.append(text.empty() ? "" : "; ").append(texts[k]);
  }
  return text;
}

bool can_execute_generated_code() noexcept {
  const auto bytes = static_cast<std::size_t>(sysconf(_SC_PAGESIZE));
  void* const page =
      mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (page == MAP_FAILED) return true;  // another limit
  const bool can = mprotect(page, bytes, PROT_READ | PROT_EXEC) == 0;
  munmap(page, bytes);
  if (!can) report_host_limit(HostLimit::ExecutableCode);
  return can;
}

}  // namespace gdr
