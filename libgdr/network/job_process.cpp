#include "libgdr/network/job_process.hpp"

#include <fcntl.h>
#include <poll.h>
#include <spawn.h>
#include <sys/eventfd.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstring>

#include "gdr/error.hpp"

namespace gdr::network {
namespace {

using Clock = std::chrono::steady_clock;
using driver::File;

/// How long a program may take to end after SIGTERM.
constexpr std::chrono::seconds patience{2};
/// How often requests are looked for, and the end of a program that has closed its output.
constexpr std::chrono::milliseconds request_interval{500}, end_interval{5};

struct Pipe {
  File read, write;
  Pipe() {
    int ends[2] = {-1, -1};
    if (pipe2(ends, O_CLOEXEC) != 0)
      throw Error(ErrorCategory::Io, "a job cannot be started: " + driver::system_error());
    read = File(ends[0]);
    write = File(ends[1]);
  }
};

pid_t spawn(const std::string& program, const std::vector<std::string>& arguments,
            const Pipe& output, const Pipe& errors) {
  std::vector<char*> argv;
  argv.reserve(arguments.size() + 1);
  for (const std::string& a : arguments) argv.push_back(const_cast<char*>(a.c_str()));
  argv.push_back(nullptr);
  posix_spawn_file_actions_t files;
  posix_spawn_file_actions_init(&files);
  posix_spawn_file_actions_addopen(&files, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
  posix_spawn_file_actions_adddup2(&files, output.write.get(), STDOUT_FILENO);
  posix_spawn_file_actions_adddup2(&files, errors.write.get(), STDERR_FILENO);
  // The server ignores some signals, and blocks them in its threads.
  posix_spawnattr_t attributes;
  posix_spawnattr_init(&attributes);
  sigset_t all, none;
  sigfillset(&all);
  sigemptyset(&none);
  posix_spawnattr_setsigdefault(&attributes, &all);
  posix_spawnattr_setsigmask(&attributes, &none);
  posix_spawnattr_setpgroup(&attributes, 0);
  posix_spawnattr_setflags(&attributes,
                           POSIX_SPAWN_SETSIGDEF | POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETPGROUP);
  pid_t process = 0;
  const int error =
      posix_spawn(&process, program.c_str(), &files, &attributes, argv.data(), environ);
  posix_spawnattr_destroy(&attributes);
  posix_spawn_file_actions_destroy(&files);
  if (error != 0)
    throw Error(ErrorCategory::Io,
                "a job cannot be started: " + program + ": " + std::strerror(error));
  return process;
}

/// A program in a process group of its own, which ends with the object at the latest.
class Child {
 public:
  explicit Child(pid_t process) : process_(process) {}
  Child(const Child&) = delete;
  Child& operator=(const Child&) = delete;
  ~Child() {
    if (ended_) return;
    signal(SIGKILL);
    reap(0);
  }

  void signal(int number) const { kill(-process_, number); }
  /// Whether it has ended; waits for that, unless `options` is WNOHANG.
  bool reap(int options) {
    pid_t process = 0;
    do process = waitpid(process_, &status_, options);
    while (process < 0 && errno == EINTR);
    return ended_ = process != 0;
  }
  int status() const { return status_; }

 private:
  pid_t process_;
  int status_ = 0;
  bool ended_ = false;
};

}  // namespace

JobProcess::JobProcess() : wake_(eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)) {}

void JobProcess::request(int what) {
  if (what > requested_) requested_ = what;
  const std::uint64_t one = 1;
  [[maybe_unused]] const ssize_t n = write(wake_.get(), &one, sizeof(one));
}

int JobProcess::run(const std::string& program, const std::vector<std::string>& arguments,
                    const Output& output) {
  Pipe out, errors;
  Child child(spawn(program, arguments, out, errors));
  out.write.close();
  errors.write.close();
  int told = 0;
  Clock::time_point killed = Clock::time_point::max();
  std::array<char, 16384> text;
  for (;;) {
    // The program may close its output before its end.
    const bool closed = !out.read && !errors.read;
    if (closed && child.reap(WNOHANG)) break;
    if (const int what = requested_; what > told) {
      told = what;
      child.signal(what == 1 ? SIGINT : SIGTERM);
      if (what == 2) killed = Clock::now() + patience;
    }
    if (Clock::now() >= killed) {
      child.signal(SIGKILL);
      child.reap(0);
      break;
    }
    // A file that is closed has number -1, which poll ignores.
    std::array<pollfd, 3> polled{
        {{out.read.get(), POLLIN, 0}, {errors.read.get(), POLLIN, 0}, {wake_.get(), POLLIN, 0}}};
    driver::poll_files(polled, closed ? end_interval : request_interval);
    for (const bool error_stream : {false, true}) {
      File& file = error_stream ? errors.read : out.read;
      if (!file || polled[error_stream ? 1 : 0].revents == 0) continue;
      const ssize_t n = read(file.get(), text.data(), text.size());
      if (n > 0)
        output(error_stream, {text.data(), static_cast<std::size_t>(n)});
      else if (n == 0 || (errno != EINTR && errno != EAGAIN))
        file.close();
    }
    if (polled[2].revents != 0) {
      std::uint64_t count = 0;
      [[maybe_unused]] const ssize_t n = read(wake_.get(), &count, sizeof(count));
    }
  }
  const int status = child.status();
  if (!WIFSIGNALED(status)) return WEXITSTATUS(status);
  if (requested_ == 0)
    output(true, "gdr: error: the job was ended by signal " + std::to_string(WTERMSIG(status)) +
                     " at the server\n");
  return 128 + WTERMSIG(status);
}

}  // namespace gdr::network
