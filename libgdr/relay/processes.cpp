#include "libgdr/relay/processes.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/prctl.h>
#include <sys/wait.h>

#include <chrono>
#include <csignal>
#include <fstream>
#include <thread>
#include <vector>

namespace gdr::relay {
namespace {

std::vector<pid_t> children() {
  std::ifstream file(fmt::format("/proc/self/task/{}/children", ::getpid()));
  std::vector<pid_t> list;
  for (pid_t process; file >> process;) list.push_back(process);
  return list;
}

}  // namespace

pid_t start_process() {
  const pid_t parent = ::getpid();
  const pid_t process = ::fork();
  if (process < 0) system_error("cannot start a process");
  if (process > 0) return process;
  ::prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (::getppid() != parent) ::_exit(127);  // the relay ended before the call
  for (const int number : {SIGINT, SIGTERM, SIGHUP, SIGCHLD}) ::signal(number, SIG_DFL);
  sigset_t none;
  sigemptyset(&none);
  ::sigprocmask(SIG_SETMASK, &none, nullptr);
  return 0;
}

bool any_child_ended() { return ::waitpid(-1, nullptr, WNOHANG) > 0; }

pid_t start_command(const std::string& command, const HostNamespace& host, bool with_input) {
  enter(host);
  if (const pid_t process = start_process()) return process;
  if (!with_input) {
    const int empty = ::open("/dev/null", O_RDONLY);
    ::dup2(empty, STDIN_FILENO);
  }
  ::execl("/bin/sh", "sh", "-c", command.c_str(), nullptr);
  ::_exit(127);
}

void adopt_orphans() { ::prctl(PR_SET_CHILD_SUBREAPER, 1); }

std::optional<int> exit_status(pid_t process) {
  int status = 0;
  if (::waitpid(process, &status, WNOHANG) != process) return std::nullopt;
  return WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
}

void end_all_children() {
  const auto start = std::chrono::steady_clock::now();
  // A child that ends leaves its own children to this process: the loop ends when none is left.
  for (;;) {
    while (::waitpid(-1, nullptr, WNOHANG) > 0) {
    }
    const std::vector<pid_t> left = children();
    if (left.empty()) return;
    const bool late = std::chrono::steady_clock::now() - start > std::chrono::seconds(1);
    for (const pid_t process : left) ::kill(process, late ? SIGKILL : SIGTERM);
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
  }
}

}  // namespace gdr::relay
