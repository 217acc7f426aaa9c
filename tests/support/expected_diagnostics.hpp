// Source files as test cases: their lines state the diagnostics that they raise.
#pragma once

#include <filesystem>
#include <functional>
#include <sstream>
#include <string>
#include <vector>

#include "emulator/assembler/diagnostic.hpp"
#include "support/catch.hpp"
#include "support/temporary_folder.hpp"

namespace gdr::test {

/// A comment `expect-error CODE col N: text` (or expect-warning) on the line of the diagnostic;
/// `text` is a part of the message.
struct ExpectedDiagnostic {
  unsigned line = 0, code = 0, column = 0;
  std::string text;
};

inline std::vector<ExpectedDiagnostic> expected_diagnostics(const std::string& source) {
  std::vector<ExpectedDiagnostic> all;
  std::istringstream in(source);
  std::string line;
  for (unsigned number = 1; std::getline(in, line); ++number) {
    const std::size_t at = line.find(" expect-");
    if (at == std::string::npos) continue;
    ExpectedDiagnostic e;
    e.line = number;
    std::istringstream rest(line.substr(at));
    std::string word;
    rest >> word >> e.code >> word >> e.column;
    REQUIRE(rest.get() == ':');
    std::getline(rest >> std::ws, e.text);
    all.push_back(e);
  }
  return all;
}

/// Compare the diagnostics of all files in a folder of the source tree with the expected ones.
/// Returns the number of files.
inline unsigned check_expected_diagnostics(
    const std::string& folder, const std::string& extension,
    const std::function<Diagnostics(const std::string& text, const std::string& path)>& compile) {
  unsigned files = 0;
  for (const auto& entry :
       std::filesystem::directory_iterator(std::string(GDR_SOURCE_DIR) + "/" + folder)) {
    if (entry.path().extension() != extension) continue;
    ++files;
    const std::string text = content_of(entry.path().string());
    const auto expected = expected_diagnostics(text);
    const Diagnostics got = compile(text, entry.path().string());
    INFO(got.render());
    REQUIRE(got.list.size() == expected.size());
    for (std::size_t i = 0; i < expected.size(); ++i) {
      const Diagnostic& d = got.list[i];
      INFO(expected[i].text);
      CHECK(d.range.line == expected[i].line);
      CHECK(d.code == expected[i].code);
      CHECK(d.range.column == expected[i].column);
      CHECK(d.message.find(expected[i].text) != std::string::npos);
    }
  }
  return files;
}

}  // namespace gdr::test
