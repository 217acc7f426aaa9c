// The exceptions of the whole library: a category, what was wrong and where, and the remedy.
#pragma once

#include <stdexcept>
#include <string>

namespace gdr {

/// The category of an error. The C API returns these as codes, the command as its exit status
/// (2 for Usage, 1 for the rest).
enum class ErrorCategory {
  Usage = 1,        ///< a wrong option, name or argument
  Input = 2,        ///< data that cannot be worked on: NaN positions, a damaged file
  Program = 3,      ///< a program that does not assemble, load or fit
  Io = 4,           ///< a file that cannot be read or written, a full disk
  Device = 5,       ///< a device that cannot be opened or that failed
  Unsupported = 6,  ///< what this build or host cannot do
  Internal = 7,     ///< a defect of the library
};

/// what() reads as one sentence: place, what was wrong, what to do.
class Error : public std::runtime_error {
 public:
  Error(ErrorCategory category, const std::string& message)
      : std::runtime_error(message), category_(category) {}
  ErrorCategory category() const noexcept { return category_; }

 private:
  ErrorCategory category_;
};

}  // namespace gdr
