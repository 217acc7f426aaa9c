// Plain text snapshots: what is accepted, and errors with line and column.
#include <cmath>
#include <limits>

#include "libgdr/io/snapshot.hpp"
#include "support/expect_error.hpp"

namespace gdr::test {
namespace {

void expect_at(const std::string& place, const std::string& word, const std::string& text) {
  INFO(text);
  expect_error(ErrorCategory::Input, {place, word}, [&] { parse_text_snapshot(text, "f.txt"); });
}

TEST_CASE("comments, blanks and all line ends are accepted") {
  const Snapshot s = parse_text_snapshot(
      "# a cluster\n\n  1 2 3 4 5 6 7 # the first\r\n\t+1e-3\t-0 .5 5. 1E2 1e-320 7", "f.txt");
  REQUIRE(s.size() == 2);
  CHECK(s.mass == std::vector<double>{1, 1e-3});
  CHECK(s.position == std::vector<double>{2, 3, 4, -0.0, .5, 5});
  CHECK(s.velocity == std::vector<double>{5, 6, 7, 100, 1e-320, 7});
  CHECK(s.id == std::vector<std::uint64_t>{1, 2});
  CHECK(s.type_counts == std::vector<std::size_t>{0, 2, 0, 0, 0, 0});
  CHECK(s.time == 0);
}

TEST_CASE("lines may end with CR alone, and errors count them") {
  const Snapshot s = parse_text_snapshot("#gdr: time = 2\r1 2 3 4 5 6 7\r\r8 9 1 2 3 4 5", "f.txt");
  CHECK(s.time == 2);
  CHECK(s.mass == std::vector<double>{1, 8});
  expect_at("f.txt:4:3", "'x' is not a number", "# a\r\n\n1 2 3 4 5 6 7\r1 x 3 4 5 6 7\r\n");
}

TEST_CASE("underflowing numbers become zero") {
  CHECK(parse_text_snapshot("1 1e-5000 0 0 0 0 0", "f.txt").position[0] == 0);
}

TEST_CASE("the time is read from a '#gdr:' line") {
  const Snapshot s = parse_text_snapshot("#gdr: time = 2.5\n1 0 0 0 0 0 0\n", "f.txt");
  CHECK(s.time == 2.5);
  CHECK_FALSE(s.run.has_value());
}

TEST_CASE("a run with a non-finite start energy survives a text snapshot") {
  for (const double energy :
       {std::numeric_limits<double>::quiet_NaN(), -std::numeric_limits<double>::quiet_NaN(),
        -std::numeric_limits<double>::infinity()}) {
    Snapshot s = parse_text_snapshot("1 0 0 0 0 0 0\n1 0 0 0 0 0 0\n", "f.txt");
    s.run = RunState{0, 0.5, 0, 0, 1, energy};
    const std::string text = text_snapshot(s);
    INFO(text);
    const Snapshot again = parse_text_snapshot(text, "g.txt");
    REQUIRE(again.run.has_value());
    CHECK((again.run->start_energy == energy ||
           (std::isnan(again.run->start_energy) && std::isnan(energy))));
    CHECK(text_snapshot(again) == text);
  }
  expect_at("f.txt:1:", "not a finite number", "#gdr: gravity = nan\n1 0 0 0 0 0 0\n");
}

TEST_CASE("missing columns and missing particles are errors") {
  expect_at("f.txt:1:15", "vz missing", "1 2 3 4 5 6   \n");
  expect_at("f.txt", "no particles", "#\n# nothing\n");
  expect_at("f.txt", "no particles", "");
}

TEST_CASE("errors give line and column of invalid words") {
  expect_at("f.txt:2:3", "'x' is not a number", "1 2 3 4 5 6 7\n1 x 3 4 5 6 7\n");
  expect_at("f.txt:1:15", "more than the seven columns", "1 2 3 4 5 6 7 8\n");
  expect_at("f.txt:1:1", "separate the columns by blanks", "1,2,3,4,5,6,7\n");
  expect_at("f.txt:1:3", "not a finite number", "1 nan 3 4 5 6 7\n");
  expect_at("f.txt:1:3", "not a finite number", "1 1e999 3 4 5 6 7\n");
  expect_at("f.txt:1:1", "not a number", "0x10 2 3 4 5 6 7\n");
  expect_at("f.txt:1:1", "not a number", "+-1 2 3 4 5 6 7\n");
  expect_at("f.txt:1:1", "not a number", "- 2 3 4 5 6 7\n");
}

TEST_CASE("'#gdr:' lines are checked") {
  expect_at("f.txt:1:", "unknown name 'tme'", "#gdr: tme = 1\n1 0 0 0 0 0 0\n");
  expect_at("f.txt:1:", "name = number", "#gdr: time 1\n1 0 0 0 0 0 0\n");
  expect_at("f.txt:1:", "nothing may follow", "#gdr: time = 1 s\n1 0 0 0 0 0 0\n");
  expect_at("f.txt:1:", "number of steps", "#gdr: step = 1.5\n1 0 0 0 0 0 0\n");
  expect_at("f.txt:1:", "is not a number", "#gdr: time =\n1 0 0 0 0 0 0\n");
  expect_at("f.txt:2:", "gravity: expected a number above 0, got -1",
            "#gdr: time = 1\n#gdr: gravity = -1\n1 0 0 0 0 0 0\n");
  expect_at("f.txt:1:", "softening: expected at least 0, got -0.5",
            "#gdr: softening = -0.5\n1 0 0 0 0 0 0\n");
}

TEST_CASE("a run in text that lacks one of its numbers is an error") {
  Snapshot s = parse_text_snapshot("1 0 0 0 0 0 0\n", "f.txt");
  s.run = RunState{0, 0.5, 0, 0, 1, -0.25};
  const std::string text = text_snapshot(s);
  for (const std::string name : {"step", "start_time", "time_step", "gravity", "start_energy"}) {
    std::string lacking = text;
    lacking.replace(text.find("#gdr: " + name), 5, "# was");
    expect_at("f.txt: no line", "'#gdr: " + name + " = ...'", lacking);
  }
}

}  // namespace
}  // namespace gdr::test
