// Output on a terminal: contents of files cannot control it.
#include <fcntl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <cstdlib>
#include <string>
#include <vector>

#include "cli/shell.hpp"
#include "support/catch.hpp"

namespace gdr::test {
namespace {

/// Output of `gdr ARGUMENT...` (standard output and standard error) on a terminal; its wait status.
/// NO_COLOR has this value. `input` is typed. A signal is sent as soon as `signal_after` has been
/// written.
struct Terminal {
  std::string text;
  int status = 0;
};
Terminal terminal(const std::vector<std::string>& arguments, const char* no_colour,
                  const std::string& signal_after = {}, const std::string& input = {}) {
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
    ::setenv("NO_COLOR", no_colour, 1);
    ::setenv("TERM", "xterm", 1);
    std::vector<std::string> words = arguments;
    words.insert(words.begin(), GDR_COMMAND);
    std::vector<char*> pointers;
    for (std::string& word : words) pointers.push_back(word.data());
    pointers.push_back(nullptr);
    ::execv(GDR_COMMAND, pointers.data());
    ::_exit(127);
  }
  Terminal result;
  REQUIRE(::write(own, input.data(), input.size()) == static_cast<ssize_t>(input.size()));
  bool sent = signal_after.empty();
  char buffer[4096];
  // The end is an error (EIO) once the last process has closed the terminal.
  for (ssize_t got; (got = ::read(own, buffer, sizeof buffer)) > 0;) {
    result.text.append(buffer, static_cast<std::size_t>(got));
    if (sent || result.text.find(signal_after) == std::string::npos) continue;
    ::kill(child, SIGINT);
    sent = true;
  }
  ::close(own);
  ::waitpid(child, &result.status, 0);
  return result;
}

std::string on_terminal(const std::vector<std::string>& arguments) {
  return terminal(arguments, "1").text;
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

TEST_CASE("gdr compile shows its progress on a terminal, and Ctrl-C ends it without a trace") {
  const Shell shell;
  // A search of some seconds.
  std::string text =
      "kernel long_one; VARI x, y, z; VARJ xj, yj, zj, m; VARF f, g;\n"
      "dx = xj - x; dy = yj - y; dz = zj - z; r = rsqrt(dx*dx + dy*dy + dz*dz + m); t0 = r*m;\n";
  for (int k = 1; k < 20; ++k) {
    const std::string n = std::to_string(k), before = std::to_string(k - 1);
    text += "t" + n + " = t" + before + "*dx + " + n + ".5*dy*t" + before + ";\n";
  }
  shell.write("long.gdk", text + "f += t19*dx; g += t19*dy;\n");
  shell.write("t.txt", "1 2 3\n");
  shell.write("s.txt", "4 5 6 7\n");
  const std::string source = (shell.folder() / "long.gdk").string();
  const std::string object = (shell.folder() / "long.gdo").string();
  const std::vector<std::string> compile{"compile", source, "-o", object};
  const auto drawn = [](const std::string& said) {
    return said.find("compiling [") != std::string::npos;
  };
  const Terminal done = terminal(compile, "");
  INFO(done.text);
  CHECK(drawn(done.text));
  CHECK(done.status == 0);
  // The bar is erased before the summary.
  CHECK(done.text.rfind("\x1b[K") > done.text.rfind("compiling ["));
  CHECK(done.text.rfind("\x1b[K") < done.text.rfind("long_one"));
  REQUIRE(shell.exists("long.gdo"));
  REQUIRE(shell.run("rm long.gdo").status == 0);
  const std::vector<std::string> run{"run",       source,
                                     "--targets", (shell.folder() / "t.txt").string(),
                                     "--sources", (shell.folder() / "s.txt").string(),
                                     "--output",  (shell.folder() / "o.txt").string()};
  for (const auto& command : {compile, run}) {
    const Terminal stopped = terminal(command, "", "compiling [");
    INFO(stopped.text);
    CHECK(WIFSIGNALED(stopped.status));
    CHECK(WTERMSIG(stopped.status) == SIGINT);
    CHECK(stopped.text.ends_with("\x1b[K"));
    CHECK(!shell.exists("long.gdo"));
    CHECK(!shell.exists("o.txt"));
  }
  std::vector<std::string> quick = compile;
  quick.insert(quick.end(), {"--effort", "1"});
  std::vector<std::string> quiet = quick;
  quiet.push_back("--quiet");
  CHECK(!drawn(terminal(quiet, "").text));
  CHECK(drawn(terminal(quick, "").text));
  CHECK(!drawn(terminal(quick, "1").text));
}

TEST_CASE("gdr debug asks for commands on a terminal, and goes on after an error") {
  const Shell shell;
  shell.write("k.gds", sums_kernel);
  shell.write("i.txt", "0\n1\n");
  shell.write("j.txt", "1\n2\n4\n");
  const auto path = [&](const char* name) { return (shell.folder() / name).string(); };
  const std::vector<std::string> debug{"debug",       path("k.gds"), "--targets",
                                       path("i.txt"), "--sources",   path("j.txt")};
  // An empty line repeats a step; the end of the input ends the session.
  const Terminal done = terminal(debug, "", {}, "step\n\nprint tota\ncontinue\nresults\n\x04");
  INFO(done.text);
  CHECK(done.status == 0);
  for (const char* const part :
       {"2 targets, 3 passes of the body", "help lists the commands", "(gdr) ", ", position 2",
        "did you mean \"total\"?", "end of the program", "# total"})
    CHECK(done.text.find(part) != std::string::npos);
}

}  // namespace gdr::test
