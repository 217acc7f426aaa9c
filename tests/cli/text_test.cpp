// The progress bar's line and the layout of help texts, in this process.
#include <string>

#include "libgdr/cli/command.hpp"
#include "libgdr/cli/output.hpp"
#include "support/catch.hpp"

namespace gdr::test {

using cli::Progress;
using cli::wrap;

TEST_CASE("a progress line shows label, bar, percentage and remaining time") {
  CHECK(Progress::line("run", 50, 100, 12, 40) == "run [#########.........]  50 % 0:12 left");
  CHECK(Progress::line("run", 100, 100, 3, 40) == "run [##################] 100 % 0:00 left");
  CHECK(Progress::line("run", 0, 100, 3, 40) == "run [..................]   0 % -:-- left");
}

TEST_CASE("a progress line handles extreme numbers") {
  CHECK(Progress::line("x", 200, 100, 3, 30).find("100 %") != std::string::npos);
  CHECK(Progress::line("x", -1, 100, 3, 30).find("  0 %") != std::string::npos);
  CHECK(Progress::line("x", 1, 1e9, 3600, 40).find("-:-- left") != std::string::npos);
  CHECK(Progress::line("x", 1, 3, 3600, 40).find("2:00:00 left") != std::string::npos);
  CHECK(Progress::line("x", 999, 1000, 3, 40).find(" 99 %") != std::string::npos);
  CHECK(Progress::line("a very long label indeed", 1, 2, 1, 10).size() > 10);
}

TEST_CASE("wrapped text keeps its words and its width") {
  CHECK(wrap("one two three", 2, 9) == "one two\n  three");
  CHECK(wrap("", 2, 9).empty());
  CHECK(wrap("unbreakable-word", 4, 8) == "unbreakable-word");
  CHECK(wrap("a unbreakable-word b", 0, 8) == "a\nunbreakable-word\nb");
}

}  // namespace gdr::test
