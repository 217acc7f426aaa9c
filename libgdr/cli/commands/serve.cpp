// `gdr serve`: emulated boards for other processes.
#include <filesystem>
#include <optional>

#include "libgdr/cli/command.hpp"
#include "libgdr/cli/confinement.hpp"
#include "libgdr/driver/access.hpp"
#include "libgdr/driver/server/server.hpp"

namespace gdr::cli::serve_command {
namespace {

constexpr std::uint64_t max_memory_mib = std::uint64_t{1} << 24;
constexpr unsigned max_threads = 4096;
constexpr double max_poll_seconds = 60;

struct Options {
  std::string socket, mode = "0600", log, listen, files;
  bool files_writable = false;
  std::uint64_t files_limit_mib = 16384;
  unsigned boards = 1;
  bool any_engine = false;
  double queue_timeout = 600;
  std::uint64_t memory_mib = 4096;
  driver::Credentials credentials;
  double resume = 30;
  std::optional<double> poll;
  DeviceChoice device;
  std::vector<std::string> geometry, faults;
};

/// Access rights in octal.
unsigned parse_mode(const std::string& text) {
  const auto mode = parse_all<unsigned>(text, 8);
  if (!mode || *mode > 0777)
    throw usage_error("--mode '{}': write access rights as for chmod, 0600 or 0660", text);
  return *mode;
}

std::vector<Fault> parse_faults(const std::vector<std::string>& texts) {
  std::vector<Fault> faults;
  for (const std::string& text : texts) {
    const auto fault = parse_fault(text);
    if (!fault) throw usage_error("--inject '{}': write it as KIND@LIST[:VALUE][xTIMES]", text);
    faults.push_back(*fault);
  }
  return faults;
}

/// The folder that the server offers.
driver::OfferedFolder offered_folder(const Options& o) {
  if (o.files.empty()) {
    if (o.files_writable) throw usage_error("--files-writable: needs --files FOLDER");
    return {};
  }
  if (o.listen.empty())
    throw usage_error("--files: is for clients on other hosts; add --listen HOST:PORT");
  if (!can_confine())
    throw Error(ErrorCategory::Unsupported,
                "--files: this system has no Landlock (Linux 5.13), which confines the commands of "
                "clients to the folder");
  std::error_code error;
  const std::filesystem::path path = std::filesystem::canonical(o.files, error);
  if (error || !std::filesystem::is_directory(path))
    throw usage_error("--files '{}': is no folder", o.files);
  return {path.string(),
          o.files_writable,
          o.files_limit_mib << 20,
          {},
          std::filesystem::read_symlink("/proc/self/exe").string()};
}

void report_ready(const driver::ServerOptions& options) {
  if (is_quiet()) return;
  print("serving {} at {}{}\n", counted(options.boards, "board"), options.socket,
        options.listen ? " and " + options.listen->text() : "");
  flush_output();
}

int work(const Options& o) {
  if (!(o.queue_timeout >= 0)) throw usage_error("--queue-timeout: must be at least 0");
  if (o.device.threads > max_threads)
    throw usage_error("--threads: must be at most {}", max_threads);
  driver::ServerOptions options;
  options.socket = o.socket.empty() ? driver::default_socket() : o.socket;
  options.mode = parse_mode(o.mode);
  options.boards = o.boards;
  options.geometry = geometry_from(o.geometry);
  options.engine = chosen_engine(o.device.engine, default_engine(EngineUse::Board));
  options.isa = o.device.isa;
  options.threads = o.device.threads;
  options.any_engine = o.any_engine;
  options.queue_timeout = o.queue_timeout;
  options.max_shared_bytes = o.memory_mib << 20;
  options.log = o.log;
  options.faults = parse_faults(o.faults);
  if (!o.listen.empty()) options.listen = driver::parse_endpoint(o.listen);
  options.credentials = o.credentials;
  options.files = offered_folder(o);
  if (!options.listen && !o.credentials.empty())
    throw usage_error("credentials are for clients on other hosts; add --listen HOST:PORT");
  if (!(o.resume >= 0)) throw usage_error("--resume: must be at least 0");
  options.resume_seconds = o.resume;
  if (o.poll && !(*o.poll >= 0 && *o.poll <= max_poll_seconds))
    throw usage_error("--poll: must be from 0 to {} seconds", max_poll_seconds);
  options.poll_seconds = o.poll;
  verbose("boards", "{}, engine {}, {} MiB of shared memory a client", options.boards,
          options.engine, o.memory_mib);
  driver::serve(options, report_ready);
  return 0;
}

void add_options(CLI::App& app, Options& options) {
  add_text(app, "--socket", options.socket, "PATH",
           "path of the socket (or GDR_SOCKET; else gdr.socket in XDG_RUNTIME_DIR)");
  add_whole_number(app, "--boards", options.boards,
                   "number of emulated boards; each has one owner at a time", 1U, 64U);
  add_text(app, "--mode", options.mode, "MODE", "access rights of the socket, as for chmod");
  add_number(app, "--queue-timeout", options.queue_timeout, "S",
             "longest time that a client waits for a board");
  add_whole_number(app, "--memory", options.memory_mib,
                   "MiB of memory that a client may share with its board", std::uint64_t{1},
                   max_memory_mib)
      ->type_name("MIB");
  add_text(app, "--listen", options.listen, "HOST:PORT",
           "serve clients on other hosts, too, over TLS 1.3");
  add_text(app, "--psk", options.credentials.shared_key, "FILE",
           "key NAME:HEX that the clients share with this server");
  add_text(app, "--cert", options.credentials.certificate, "FILE",
           "certificate of this server with its chain, PEM");
  add_text(app, "--key", options.credentials.key, "FILE", "key of the certificate, PEM");
  add_text(app, "--ca", options.credentials.authorities, "FILE",
           "certificates that may sign those of clients, PEM");
  app.add_flag("--insecure", options.credentials.none,
               "plain TCP, without encryption and authentication; only at a loopback address");
  add_number(app, "--resume", options.resume, "S",
             "how long a board waits for a client whose connection broke");
  add_number(app, "--poll", options.poll, "S",
             "how long idle boards and connections poll before they sleep, while no other thread "
             "wants their cores (default: 5e-5 for boards, 0 for connections)");
  add_text(app, "--files", options.files, "DIR",
           "offer the files below a folder to clients on other hosts, as server:/NAME; with "
           "--insecure to all programs of this host");
  app.add_flag("--files-writable", options.files_writable, "clients may also write files there");
  add_whole_number(
      app, "--files-limit", options.files_limit_mib,
      "largest file that a client may write, and that a command for it may name, in MiB "
      "(default: 16384)",
      std::uint64_t{1}, max_memory_mib)
      ->type_name("MIB");
  add_text(app, "--log", options.log, "FILE", "append the log to a file instead of standard error");
  app.add_flag("--any-engine", options.any_engine, "clients may choose engine and instruction set");
  add_repeatable(app, "--inject", options.faults, "inject faults, for tests", "FAULT")->group("");
  add_geometry_option(app, options.geometry);
  add_engine_options(app, options.device);
}

const Registration registration{
    {.name = "serve",
     .summary = "serve emulated boards to other processes",
     .example =
         "gdr serve --socket /tmp/boards.socket --boards 2 --engine native\n"
         "gdr force cluster.hdf5 --eps 0.01 -o f.hdf5 --device board:unix:/tmp/boards.socket\n"
         "gdr serve --listen 0.0.0.0:7326 --psk cluster.key --files /data --files-writable",
     .group = Group::Machine,
     .prepare = prepare<Options, add_options, work>,
     .details = "Serves until it is interrupted. A board belongs to one client at a time; others\n"
                "wait in a queue. Every client gets a fresh board in a process of its own, which\n"
                "ends with the client. docs/internals/driver.md describes the protocol."}};

}  // namespace
}  // namespace gdr::cli::serve_command
