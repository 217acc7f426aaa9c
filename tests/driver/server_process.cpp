#include "driver/server_process.hpp"

#include <fcntl.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <stdexcept>

#include "library/kernels.hpp"

namespace driver_test {

ServerProcess::ServerProcess(const std::vector<std::string>& options, const std::string& socket) {
  char folder[] = "/tmp/gdr-driver-XXXXXX";
  if (mkdtemp(folder) == nullptr)
    throw std::runtime_error("cannot create the directory of the socket");
  folder_ = folder;
  socket_ = socket.empty() ? folder_ + "/board.socket" : socket;
  std::vector<std::string> words{GDR_COMMAND, "serve",          "--socket",   socket_,
                                 "--log",     folder_ + "/log", "--geometry", small_machine};
  words.insert(words.end(), options.begin(), options.end());
  int ready[2];
  if (pipe2(ready, O_CLOEXEC) != 0) throw std::runtime_error("cannot create a pipe");
  process_ = fork();
  if (process_ == 0) {
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    std::signal(SIGHUP, SIG_DFL);  // may be ignored if tests run without a terminal
    dup2(ready[1], STDOUT_FILENO);
    std::vector<char*> arguments;
    for (std::string& word : words) arguments.push_back(word.data());
    arguments.push_back(nullptr);
    execv(GDR_COMMAND, arguments.data());
    _exit(127);
  }
  close(ready[1]);
  char line[256];
  const ssize_t n = read(ready[0], line, sizeof(line));  // "serving ..."
  close(ready[0]);
  if (n <= 0) throw std::runtime_error("gdr serve does not start: " + log());
  greeting_.assign(line, static_cast<std::size_t>(n));
}

ServerProcess::~ServerProcess() {
  if (process_ > 0) {
    signal(SIGCONT);
    signal(SIGKILL);
    wait();
  }
  std::error_code ignored;
  std::filesystem::remove_all(folder_, ignored);
}

std::string ServerProcess::device(const std::string& options) const {
  return "board:unix:" + socket_ + (options.empty() ? "" : "," + options);
}

std::vector<std::string> ServerProcess::children() const {
  const std::string number = std::to_string(process_);
  std::ifstream file("/proc/" + number + "/task/" + number + "/children");
  std::vector<std::string> all;
  for (std::string child; file >> child;) all.push_back(child);
  return all;
}

void ServerProcess::signal(int number) const {
  if (process_ > 0) kill(process_, number);
}

int ServerProcess::wait() {
  int status = 0;
  while (waitpid(process_, &status, 0) < 0 && errno == EINTR) {
  }
  process_ = -1;
  return WIFSIGNALED(status) ? -WTERMSIG(status) : WEXITSTATUS(status);
}

std::string ServerProcess::log() const {
  std::ifstream file(folder_ + "/log");
  return {std::istreambuf_iterator<char>(file), {}};
}

std::vector<double> forces(gdr::Device& device, std::size_t targets, std::size_t sources,
                           unsigned seed) {
  const std::vector<double> xi = library_test::rough_values(targets, seed),
                            xj = library_test::rough_values(sources, seed + 1),
                            mj = library_test::rough_values(sources, seed + 2);
  std::vector<double> results(2 * targets);
  gdr::Job job = device.job(library_test::spring());
  job.set("k", 0.75);
  job.sources(sources, {{"xj", xj}, {"mj", mj}});
  job.targets(targets, {{"xi", xi}});
  job.run({{"force", results.data()}, {"mass", results.data() + targets}});
  return results;
}

std::vector<double> expected_forces(std::size_t targets, std::size_t sources, unsigned seed) {
  gdr::Device device = gdr::Device::open("exact:" + small_machine);
  return forces(device, targets, sources, seed);
}

}  // namespace driver_test
