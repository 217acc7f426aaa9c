// Parts of libgdr that are libraries of their own, loaded when they are first used: programs that
// do not need them do not load MPI or OpenSSL.
#pragma once

#include <string>

namespace gdr {

struct Plugin {
  std::string path;
  const char* symbol;   ///< the function that a caller needs
  const char* users;    ///< begins the message: "boards of other hosts"
  const char* remedy;   ///< ends the message: "build with ..."
  bool global = false;  ///< further libraries, which it loads, find its libraries' symbols
};

/// The value of an environment variable, or else the path of `file`, which lies beside libgdr.so (a
/// program that contains the library looks beside itself, and where its installation has
/// libraries).
std::string plugin_path(const char* variable, const std::string& file);
/// Whether there is such a file.
bool plugin_exists(const std::string& file);
/// The address of the symbol. Throws Error (Unsupported) with the reason and the remedy.
void* load_plugin(const Plugin& plugin);

}  // namespace gdr
