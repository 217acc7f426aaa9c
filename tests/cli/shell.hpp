// Running command lines with the built `gdr` first in PATH, in a temporary folder.
#pragma once

#include <filesystem>
#include <string>

#include "support/temporary_folder.hpp"

namespace gdr::test {

/// Result of a command line.
struct Outcome {
  int status = -1;  ///< exit status; 128 + number of the signal that ended it
  std::string out, err;
};

/// Command lines in a temporary folder.
class Shell {
 public:
  /// Run a line of sh in the folder. GDR_ENGINE and the like are not set.
  Outcome run(const std::string& line) const;

  void write(const std::string& name, const std::string& text) const;
  std::string read(const std::string& name) const;
  bool exists(const std::string& name) const;
  std::filesystem::path folder() const { return folder_.path(); }

 private:
  TemporaryFolder folder_;
};

/// The whole text of a file; fails the test if it cannot be read.
std::string file_text(const std::filesystem::path& path);

/// A kernel with one variable of every usual kind: total = sum over j of (mj - xi) * scale.
extern const char* const sums_kernel;

}  // namespace gdr::test
