// Output on a terminal: contents of files cannot control it.
#include <fcntl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdlib>
#include <string>

#include "cli/shell.hpp"
#include "support/catch.hpp"

namespace gdr::test {
namespace {

/// Output of `gdr ARGUMENT...` (standard output and standard error) on a terminal.
std::string on_terminal(const std::vector<std::string>& arguments) {
  const int own = ::posix_openpt(O_RDWR | O_NOCTTY);
  REQUIRE(own >= 0);
  REQUIRE(::grantpt(own) == 0);
  REQUIRE(::unlockpt(own) == 0);
  const std::string name = ::ptsname(own);
  const pid_t child = ::fork();
  if (child == 0) {
    ::setsid();
    const int terminal = ::open(name.c_str(), O_RDWR);
    for (int stream = 0; stream < 3; ++stream) ::dup2(terminal, stream);
    ::close(terminal);
    ::setenv("NO_COLOR", "1", 1);
    std::vector<std::string> words = arguments;
    words.insert(words.begin(), GDR_COMMAND);
    std::vector<char*> pointers;
    for (std::string& word : words) pointers.push_back(word.data());
    pointers.push_back(nullptr);
    ::execv(GDR_COMMAND, pointers.data());
    ::_exit(127);
  }
  std::string text;
  char buffer[4096];
  // The end is an error (EIO) once the last process has closed the terminal.
  for (ssize_t got; (got = ::read(own, buffer, sizeof buffer)) > 0;)
    text.append(buffer, static_cast<std::size_t>(got));
  ::close(own);
  ::waitpid(child, nullptr, 0);
  return text;
}

/// Control characters other than line ends.
int controls(const std::string& text) {
  int count = 0;
  for (const char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    if (byte == 0x7f || (byte < ' ' && c != '\n' && c != '\t' && c != '\r')) ++count;
  }
  return count;
}

}  // namespace

TEST_CASE("control characters in files are escaped in messages") {
  const Shell shell;
  const std::string evil = "\x1b]0;owned\x07\x1b[31m";
  shell.write("words.txt", "1 0 0 " + evil + " 0 0 0\n");
  shell.write("state.txt", "#gdr: " + evil + " = 1\n1 0 0 0 0 0 0\n");
  shell.write("k.gds", ".body\nfadd $lr0 " + evil + " $lr4\n.include \"x" + evil + "\"\n");
  shell.write("k.gdk", "VARI x; VARF f; f += " + evil + ";\ninclude \"" + evil + "\";\n");
  shell.write("m.json", "{\"" + evil + "\": 1}");
  shell.write("points.txt", "# x" + evil + "\n1\n");
  for (const std::string line :
       {"gdr force words.txt --eps 0 -o f.hdf5", "gdr force state.txt --eps 0 -o f.hdf5",
        "gdr asm k.gds", "gdr compile k.gdk", "gdr predict gravity --machine m.json -n 1024",
        "gdr force $'none\\x1b[31m.hdf5' --eps 0 -o f.hdf5", "gdr info $'none\\x1b[31m.gdo'",
        "printf 'fad\\x1b[31m 1 2\\n' | gdr fp", "gdr $'\\x1b[31m'"}) {
    const Outcome result = shell.run(line);
    INFO(line << "\n" << result.err);
    CHECK(result.status != 0);
    CHECK(!result.err.empty());
    CHECK(controls(result.out + result.err) == 0);
  }
}

TEST_CASE("control characters in the names of an object file are escaped on a terminal") {
  const Shell shell;
  std::string text = sums_kernel;
  text.replace(text.find("sums"), 4, "\"evil\x1b[31m\"");
  shell.write("k.gds", text);
  const std::string source = (shell.folder() / "k.gds").string();
  const std::string object = (shell.folder() / "k.gdo").string();
  const std::string said = on_terminal({"asm", source, "-o", object});
  INFO(said);
  CHECK(said.find("evil\\x1b[31m") != std::string::npos);
  CHECK(controls(said) == 0);
  const std::string shown = on_terminal({"disasm", object});
  INFO(shown);
  CHECK(shown.find("evil\\x1b[31m") != std::string::npos);
  CHECK(controls(shown) == 0);
  // Output to a file has the bytes unchanged.
  CHECK(shell.run("gdr asm k.gds -o k.gdo").out.find("evil\x1b[31m") != std::string::npos);
}

}  // namespace gdr::test
