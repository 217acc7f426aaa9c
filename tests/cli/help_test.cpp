// Help texts, compared with committed baselines; GDR_UPDATE_BASELINES=1 rewrites these.
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>

#include "cli/shell.hpp"
#include "support/catch.hpp"

namespace gdr::test {
namespace {

const char* const command_names[] = {"asm",   "bench",  "boards",   "compile", "completion",
                                     "debug", "disasm", "force",    "fp",      "header",
                                     "info",  "man",    "nbody",    "predict", "profile",
                                     "relay", "run",    "selftest", "serve"};

void check_baseline(const std::string& name, const std::string& text) {
  const std::filesystem::path path =
      std::filesystem::path(GDR_SOURCE_DIR) / "tests/cli/baselines" / (name + ".txt");
  if (std::getenv("GDR_UPDATE_BASELINES") != nullptr) std::ofstream(path) << text;
  INFO(name);
  CHECK(text == file_text(path));
}

}  // namespace

TEST_CASE("gdr --help matches its baseline and lists all commands") {
  const Shell shell;
  const Outcome help = shell.run("gdr --help");
  CHECK(help.status == 0);
  CHECK(help.err.empty());
  for (const std::string name : command_names)
    CHECK(help.out.find("\n  " + name + " ") != std::string::npos);
  // The version in the first line is not compared.
  check_baseline("help", help.out.substr(help.out.find('\n') + 1));
  CHECK(shell.run("gdr -h").out == help.out);
}

TEST_CASE("the help of every command matches its baseline and has an example") {
  const Shell shell;
  for (const std::string name : command_names) {
    const Outcome help = shell.run("gdr " + name + " --help");
    INFO(name);
    CHECK(help.status == 0);
    CHECK(help.err.empty());
    CHECK(help.out.find("\nExample\n") != std::string::npos);
    CHECK(help.out.find("gdr " + name) != std::string::npos);
    check_baseline("help_" + name, help.out);
  }
}

TEST_CASE("gdr help COMMAND prints the help of a command, and gdr help that of gdr") {
  const Shell shell;
  CHECK(shell.run("gdr help").out == shell.run("gdr --help").out);
  CHECK(shell.run("gdr help --help").out == shell.run("gdr --help").out);
  for (const std::string name : command_names) {
    const Outcome help = shell.run("gdr help " + name);
    CHECK(help.status == 0);
    CHECK(help.out == shell.run("gdr " + name + " --help").out);
  }
  const Outcome unknown = shell.run("gdr help nboby");
  CHECK(unknown.status == 2);
  CHECK(unknown.err.find("unknown command 'nboby'; did you mean 'nbody'?") != std::string::npos);
  const Outcome two = shell.run("gdr help force nbody");
  CHECK(two.status == 2);
  CHECK(two.err.find("nbody") != std::string::npos);
}

TEST_CASE("--help overrides errors in the command line") {
  const Shell shell;
  CHECK(shell.run("gdr asm --no-such-option --help").status == 0);
  CHECK(shell.run("gdr force -h --eps").status == 0);
}

TEST_CASE("no line of a help text is wider than 100 columns") {
  const Shell shell;
  for (const std::string name : command_names) {
    const std::string text = shell.run("gdr " + name + " --help").out;
    for (std::size_t at = 0; at < text.size();) {
      const std::size_t end = text.find('\n', at);
      INFO(text.substr(at, end - at));
      CHECK(end - at <= 100);
      at = end + 1;
    }
  }
}

}  // namespace gdr::test
