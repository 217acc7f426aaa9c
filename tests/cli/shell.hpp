// Running command lines with the built `gdr` first in PATH, in a folder of their own.
#pragma once

#include <filesystem>
#include <string>

namespace gdr::test {

/// How a command line ended.
struct Outcome {
  int status = -1;  ///< exit status; 128 + number of the signal that ended it
  std::string out, err;
};

/// A scratch folder that is gone at the end of the test.
class Shell {
 public:
  Shell();
  ~Shell();
  Shell(const Shell&) = delete;
  Shell& operator=(const Shell&) = delete;

  /// Run a line of sh in the folder. GDR_ENGINE and the like are not set.
  Outcome run(const std::string& line) const;

  void write(const std::string& name, const std::string& text) const;
  std::string read(const std::string& name) const;
  bool exists(const std::string& name) const;
  const std::filesystem::path& folder() const noexcept { return folder_; }

 private:
  std::filesystem::path folder_;
};

/// The whole text of a file; fails the test if it cannot be read.
std::string file_text(const std::filesystem::path& path);

/// A kernel with one variable of every usual kind: total = sum over j of (mj - xi) * scale.
extern const char* const sums_kernel;

}  // namespace gdr::test
