// Sources in cases/*.gds whose lines say what is wrong with them: `# expect-error CODE col N:
// text`.
#include <filesystem>
#include <sstream>

#include "assembler/support.hpp"

namespace gdr::test {
namespace {

struct Expectation {
  unsigned line = 0, code = 0, column = 0;
  std::string text;
};

std::vector<Expectation> expectations_of(const std::string& source) {
  const std::string mark = "# expect-error ";
  std::vector<Expectation> all;
  std::istringstream in(source);
  std::string line;
  for (unsigned number = 1; std::getline(in, line); ++number) {
    const std::size_t at = line.find(mark);
    if (at == std::string::npos) continue;
    Expectation e;
    e.line = number;
    std::istringstream rest(line.substr(at + mark.size()));
    std::string word;
    rest >> e.code >> word >> e.column;
    REQUIRE(rest.get() == ':');
    std::getline(rest >> std::ws, e.text);
    all.push_back(e);
  }
  return all;
}

}  // namespace

TEST_CASE("cases raise exactly the errors that their lines expect") {
  unsigned files = 0;
  for (const auto& entry : std::filesystem::directory_iterator(std::string(GDR_SOURCE_DIR) +
                                                               "/tests/assembler/cases")) {
    if (entry.path().extension() != ".gds") continue;
    ++files;
    const AssembleResult r = assemble_file(entry.path().string());
    const auto expected = expectations_of(r.diagnostics.sources[0].text);
    INFO(r.diagnostics.render());
    REQUIRE(r.diagnostics.list.size() == expected.size());
    for (std::size_t i = 0; i < expected.size(); ++i) {
      const Diagnostic& d = r.diagnostics.list[i];
      CHECK(d.range.line == expected[i].line);
      CHECK(d.code == expected[i].code);
      CHECK(d.range.column == expected[i].column);
      CHECK(d.message.find(expected[i].text) != std::string::npos);
    }
  }
  CHECK(files > 0);
}

}  // namespace gdr::test
