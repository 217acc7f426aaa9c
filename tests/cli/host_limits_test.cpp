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

/// Words before a command that limit its processes and threads.
std::string limited_to(unsigned processes) {
  std::string words = "prlimit --nproc=" + std::to_string(processes);
  // The limit of processes does not apply to root.
  if (::geteuid() == 0) words = "setpriv --reuid=54321 --regid=54321 --clear-groups " + words;
  return "HOME=/nowhere " + words;
}

const std::string refusal = "the system refuses further threads and processes";

bool contains(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
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
  const std::string limited = limited_to(1);
  if (shell.run(limited + " gdr --version").status != 0) return;  // no such tools or rights
  for (const std::string& engine : {std::string("vector"), std::string("native")}) {
    INFO(engine);
    CHECK(reason_of_forces(shell, "", engine, engine).empty());
    const std::string reason = reason_of_forces(shell, limited, engine, engine + "-limited");
    CHECK(reason.find("the system refuses further threads") != std::string::npos);
    CHECK(shell.read("out/" + engine) == shell.read("out/" + engine + "-limited"));
  }
}

TEST_CASE("without further threads gdr debug and gdr predict print the same") {
  const Shell shell;
  shell.write("sums.gds", sums_kernel);
  shell.write("targets", "1\n2\n3\n");
  shell.write("sources", "4\n5\n");
  shell.run("chmod 755 . && chmod 644 *");
  const std::string limited = limited_to(1);
  if (shell.run(limited + " gdr --version").status != 0) return;
  for (const std::string command :
       {"gdr debug sums.gds --targets targets --sources sources --set scale=2 -e continue "
        "-e results -e back",
        "gdr predict gravity --particles 100000", "gdr predict hpl --machine cluster64"}) {
    INFO(command);
    const Outcome free = shell.run(command), bound = shell.run(limited + " " + command);
    INFO(bound.err);
    CHECK(free.status == 0);
    CHECK(bound.status == 0);
    CHECK(bound.out == free.out);
  }
}

TEST_CASE("what needs a thread or a process names the limit where the system refuses one") {
  const Shell shell;
  shell.run("chmod 755 .");
  const std::string limited = limited_to(1);
  if (shell.run(limited + " gdr --version").status != 0) return;
  for (const std::string device :
       {"board:tcp:localhost:7399,insecure=1", "board:tcp:127.0.0.1:7399,insecure=1",
        "emulator:health_check=1"}) {
    INFO(device);
    const Outcome outcome = shell.run(limited + " gdr info --device " + device);
    INFO(outcome.err);
    CHECK(outcome.status == 1);
    CHECK(contains(outcome.err, refusal));
    CHECK_FALSE(contains(outcome.err, "internal error"));
  }
  const Outcome report = shell.run(limited + " gdr info --bug-report");
  CHECK(report.status == 0);
  CHECK(contains(report.out, refusal));
}

TEST_CASE("a server whose host refuses it threads or processes tells its clients, and goes on") {
  const Shell shell;
  shell.run("chmod 777 .");
  if (shell.run(limited_to(1) + " gdr --version").status != 0) return;
  // One process accepts clients on this host, one those on others.
  const Outcome outcome = shell.run(
      limited_to(2) +
      " gdr serve --socket s --listen 127.0.0.1:0 --insecure --log log > serving & server=$!\n"
      "for k in $(seq 200); do grep -q 'ready' log && break; sleep 0.05; done\n"
      "port=$(sed -n 's/.*127.0.0.1:\\([0-9]*\\).*/\\1/p' log | head -1)\n"
      "for place in tcp:127.0.0.1:$port,insecure=1 tcp:127.0.0.1:$port,insecure=1 unix:$PWD/s; do\n"
      "  timeout 20 gdr info --device board:$place && exit 9\n"
      "done\n"
      "kill $server; wait $server 2>/dev/null; exit 0");
  INFO(outcome.err);
  INFO(shell.read("log"));
  CHECK(outcome.status == 0);
  std::size_t count = 0;
  for (std::size_t at = 0; (at = outcome.err.find(refusal, at)) != std::string::npos; ++at) ++count;
  CHECK(count == 3);
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
