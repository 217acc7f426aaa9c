// `gdr job`: runs a command for a client of `gdr serve`, confined to the files that it may use.
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <csignal>
#include <cstdlib>
#include <filesystem>

#include "libgdr/cli/command.hpp"
#include "libgdr/cli/confinement.hpp"
#include "libgdr/cli/server_command.hpp"
#include "libgdr/driver/job_arguments.hpp"

namespace gdr::cli::job_command {
namespace {

struct Options {
  std::vector<std::string> words;
  std::string folder, offered, device;
  std::uint64_t limit = 0;
  unsigned parent = 0;
  bool writable = false;
};

/// What the program itself reads: its libraries, and descriptions of the host.
std::vector<AllowedPath> allowed_paths(const Options& o) {
  std::vector<AllowedPath> allowed = {{o.folder, true}, {o.offered, o.writable}};
  for (const char* path :
       {"/usr/lib", "/usr/lib32", "/usr/lib64", "/usr/local/lib", "/lib", "/lib64",
        "/etc/ld.so.cache", "/proc/cpuinfo", "/proc/meminfo", "/proc/self", "/proc/sys",
        "/proc/stat", "/sys/devices/system", "/sys/fs/cgroup"})
    allowed.push_back({path, false});
  for (const char* path : {"/dev/null", "/dev/zero"}) allowed.push_back({path, true});
  for (const char* path : {"/dev/urandom", "/dev/random"}) allowed.push_back({path, false});
  return allowed;
}

/// The command's arguments, from those of a job.
std::vector<std::string> command_line(const Options& o) {
  std::vector<std::string> line = {"gdr", o.words.front(), "--device=" + o.device}, files;
  for (const driver::GivenArgument& given : driver::parse_job(o.words)) {
    const std::string name(given.argument->name);
    if (!name.starts_with("-"))
      files.push_back(given.value);
    else
      line.push_back(given.argument->kind == driver::ArgumentKind::Flag ? name
                                                                        : name + "=" + given.value);
  }
  line.emplace_back("--");
  line.insert(line.end(), files.begin(), files.end());
  return line;
}

int work(const Options& o) {
  // Connections of the server's other clients are none of this process's business.
  syscall(SYS_close_range, 3U, ~0U, 0U);
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (getppid() != static_cast<pid_t>(o.parent)) return 1;
  if (o.words.empty()) throw usage_error("job: names no command");
  std::filesystem::current_path(o.folder);
  // A file above the limit gives an error instead of a signal.
  const rlimit limit{o.limit, o.limit};
  std::signal(SIGXFSZ, SIG_IGN);
  setrlimit(RLIMIT_FSIZE, &limit);
  setenv("GDR_CACHE_DIR", "none", 1);
  confine(allowed_paths(o));
  run_commands_here();
  const std::vector<std::string> line = command_line(o);
  std::vector<const char*> argv;
  for (const std::string& word : line) argv.push_back(word.c_str());
  return run_command_line(static_cast<int>(argv.size()), argv.data());
}

void add_options(CLI::App& app, Options& options) {
  app.add_option("WORDS", options.words, "command and arguments");
  add_text(app, "--folder", options.folder, "DIR", "folder of the session");
  add_text(app, "--offered", options.offered, "DIR", "folder that the server offers");
  add_text(app, "--device", options.device, "DEVICE", "the server's board");
  add_whole_number(app, "--limit", options.limit, "largest file, in bytes");
  add_whole_number(app, "--parent", options.parent, "process of the server");
  app.add_flag("--writable", options.writable, "the offered folder may be written");
}

const Registration registration{{.name = "job",
                                 .summary = "run a command for a client of gdr serve",
                                 .example = "",
                                 .group = Group::Hidden,
                                 .prepare = prepare<Options, add_options, work>,
                                 .details = "gdr serve --files starts it."}};

}  // namespace
}  // namespace gdr::cli::job_command
