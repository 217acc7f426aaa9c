// How this program was built.
#pragma once

#include <string_view>

namespace gdr::cli {

/// What the build wrote down about itself.
struct BuildInfo {
  std::string_view commit;  ///< commit of the sources, with "+changes" if they differ, or "unknown"
  std::string_view commit_date;  ///< YYYY-MM-DD; may be empty
  std::string_view type;         ///< "Release"
  std::string_view compiler;     ///< name and version of the compiler
  std::string_view processor;    ///< instruction set that the program was built for
  bool machine_code;             ///< whether engines can generate machine code (xbyak was found)
  bool mpi;                      ///< whether the plugin for MPI was built
};
/// Facts about this program.
const BuildInfo& build_info() noexcept;

}  // namespace gdr::cli
