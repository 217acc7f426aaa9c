// Confinement of a process to some folders, by Linux's Landlock.
#pragma once

#include <span>
#include <string>

namespace gdr::cli {

/// A folder, or a file, that a confined process may use.
struct AllowedPath {
  std::string path;
  bool write = false;  ///< also create, change and remove files and folders below it
};

/// Whether the system has Landlock (Linux 5.13, unless it was turned off).
bool can_confine() noexcept;

/// Confines this process and its threads, for ever: it can open files below these paths only,
/// whatever links lead elsewhere, and no TCP connections. Paths that do not exist are left out.
/// Throws Error (Unsupported) where the system cannot do that.
void confine(std::span<const AllowedPath> allowed);

}  // namespace gdr::cli
