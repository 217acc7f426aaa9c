// Messages of usage errors.
#pragma once

#include <string>

#include "gdr/error.hpp"
#include "support/catch.hpp"

namespace gdr::test {

/// The message of the Usage error that a call must throw; empty if it throws none.
template <typename Call>
std::string refused(const Call& call) {
  try {
    call();
  } catch (const Error& e) {
    CHECK(e.category() == ErrorCategory::Usage);
    return e.what();
  }
  return {};
}

inline void has(const std::string& text, const char* part) {
  CAPTURE(text);
  CHECK(text.find(part) != std::string::npos);
}

}  // namespace gdr::test
