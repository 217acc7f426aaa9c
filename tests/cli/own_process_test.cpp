// Work in a process of its own.
#include "libgdr/cli/own_process.hpp"

#include <unistd.h>

#include <chrono>
#include <csignal>
#include <cstdlib>
#include <string>

#include "gdr/error.hpp"
#include "support/catch.hpp"

namespace gdr::test {

using cli::Ended;
using cli::in_own_process;
using cli::WriteText;

namespace {

constexpr std::chrono::seconds limit{20};

}  // namespace

TEST_CASE("text of a process of its own arrives, also if a signal ends the process") {
  const Ended good = in_own_process([](const WriteText& write) { write("all of it"); }, limit);
  CHECK(good.text == "all of it");
  CHECK(good.failure.empty());
  const Ended ended = in_own_process(
      [](const WriteText& write) {
        write("a part");
        std::raise(SIGKILL);
      },
      limit);
  CHECK(ended.text == "a part");
  CHECK(ended.failure.find("it ended the process by signal 9") != std::string::npos);
}

TEST_CASE("an error of a process of its own is thrown") {
  const auto throws = [](const WriteText&) { throw Error(ErrorCategory::Usage, "no such card"); };
  CHECK_THROWS_WITH(in_own_process(throws, limit), "no such card");
}

TEST_CASE("a process that is left behind and holds the pipes does not delay the end") {
  const Ended ended = in_own_process(
      [](const WriteText& write) {
        const pid_t left = fork();
        if (left == 0) {
          close(STDOUT_FILENO);  // else the test program would seem to run on
          sleep(600);
          std::_Exit(0);
        }
        write(std::to_string(left));
        std::_Exit(3);
      },
      limit);
  CHECK(ended.failure == "it ended the process with status 3");
  const pid_t left = std::stoi(ended.text);
  CHECK(kill(left, SIGKILL) == 0);  // it was running: nobody has waited for its end
}

TEST_CASE("a process that says nothing is ended after the limit") {
  const Ended ended = in_own_process([](const WriteText&) { sleep(600); }, std::chrono::seconds(1));
  CHECK(ended.failure == "no answer within 1 s");
}

}  // namespace gdr::test
