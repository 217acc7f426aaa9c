// fork, pipes and poll: nothing blocks while the other side waits.
#include "fp/program.hpp"

#include <fcntl.h>
#include <poll.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <csignal>
#include <stdexcept>

namespace test {
namespace {

using Pipe = std::array<int, 2>;

Pipe make_pipe() {
  Pipe ends{};
  if (::pipe(ends.data()) != 0) throw std::runtime_error("no pipe");
  return ends;
}

void close_end(int& end) {
  if (end >= 0) ::close(end);
  end = -1;
}

/// Appends the available bytes; closes the stream at its end.
void read_into(int& end, std::string& text) {
  std::array<char, 65536> buffer;
  const ssize_t count = ::read(end, buffer.data(), buffer.size());
  if (count > 0) text.append(buffer.data(), static_cast<std::size_t>(count));
  if (count == 0 || (count < 0 && errno != EINTR)) close_end(end);
}

}  // namespace

Program::Program(const std::vector<std::string>& command) {
  std::signal(SIGPIPE, SIG_IGN);
  Pipe in = make_pipe();
  Pipe out = make_pipe();
  Pipe err = make_pipe();
  std::vector<char*> arguments;
  for (const auto& word : command) arguments.push_back(const_cast<char*>(word.c_str()));
  arguments.push_back(nullptr);
  pid_ = ::fork();
  if (pid_ == 0) {
    ::dup2(in[0], 0);
    ::dup2(out[1], 1);
    ::dup2(err[1], 2);
    for (const Pipe& ends : {in, out, err}) {
      ::close(ends[0]);
      ::close(ends[1]);
    }
    ::execv(arguments[0], arguments.data());
    ::_exit(127);
  }
  close_end(in[0]);
  close_end(out[1]);
  close_end(err[1]);
  in_ = in[1];
  out_ = out[0];
  err_ = err[0];
}

Program::~Program() {
  close_end(in_);
  close_end(out_);
  close_end(err_);
  if (pid_ > 0) ::waitpid(pid_, nullptr, 0);
}

void Program::write(const std::string& text) {
  std::size_t done = 0;
  while (done < text.size()) {
    const ssize_t count = ::write(in_, text.data() + done, text.size() - done);
    if (count < 0) throw std::runtime_error("the program does not read its input");
    done += static_cast<std::size_t>(count);
  }
}

void Program::close_input() { close_end(in_); }

std::string Program::read_line() {
  std::string line;
  while (true) {
    pollfd wait{out_, POLLIN, 0};
    char c = 0;
    if (::poll(&wait, 1, 10'000) <= 0 || ::read(out_, &c, 1) != 1) return "";
    if (c == '\n') return line;
    line += c;
  }
}

Program::Outcome Program::finish(const std::string& input) {
  Outcome outcome{"", "", -1};
  std::size_t done = 0;
  ::fcntl(in_, F_SETFL, O_NONBLOCK);
  while (out_ >= 0 || err_ >= 0) {
    if (done == input.size()) close_end(in_);
    std::array<pollfd, 3> wait{pollfd{in_, POLLOUT, 0}, {out_, POLLIN, 0}, {err_, POLLIN, 0}};
    ::poll(wait.data(), wait.size(), -1);
    if (wait[0].revents != 0) {
      const ssize_t count = ::write(in_, input.data() + done, input.size() - done);
      if (count > 0) done += static_cast<std::size_t>(count);
      if (count < 0 && errno == EPIPE) done = input.size();
    }
    if (wait[1].revents != 0) read_into(out_, outcome.output);
    if (wait[2].revents != 0) read_into(err_, outcome.errors);
  }
  close_end(in_);
  int status = 0;
  ::waitpid(pid_, &status, 0);
  pid_ = -1;
  if (WIFEXITED(status)) outcome.status = WEXITSTATUS(status);
  return outcome;
}

}  // namespace test
