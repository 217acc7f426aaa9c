// Manual pages: complete, and without warnings of the programs that read them.
#include <regex>
#include <set>
#include <string>

#include "cli/shell.hpp"
#include "support/catch.hpp"
#include "support/text.hpp"

namespace gdr::test {
namespace {

/// All matches of a pattern's first group.
std::set<std::string> found(const std::string& text, const char* pattern) {
  const std::regex expression(pattern);
  std::set<std::string> list;
  for (std::sregex_iterator at(text.begin(), text.end(), expression), end; at != end; ++at)
    list.insert((*at)[1]);
  return list;
}

/// The commands in `gdr --help`.
std::set<std::string> listed_commands(const Shell& shell) {
  return found(shell.run("gdr --help").out, "\n  ([a-z]+)  +[a-z]");
}

/// Options in the first column of a help text.
std::set<std::string> options(const std::string& help) {
  std::set<std::string> list;
  for (const std::string& row : found(help, "\n  (-[^\n]*)"))
    for (const std::string& name : found(" " + row.substr(0, row.find("  ")), "[ ](--?[A-Za-z-]+)"))
      list.insert(name);
  return list;
}

std::string without_escapes(std::string page) {
  for (std::size_t at = 0; (at = page.find("\\-", at)) != std::string::npos;) page.erase(at, 1);
  return page;
}

}  // namespace

TEST_CASE("the manual page of a command has all its options") {
  const Shell shell;
  const std::set<std::string> names = listed_commands(shell);
  CHECK(names.size() >= 16);
  const std::string overview = without_escapes(shell.run("gdr man").out);
  for (const std::string& name : names) {
    INFO(name);
    CHECK(contains(overview, ".BR gdr-" + name + " (1)"));
    const Outcome page = shell.run("gdr man " + name);
    CHECK(page.status == 0);
    const std::string text = without_escapes(page.out);
    const std::set<std::string> all = options(shell.run("gdr " + name + " --help").out);
    CHECK(all.contains("--quiet"));
    CHECK(all.contains("-h"));
    for (const std::string& option : all) {
      INFO(option);
      CHECK(std::regex_search(text, std::regex("\n\\.B ([^\n]*, )?" + option + "[ ,\n]")));
    }
  }
}

TEST_CASE("manual pages are formatted without warnings") {
  const Shell shell;
  REQUIRE(shell.run("mkdir pages && gdr man --all pages").status == 0);
  std::set<std::string> pages = {"gdr.1"};
  for (const std::string& name : listed_commands(shell)) pages.insert("gdr-" + name + ".1");
  const bool man = shell.run("command -v man && man --warnings -l /dev/null").status == 0;
  const bool groff = shell.run("command -v groff").status == 0;
  const bool mandoc = shell.run("command -v mandoc").status == 0;
  if (!man && !groff && !mandoc) WARN("no man, groff or mandoc: the format is not tested");
  for (const std::string& page : pages) {
    INFO(page);
    REQUIRE(shell.exists("pages/" + page));
    const std::string file = "pages/" + page;
    if (man) CHECK(shell.run("man --warnings -l " + file + " >/dev/null").err.empty());
    if (groff) CHECK(shell.run("groff -man -ww -Tascii " + file + " >/dev/null").err.empty());
    // Sources without a repository have no date.
    if (mandoc)
      CHECK(shell.run("mandoc -T lint -W warning " + file + " | grep -v 'missing date'").out == "");
  }
  if (man) CHECK(contains(shell.run("man -P cat -l pages/gdr-asm.1").out, "gdr-asm - assemble"));
}

TEST_CASE("gdr man names the nearest command") {
  const Shell shell;
  const Outcome wrong = shell.run("gdr man nboby");
  CHECK(wrong.status == 2);
  CHECK(contains(wrong.err, "did you mean \"nbody\"?"));
  CHECK(shell.run("gdr man asm --all .").status == 2);
  CHECK(shell.run("gdr man --all new/folder").status == 0);
  CHECK(shell.exists("new/folder/gdr-nbody.1"));
  CHECK(shell.run("gdr man --all /dev/null/folder").status == 1);
  CHECK(shell.run("gdr man gdr-asm").out == shell.run("gdr man asm").out);
}

}  // namespace gdr::test
