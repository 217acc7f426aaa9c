// Checks of an error's category and of words in its message.
#pragma once

#include <string>
#include <vector>

#include "gdr/error.hpp"
#include "support/catch.hpp"

namespace gdr::test {

/// Runs `work`, which must throw a gdr::Error of this category whose message contains all `words`.
template <typename Work>
void expect_error(ErrorCategory category, const std::vector<std::string>& words, const Work& work) {
  try {
    work();
  } catch (const Error& error) {
    const std::string message = error.what();
    INFO(message);
    CHECK(error.category() == category);
    for (const std::string& word : words) {
      INFO("must name: " << word);
      CHECK(message.find(word) != std::string::npos);
    }
    return;
  }
  FAIL("no error was thrown");
}

}  // namespace gdr::test
