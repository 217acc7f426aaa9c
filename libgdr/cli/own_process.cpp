#include "libgdr/cli/own_process.hpp"

#include <fmt/format.h>
#include <poll.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <exception>

#include "emulator/host/host_limits.hpp"
#include "gdr/error.hpp"
#include "libgdr/driver/file.hpp"

namespace gdr::cli {
namespace {

using driver::File;

struct Pipe {
  File to_read, to_write;
};

Pipe make_pipe() {
  std::array<int, 2> ends{};
  if (pipe(ends.data()) != 0)
    throw Error(ErrorCategory::Internal, "the system gives no pipe: " + driver::system_error());
  return {File(ends[0]), File(ends[1])};
}

void write_all(int to, std::string_view text) {
  while (!text.empty()) {
    const ssize_t done = write(to, text.data(), text.size());
    if (done < 0 && errno == EINTR) continue;
    if (done <= 0) return;  // the parent has ended
    text.remove_prefix(static_cast<std::size_t>(done));
  }
}

/// Adds what is there to a text; false at its end.
bool read_some(const File& from, std::string& to) {
  std::array<char, 4096> bytes;
  const ssize_t count = read(from.get(), bytes.data(), bytes.size());
  if (count < 0) return errno == EINTR || errno == EAGAIN;
  to.append(bytes.data(), static_cast<std::size_t>(count));
  return count > 0;
}

bool is_ready(const File& file) {
  pollfd one{file.get(), POLLIN, 0};
  return poll(&one, 1, 0) > 0;
}

std::string last_line(const std::string& text) {
  const std::size_t end = text.find_last_not_of("\n\r \t");
  if (end == std::string::npos) return {};
  const std::size_t before = text.rfind('\n', end);
  const std::size_t begin = before == std::string::npos ? 0 : before + 1;
  return text.substr(begin, end + 1 - begin);
}

/// In the child. Its exit status: 0, or the category of the error whose message it has written.
[[noreturn]] void run_child(const std::function<void(const WriteText&)>& work, int text,
                            int error) {
  try {
    work([text](std::string_view some) { write_all(text, some); });
    std::_Exit(0);
  } catch (const Error& e) {
    write_all(error, e.what());
    std::_Exit(static_cast<int>(e.category()));
  } catch (const std::exception& e) {
    write_all(error, e.what());
    std::_Exit(static_cast<int>(ErrorCategory::Internal));
  }
}

/// A child process, whose status the system tells once.
class Child {
 public:
  explicit Child(pid_t pid) : pid_(pid) {}
  bool has_ended() { return is_known_ || wait_for(WNOHANG); }
  /// As waitpid has it.
  int status() {
    while (!is_known_ && !wait_for(0)) {
    }
    return status_;
  }
  void end() const { kill(pid_, SIGKILL); }

 private:
  bool wait_for(int options) {
    is_known_ = waitpid(pid_, &status_, options) == pid_;
    return is_known_;
  }

  const pid_t pid_;
  int status_ = 0;
  bool is_known_ = false;
};

/// Reads both pipes until the child has ended: not to their ends, because a process that the child
/// has left behind may hold them open. False if nothing came for the limit.
bool read_while_it_runs(Child& child, const File& text, const File& noise, Ended& ended,
                        std::string& errors, std::chrono::seconds limit) {
  using Clock = std::chrono::steady_clock;
  constexpr int milliseconds = 100;  // between two questions whether a silent child still runs
  std::array<pollfd, 2> files{{{text.get(), POLLIN, 0}, {noise.get(), POLLIN, 0}}};
  auto last = Clock::now();
  while (files[0].fd >= 0) {
    const int ready = poll(files.data(), files.size(), milliseconds);
    if (ready < 0 && errno != EINTR) return false;
    if (ready <= 0 && child.has_ended()) {
      while (is_ready(text) && read_some(text, ended.text)) {
      }
      return true;
    }
    if (ready <= 0) {
      if (Clock::now() - last > limit) return false;
      continue;
    }
    last = Clock::now();
    if (files[0].revents != 0 && !read_some(text, ended.text)) files[0].fd = -1;
    if (files[1].revents != 0 && !read_some(noise, errors)) files[1].fd = -1;
  }
  return true;
}

}  // namespace

Ended in_own_process(const std::function<void(const WriteText& write)>& work,
                     std::chrono::seconds limit) {
  Pipe text = make_pipe(), noise = make_pipe(), error = make_pipe();
  std::fflush(nullptr);  // else the child would print it, too
  const pid_t pid = fork();
  if (pid < 0) return {{}, "it needs a process of its own: " + refused_thread_text()};
  if (pid == 0) {
    dup2(noise.to_write.get(), STDERR_FILENO);
    run_child(work, text.to_write.get(), error.to_write.get());
  }
  for (Pipe* const pipe : {&text, &noise, &error}) pipe->to_write.close();
  Ended ended;
  std::string errors, message;
  Child child(pid);
  const bool in_time = read_while_it_runs(child, text.to_read, noise.to_read, ended, errors, limit);
  if (!in_time) child.end();
  const int status = child.status();
  while (is_ready(noise.to_read) && read_some(noise.to_read, errors)) {
  }
  while (is_ready(error.to_read) && read_some(error.to_read, message)) {
  }
  if (WIFEXITED(status) && WEXITSTATUS(status) != 0 && !message.empty())
    throw Error(static_cast<ErrorCategory>(WEXITSTATUS(status)), message);
  if (WIFEXITED(status) && WEXITSTATUS(status) == 0) return ended;
  const std::string said = last_line(errors);
  ended.failure = (!in_time ? fmt::format("no answer within {} s", limit.count())
                   : WIFSIGNALED(status)
                       ? fmt::format("it ended the process by signal {} ({})", WTERMSIG(status),
                                     strsignal(WTERMSIG(status)))
                       : fmt::format("it ended the process with status {}", WEXITSTATUS(status))) +
                  (said.empty() ? "" : "; its last message: " + said);
  return ended;
}

}  // namespace gdr::cli
