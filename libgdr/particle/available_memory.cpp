#include "libgdr/particle/available_memory.hpp"

#include <sys/resource.h>

#include <algorithm>
#include <fstream>
#include <limits>
#include <optional>
#include <string>

namespace gdr {
namespace {

constexpr std::size_t unlimited = std::numeric_limits<std::size_t>::max();

/// The number of kB behind a name in a file of /proc, in bytes.
std::optional<std::size_t> bytes_named(const char* path, const std::string& name) {
  std::ifstream file(path);
  for (std::string word; file >> word;)
    if (std::size_t kilobytes = 0; word == name && file >> kilobytes) return kilobytes * 1024;
  return {};
}

/// What a limit leaves beside what is used.
std::size_t left(std::size_t limit, std::size_t used) { return limit > used ? limit - used : 0; }

/// The smallest limit of the process's control groups: of version 1, or 2 ("0::/path").
std::size_t control_group_limit() {
  std::size_t least = unlimited;
  const auto consider = [&](const std::string& path) {
    std::ifstream file(path);
    if (std::size_t limit = 0; file >> limit) least = std::min(least, limit);  // not of "max"
  };
  std::ifstream groups("/proc/self/cgroup");
  for (std::string line; std::getline(groups, line);) {
    const std::size_t colon = line.find(':'), last = line.rfind(':');
    if (colon == std::string::npos) continue;
    const bool second = last == colon + 1;
    if (!second && line.substr(colon + 1, last - colon - 1) != "memory") continue;
    const std::string root = second ? "/sys/fs/cgroup" : "/sys/fs/cgroup/memory";
    const std::string file = second ? "/memory.max" : "/memory.limit_in_bytes";
    consider(root + line.substr(last + 1) + file);
    consider(root + file);  // in a container its own group is the root
  }
  return least;
}

}  // namespace

std::size_t available_memory() {
  std::size_t bytes = bytes_named("/proc/meminfo", "MemAvailable:").value_or(unlimited);
  bytes = std::min(
      bytes, left(control_group_limit(), bytes_named("/proc/self/status", "VmRSS:").value_or(0)));
  rlimit most{};
  if (::getrlimit(RLIMIT_AS, &most) == 0 && most.rlim_cur != RLIM_INFINITY)
    bytes = std::min(bytes, left(static_cast<std::size_t>(most.rlim_cur),
                                 bytes_named("/proc/self/status", "VmSize:").value_or(0)));
  return bytes;
}

}  // namespace gdr
