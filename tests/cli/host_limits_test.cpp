// Hosts that refuse threads or executable memory: the same results, and a reason.
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <nlohmann/json.hpp>
#include <string>

#include "cli/shell.hpp"
#include "support/catch.hpp"

namespace gdr::test {
namespace {

#ifndef PR_SET_MDWE
#define PR_SET_MDWE 65
#endif
constexpr unsigned long refuse_exec_gain = 1;

/// Text with stars, a line for each.
std::string stars(unsigned n) {
  std::string text;
  for (unsigned k = 0; k < n; ++k)
    text += "1 " + std::to_string(k * 37 % 101) + " " + std::to_string(k * 53 % 103) + " " +
            std::to_string(k * 71 % 107) + " 0 0 0\n";
  return text;
}

/// The reason in the statistics of a calculation of forces into `file`.
std::string reason_of_forces(const Shell& shell, const std::string& prefix,
                             const std::string& engine, const std::string& file) {
  const Outcome outcome = shell.run(
      prefix + " gdr force stars.txt --eps 0.01 --json --device emulator:engine=" + engine +
      ",threads=4 -o out/" + file);
  INFO(outcome.err);
  REQUIRE(outcome.status == 0);
  return nlohmann::json::parse(outcome.out)["fallback_reason"];
}

}  // namespace

TEST_CASE("without further threads the bits are the same, and the statistics say why") {
  const Shell shell;
  shell.write("stars.txt", stars(3000));
  shell.run("mkdir out && chmod 777 out && chmod 755 . && chmod 644 stars.txt");
  // The limit of processes does not apply to root.
  std::string limited = "prlimit --nproc=1";
  if (::geteuid() == 0) limited = "setpriv --reuid=54321 --regid=54321 --clear-groups " + limited;
  limited = "HOME=/nowhere " + limited;
  if (shell.run(limited + " gdr --version").status != 0) return;  // no such tools or rights
  for (const std::string& engine : {std::string("vector"), std::string("native")}) {
    INFO(engine);
    CHECK(reason_of_forces(shell, "", engine, engine).empty());
    const std::string reason = reason_of_forces(shell, limited, engine, engine + "-limited");
    CHECK(reason.find("the system refuses further threads") != std::string::npos);
    CHECK(shell.read("out/" + engine) == shell.read("out/" + engine + "-limited"));
  }
}

TEST_CASE("without executable memory all engines give one reason") {
  const Shell shell;
  shell.write("stars.txt", stars(300));
  shell.run("mkdir out");
  CHECK(reason_of_forces(shell, "", "vector", "vector").empty());
  const pid_t child = ::fork();
  if (child == 0) {
    if (::prctl(PR_SET_MDWE, refuse_exec_gain, 0, 0, 0) != 0) ::_exit(0);  // before Linux 6.3
    bool well = true;
    for (const std::string& engine : {std::string("vector"), std::string("native")}) {
      const std::string reason = reason_of_forces(shell, "", engine, engine + "-limited");
      well = well && reason.find("memory may not become executable") != std::string::npos;
    }
    well = well && shell.read("out/vector") == shell.read("out/vector-limited");
    const std::string info = shell.run("gdr info").out;
    ::_exit(well && info.find("memory may not become executable") != std::string::npos ? 0 : 1);
  }
  int status = 1;
  REQUIRE(::waitpid(child, &status, 0) == child);
  CHECK(status == 0);
}

}  // namespace gdr::test
