// Runs programs on many ranks; their outputs go to files, so that no pipe can block.
#include "mpi/program.hpp"

#include <fcntl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <csignal>
#include <cstdlib>
#include <thread>

#include "support/temporary_folder.hpp"

namespace gdr::test {
namespace {

constexpr int max_seconds = 600;  // for programs that hang: other processes may use the cores

using Clock = std::chrono::steady_clock;

int wait_for(pid_t process) {
  int status = 0;
  const Clock::time_point end = Clock::now() + std::chrono::seconds(max_seconds);
  while (::waitpid(process, &status, WNOHANG) == 0) {
    if (Clock::now() > end) ::kill(-process, SIGKILL);
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
  }
  return WIFEXITED(status) ? WEXITSTATUS(status) : -WTERMSIG(status);
}

Ended run(std::vector<std::string> words, const std::string& library) {
  const TemporaryFolder folder;
  const std::string out = folder.file("out"), err = folder.file("err");
  const Clock::time_point begin = Clock::now();
  const pid_t process = ::fork();
  if (process == 0) {
    ::setpgid(0, 0);
    // Tests run as root in containers, and with more ranks than cores.
    for (const char* name : {"OMPI_ALLOW_RUN_AS_ROOT", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM"})
      ::setenv(name, "1", 1);
    ::setenv("OMPI_MCA_btl_vader_single_copy_mechanism", "none", 1);
    ::setenv("OMPI_MCA_rmaps_base_oversubscribe", "1", 1);
    ::setenv("OMPI_MCA_mpi_yield_when_idle", "1", 1);  // ranks that wait leave cores to the others
    ::setenv("OMP_NUM_THREADS", "1", 0);
    if (!library.empty()) ::setenv("GDR_MPI_LIBRARY", library.c_str(), 1);
    constexpr int how = O_WRONLY | O_CREAT | O_TRUNC;
    ::dup2(::open("/dev/null", O_RDONLY), 0);
    ::dup2(::open(out.c_str(), how, 0600), 1);
    ::dup2(::open(err.c_str(), how, 0600), 2);
    std::vector<char*> arguments;
    for (std::string& word : words) arguments.push_back(word.data());
    arguments.push_back(nullptr);
    ::execvp(arguments[0], arguments.data());
    ::_exit(127);
  }
  const int status = wait_for(process);
  const std::chrono::duration<double> spent = Clock::now() - begin;
  return {status, content_of(out), content_of(err), spent.count()};
}

}  // namespace

std::vector<MpiKind> mpi_kinds() {
  std::vector<MpiKind> kinds;
  const std::string folder = GDR_BINARY_DIR "/libgdr/";
  const std::string first = GDR_MPI_LAUNCHER, second = GDR_MPICH_LAUNCHER;
  if (!first.empty()) kinds.push_back({"found", first, folder + "libgdr_mpi.so"});
  if (!second.empty()) kinds.push_back({"MPICH", second, folder + "libgdr_mpi_mpich.so"});
  return kinds;
}

std::optional<MpiKind> mpi_with_ulfm() {
  const std::string launcher = GDR_ULFM_LAUNCHER;
  if (launcher.empty()) return {};
  return MpiKind{"ULFM",
                 launcher,
                 GDR_BINARY_DIR "/libgdr/libgdr_mpi_ulfm.so",
                 {"--with-ft", "ulfm", "--oversubscribe", "--bind-to", "none"}};
}

Ended run_ranks(const MpiKind& mpi, unsigned ranks, const std::vector<std::string>& words) {
  std::vector<std::string> all = {mpi.launcher};
  all.insert(all.end(), mpi.options.begin(), mpi.options.end());
  all.insert(all.end(), {"-n", std::to_string(ranks)});
  // The address sanitizer needs exact (short) stacks to attribute leaks to an MPI library by name.
  if (const std::string preload = GDR_LEAK_PRELOAD; !preload.empty())
    all.insert(all.end(), {"env", "LD_PRELOAD=" + preload,
                           "ASAN_OPTIONS=fast_unwind_on_malloc=0:malloc_context_size=10",
                           "LSAN_OPTIONS=print_suppressions=0:suppressions=" GDR_LEAKS_OF_MPI});
  all.insert(all.end(), words.begin(), words.end());
  return run(all, mpi.library);
}

Ended run_alone(const std::vector<std::string>& words) { return run(words, ""); }

}  // namespace gdr::test
