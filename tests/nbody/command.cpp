// Runs the built `gdr` program with output to files, so that no pipe can block.
#include "command.hpp"

#include <fcntl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <csignal>
#include <cstdlib>
#include <thread>

#include "support/temporary_folder.hpp"

namespace gdr::test {
namespace {

struct Conditions {
  int signal = 0;
  int after_lines = 0;
  unsigned long largest_file = 0;
};

[[noreturn]] void become_gdr(std::vector<std::string> words, const std::string& out,
                             const std::string& err, const Conditions& conditions) {
  words.insert(words.begin(), GDR_COMMAND);
  std::vector<char*> arguments;
  for (std::string& word : words) arguments.push_back(word.data());
  arguments.push_back(nullptr);
  constexpr int how = O_WRONLY | O_CREAT | O_TRUNC;
  ::dup2(::open("/dev/null", O_RDONLY), 0);
  ::dup2(::open(out.c_str(), how, 0600), 1);
  ::dup2(::open(err.c_str(), how, 0600), 2);
  if (conditions.largest_file > 0) {
    std::signal(SIGXFSZ, SIG_IGN);
    const rlimit limit{conditions.largest_file, conditions.largest_file};
    ::setrlimit(RLIMIT_FSIZE, &limit);
    // The thread sanitizer would write a file there, which the limit truncates.
    ::setenv("TMPDIR", "/nonexistent", 1);
  }
  ::execv(GDR_COMMAND, arguments.data());
  ::_exit(127);
}

/// Waits until a file has this many lines, at most a minute, or until the process ends.
void wait_for_lines(const std::string& path, int lines, pid_t process) {
  for (int k = 0; k < 6000; ++k) {
    const std::string text = content_of(path);
    siginfo_t state{};
    ::waitid(P_PID, static_cast<id_t>(process), &state, WEXITED | WNOHANG | WNOWAIT);
    if (std::count(text.begin(), text.end(), '\n') >= lines || state.si_pid != 0) return;
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
  }
}

Outcome run(const std::vector<std::string>& arguments, const Conditions& conditions) {
  const TemporaryFolder folder;
  const std::string out = folder.file("out"), err = folder.file("err");
  const pid_t process = ::fork();
  if (process == 0) become_gdr(arguments, out, err, conditions);
  if (conditions.signal != 0) {
    wait_for_lines(out, conditions.after_lines, process);
    ::kill(process, conditions.signal);
  }
  int status = 0;
  ::waitpid(process, &status, 0);
  return {WIFEXITED(status) ? WEXITSTATUS(status) : -WTERMSIG(status), content_of(out),
          content_of(err)};
}

}  // namespace

Outcome run_gdr(const std::vector<std::string>& arguments) { return run(arguments, {}); }

Outcome interrupt_gdr(const std::vector<std::string>& arguments, int signal, int lines) {
  return run(arguments, {signal, lines, 0});
}

Outcome run_gdr_on_full_disk(const std::vector<std::string>& arguments, unsigned long bytes) {
  return run(arguments, {0, 0, bytes});
}

std::string example(const std::string& name) {
  return std::string(GDR_SOURCE_DIR) + "/examples/data/" + name;
}

}  // namespace gdr::test
