// The supervisor: one thread that accepts clients, queues them, and starts a process for each owner
// of a board. It never reads shared memory, so invalid contents cannot affect it.
#include "libgdr/driver/server/server.hpp"

#include <fcntl.h>
#include <poll.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cctype>
#include <cerrno>
#include <chrono>
#include <cmath>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <list>
#include <optional>
#include <vector>

#include "emulator/engine/api/engine.hpp"
#include "emulator/host/host_limits.hpp"
#include "gdr/error.hpp"
#include "libgdr/driver/server/listener.hpp"
#include "libgdr/driver/wire.hpp"

namespace gdr::driver {
namespace {

using Clock = std::chrono::steady_clock;
constexpr std::chrono::seconds hello_timeout{5};  ///< time limit of a client's first message
constexpr std::chrono::seconds termination_timeout{
    2};  ///< time limit of a disconnected owner's process
constexpr std::size_t max_clients = 256;
/// Maximum number of log lines about rejected clients per minute, to limit the size of the log.
constexpr unsigned max_refusals = 60;

/// Why fork() has failed.
std::string why_no_process() { return errno == EAGAIN ? refused_thread_text() : system_error(); }

struct Client {
  enum class State { New, Waiting, Owner };
  File socket;
  File process_end;  ///< pidfd, readable after the end of the client process; may be empty
  State state = State::New;
  pid_t peer = 0;
  Clock::time_point deadline;  ///< New: for the first message; Waiting: for a board
  std::string engine, isa;
  unsigned board = 0;                                  ///< Owner: index of its board
  pid_t process = 0;                                   ///< Owner: process that serves it
  std::optional<Clock::time_point> disconnected = {};  ///< Owner: time of disconnection
};

Clock::duration seconds(double s) {
  return std::chrono::duration_cast<Clock::duration>(
      std::chrono::duration<double>(std::clamp(s, 0.0, 1e6)));
}

/// Opens a pidfd, which reports the end of a process (Linux 5.3). The connection alone does not: a
/// forked child may hold it longer.
File open_pidfd(pid_t process) {
  return process > 0 ? File(static_cast<int>(syscall(SYS_pidfd_open, process, 0))) : File();
}

/// Maximum number of clients by the limit of open files: two files per client.
std::size_t file_limited_clients() {
  constexpr rlim_t reserved = 24;
  rlimit files{};
  if (getrlimit(RLIMIT_NOFILE, &files) != 0 || files.rlim_cur == RLIM_INFINITY) return max_clients;
  const rlim_t left = files.rlim_cur > reserved ? (files.rlim_cur - reserved) / 2 : 0;
  return std::clamp<rlim_t>(left, 2, max_clients);
}

class Server {
 public:
  explicit Server(const ServerOptions& options) : options_(options) {
    listen();
    sigemptyset(&mask_);
    for (const int s : {SIGINT, SIGTERM, SIGHUP, SIGCHLD}) sigaddset(&mask_, s);
    sigprocmask(SIG_BLOCK, &mask_, &old_mask_);
    signals_ = File(signalfd(-1, &mask_, SFD_CLOEXEC | SFD_NONBLOCK));
    if (options.listen) start_network();
  }

  ~Server() {
    end_owners();
    if (network_ > 0) {
      kill(network_, SIGKILL);
      waitpid(network_, nullptr, 0);
    }
    std::error_code ignored;
    if (!session_folders_.empty()) std::filesystem::remove_all(session_folders_, ignored);
    if (bound_) unlink(options_.socket.c_str());
    sigprocmask(SIG_SETMASK, &old_mask_, nullptr);
  }

  void run(void (*ready)(const ServerOptions&)) {
    ServerOptions actual = options_;
    actual.listen = listening_;
    log_line("ready: " + std::to_string(options_.boards) + " board" +
             (options_.boards == 1 ? "" : "s") + " at " + options_.socket +
             (listening_ ? ", and for other hosts at " + listening_->text() : ""));
    if (listening_ && options_.credentials.none)
      log_line("warning: connections at " + listening_->text() +
               " are neither encrypted nor authenticated (--insecure): every program of this host "
               "may use the boards" +
               (options_.files.path.empty()
                    ? ""
                    : std::string(" and read ") + (options_.files.writable ? "and write " : "") +
                          "the files below " + options_.files.path));
    if (ready != nullptr) ready(actual);
    for (;;) {
      std::vector<pollfd> polled{{signals_.get(), POLLIN, 0}, {listener_.get(), POLLIN, 0}};
      std::vector<Client*> polled_clients;
      for (Client& c : clients_) {
        if (c.disconnected) continue;
        const bool owner = c.state == Client::State::Owner;
        polled.push_back({c.socket.get(), static_cast<short>(owner ? 0 : POLLIN), 0});
        polled.push_back({c.process_end.get(), POLLIN, 0});  // ignored by poll if empty
        polled_clients.push_back(&c);
      }
      const auto wait =
          std::chrono::duration_cast<std::chrono::milliseconds>(until_next_deadline()).count();
      if (poll(polled.data(), polled.size(), static_cast<int>(wait) + 1) < 0 && errno != EINTR)
        throw Error(ErrorCategory::Internal,
                    "the server cannot poll its clients: " + system_error());
      if (handle_signal()) break;
      for (std::size_t k = 0; k < polled_clients.size(); ++k) {
        if (polled[2 * k + 2].revents != 0) handle_message(*polled_clients[k]);
        if (polled_clients[k]->socket && polled[2 * k + 3].revents != 0)
          handle_disconnect(*polled_clients[k]);
      }
      if ((polled[1].revents & POLLIN) != 0) accept_client();
      reap();
      grant_boards();
      check_deadlines();
    }
    log_line("stopped");
  }

 private:
  void listen() {
    const std::string& path = options_.socket;
    const sockaddr_un address = socket_address(path);
    struct stat status {};
    if (lstat(path.c_str(), &status) == 0) {
      if (!S_ISSOCK(status.st_mode))
        throw Error(ErrorCategory::Usage, path + " exists and is not a socket; name another path");
      const File probe(socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0));
      if (connect(probe.get(), reinterpret_cast<const sockaddr*>(&address), sizeof(address)) == 0 ||
          errno != ECONNREFUSED)
        throw Error(ErrorCategory::Usage,
                    "another board server uses " + path + "; stop it, or name another path");
      unlink(path.c_str());  // left by a killed server
    }
    listener_ = File(socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
    const mode_t before = umask(static_cast<mode_t>(~options_.mode & 0777));
    const bool bound =
        listener_ &&
        bind(listener_.get(), reinterpret_cast<const sockaddr*>(&address), sizeof(address)) == 0;
    const std::string why = system_error();
    umask(before);
    if (!bound) throw Error(ErrorCategory::Io, "the socket " + path + " cannot be created: " + why);
    bound_ = true;
    // Set the mode explicitly: with the umask bind applies only its write bits.
    if (chmod(path.c_str(), options_.mode) != 0 || ::listen(listener_.get(), 64) != 0)
      throw Error(ErrorCategory::Io, "the socket " + path + " cannot be used: " + system_error());
  }

  /// Starts the process that accepts clients on other hosts. It opens boards as a client of the
  /// Unix socket.
  void start_network() {
    const File tcp = listen_at(*options_.listen);
    listening_ = Endpoint{options_.listen->host, std::to_string(port_of(tcp))};
    if (!options_.files.path.empty()) make_session_folders();
    const pid_t parent = getpid();
    network_ = fork();
    if (network_ < 0)
      throw Error(ErrorCategory::Io, "a process cannot be started: " + why_no_process());
    if (network_ > 0) return;
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (getppid() != parent) std::_Exit(0);
    sigprocmask(SIG_SETMASK, &old_mask_, nullptr);
    std::signal(SIGINT, SIG_IGN);  // the supervisor ends this process
    std::signal(SIGPIPE, SIG_IGN);
    listener_.close();
    signals_.close();
    try {
      serve_network(options_, tcp.get(), session_folders_);
    } catch (const std::exception& e) {
      log_line(std::string("clients on other hosts are not served: ") + e.what());
    }
    std::_Exit(1);
  }

  /// Creates the folder for those of sessions, which is removed with the server.
  void make_session_folders() {
    const char* const place = std::getenv("TMPDIR");
    session_folders_ =
        std::string(place != nullptr && *place == '/' ? place : "/tmp") + "/gdr-files-XXXXXX";
    if (mkdtemp(session_folders_.data()) == nullptr)
      throw Error(ErrorCategory::Io,
                  "the folder " + session_folders_ + " cannot be created: " + system_error());
  }

  void accept_client() {
    File socket(accept4(listener_.get(), nullptr, nullptr, SOCK_CLOEXEC));
    if (!socket) return;
    Client client;
    client.peer = peer_of(socket).pid;
    client.process_end = open_pidfd(client.peer);
    client.socket = std::move(socket);
    client.deadline = Clock::now() + hello_timeout;
    if (clients_.size() >= max_clients_ && !drop_idle_client()) {
      refuse(client, "the server has its maximum of " + std::to_string(max_clients_) +
                         " clients; try again later");
      return;
    }
    clients_.push_back(std::move(client));
  }

  /// Disconnects the oldest client that has sent no message. False if there is none.
  bool drop_idle_client() {
    const auto idle = std::ranges::find(clients_, Client::State::New, &Client::state);
    if (idle == clients_.end()) return false;
    log_refusal("process " + std::to_string(idle->peer) +
                " disconnected: it sent no message, and its place was needed");
    clients_.erase(idle);
    return true;
  }

  void handle_message(Client& client) {
    // The owner's process reads its messages; only disconnection is reported here.
    if (client.state == Client::State::Owner) return handle_disconnect(client);
    std::vector<File> files;
    const std::optional<Message> message = receive_message(client.socket, files);
    if (!message || client.state == Client::State::Waiting) {
      client.socket.close();
      return;
    }
    if (message->kind == MessageKind::Hello) return handle_hello(client, *message);
    if (message->kind == MessageKind::StatusRequest) {
      const auto owners = std::ranges::count(clients_, Client::State::Owner, &Client::state);
      const Geometry& g = options_.geometry;
      Message reply = make_message(
          MessageKind::StatusReply, options_.boards,
          std::to_string(g.chips_per_board) + " chips of " + std::to_string(g.pes()) + " PEs each");
      reply.bytes = options_.boards - static_cast<std::uint64_t>(owners);
      send_message(client.socket, reply);
      client.socket.close();
      return;
    }
    refuse(client,
           "its first message is malformed; use a library and a server of the same release");
  }

  /// Handles the end of a client or of its connection.
  void handle_disconnect(Client& client) {
    if (client.state != Client::State::Owner)
      client.socket.close();
    else if (!client.disconnected)
      client.disconnected = Clock::now();
  }

  void handle_hello(Client& client, const Message& message) {
    const std::string text = message_text(message);
    const std::size_t space = std::min(text.find(' '), text.size());
    const auto choice = [](const std::string& requested, const std::string& own) {
      return requested.empty() || requested == "-" ? own : requested;
    };
    client.engine = choice(text.substr(0, space), options_.engine);
    client.isa = choice(space < text.size() ? text.substr(space + 1) : "", options_.isa);
    try {
      const auto own = make_engine(options_.engine, options_.isa);
      const auto requested = make_engine(client.engine, client.isa);
      const bool equal = own->name() == requested->name() && own->isa() == requested->isa();
      if (!equal && !options_.any_engine)
        return refuse(client, "the server uses engine " + std::string(own->name()) + ", " +
                                  std::string(isa_name(own->isa())) +
                                  "; request no other, or start the server with --any-engine");
    } catch (const Error& e) {
      return refuse(client, e.what());
    }
    client.state = Client::State::Waiting;
    const double queue_timeout = std::isfinite(message.seconds) ? message.seconds : 0;
    client.deadline = Clock::now() + seconds(std::min(queue_timeout, options_.queue_timeout));
    const auto ahead = std::ranges::count(clients_, Client::State::Waiting, &Client::state) - 1;
    if (!free_board() || ahead > 0)
      send_message(client.socket,
                   make_message(MessageKind::Waiting, static_cast<std::uint64_t>(ahead)));
  }

  /// Closes the connection; check_deadlines() removes clients without a socket.
  void refuse(Client& client, const std::string& why) {
    log_refusal("process " + std::to_string(client.peer) + " refused: " + why);
    send_message(client.socket, make_message(MessageKind::Refused, 0, why));
    client.socket.close();
  }

  void log_refusal(const std::string& text) {
    if (Clock::now() - minute_ >= std::chrono::minutes(1)) {
      if (refusals_ > max_refusals)
        log_line(std::to_string(refusals_ - max_refusals) + " further refusals not logged");
      minute_ = Clock::now();
      refusals_ = 0;
    }
    if (refusals_++ < max_refusals) log_line(text);
  }

  void grant_boards() {
    for (Client& client : clients_) {
      if (client.state != Client::State::Waiting || !client.socket) continue;
      const std::optional<unsigned> board = free_board();
      if (!board) return;
      start_owner(client, *board);
    }
  }

  void start_owner(Client& client, unsigned board) {
    const pid_t parent = getpid();
    const pid_t process = fork();
    if (process < 0) return refuse(client, "a process cannot be started: " + why_no_process());
    if (process == 0) {
      prctl(PR_SET_PDEATHSIG, SIGKILL);
      if (getppid() != parent) std::_Exit(0);
      sigprocmask(SIG_SETMASK, &old_mask_, nullptr);
      std::signal(SIGINT, SIG_IGN);  // the supervisor ends owners itself
      const int socket = dup(client.socket.get());
      fcntl(socket, F_SETFD, FD_CLOEXEC);
      const std::string engine = client.engine, isa = client.isa;
      listener_.close();
      signals_.close();
      clients_.clear();
      serve_owner(options_, socket, board, engine, isa);
    }
    client.state = Client::State::Owner;
    client.board = board;
    client.process = process;
    log_line("board " + std::to_string(board) + ": opened by process " +
             std::to_string(client.peer));
  }

  void reap() {
    int status = 0;
    for (pid_t pid = 0; (pid = waitpid(-1, &status, WNOHANG)) > 0;) {
      if (pid == network_) {
        network_ = 0;
        throw Error(ErrorCategory::Internal,
                    "the process for clients on other hosts ended; see the log");
      }
      const auto client = std::ranges::find(clients_, pid, &Client::process);
      if (client == clients_.end()) continue;
      std::string how = "free";
      if (WIFSIGNALED(status))
        how = "its process ended by signal " + std::to_string(WTERMSIG(status)) + "; free";
      else if (WEXITSTATUS(status) != 0)
        how = "its process failed; free";
      log_line("board " + std::to_string(client->board) + ": " + how);
      clients_.erase(client);
    }
  }

  void check_deadlines() {
    const Clock::time_point now = Clock::now();
    for (Client& client : clients_) {
      if (client.state == Client::State::Owner) {
        // The list in execution has no owner any more.
        if (client.disconnected && now - *client.disconnected > termination_timeout)
          kill(client.process, SIGKILL);
      } else if (client.socket && now >= client.deadline) {
        if (client.state == Client::State::Waiting)
          refuse(
              client,
              "no board became free within the queue timeout; raise it with queue_timeout=SECONDS");
        else
          client.socket.close();
      }
    }
    std::erase_if(clients_,
                  [](const Client& c) { return c.state != Client::State::Owner && !c.socket; });
  }

  Clock::duration until_next_deadline() const {
    Clock::time_point next = Clock::now() + std::chrono::hours(1);
    for (const Client& c : clients_) {
      if (c.state != Client::State::Owner) next = std::min(next, c.deadline);
      if (c.disconnected) next = std::min(next, *c.disconnected + termination_timeout);
    }
    return std::max(next - Clock::now(), Clock::duration(std::chrono::milliseconds(1)));
  }

  /// Reads signals. True if one of them ends the server.
  bool handle_signal() {
    signalfd_siginfo info{};
    bool end = false;
    while (read(signals_.get(), &info, sizeof(info)) == sizeof(info))
      end = end || info.ssi_signo != SIGCHLD;
    return end;
  }

  void end_owners() {
    for (const Client& client : clients_)
      if (client.state == Client::State::Owner) {
        kill(client.process, SIGKILL);
        waitpid(client.process, nullptr, 0);
      }
    clients_.clear();
  }

  std::optional<unsigned> free_board() const {
    for (unsigned board = 0; board < options_.boards; ++board) {
      const auto owns = [board](const Client& c) {
        return c.state == Client::State::Owner && c.board == board;
      };
      if (std::ranges::none_of(clients_, owns)) return board;
    }
    return {};
  }

  const ServerOptions& options_;
  File listener_, signals_;
  sigset_t mask_{}, old_mask_{};
  const std::size_t max_clients_ = file_limited_clients();
  Clock::time_point minute_ = Clock::now();  ///< begin of the minute of refusals_
  unsigned refusals_ = 0;
  std::list<Client> clients_;  ///< clients in the order of connection
  bool bound_ = false;
  std::optional<Endpoint>
      listening_;  ///< endpoint with the port that the system has chosen for port 0
  std::string session_folders_;
  pid_t network_ = 0;  ///< process for clients on other hosts; 0: none
};

}  // namespace

namespace {
int log_file = STDERR_FILENO;
}

void log_line(const std::string& text) {
  std::string line = "gdr serve: " + text;
  // Text of clients must not add lines or control a terminal.
  for (char& c : line)
    if (std::iscntrl(static_cast<unsigned char>(c)) != 0) c = '?';
  line += '\n';
  [[maybe_unused]] const ssize_t n = write(log_file, line.data(), line.size());
}

void serve(const ServerOptions& options, void (*ready)(const ServerOptions&)) {
  make_engine(options.engine, options.isa);  // reports an invalid engine at once
  if (options.listen) check_network(options);
  File log;
  if (!options.log.empty()) {
    log = File(open(options.log.c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600));
    if (!log) throw Error(ErrorCategory::Io, options.log + " cannot be written: " + system_error());
    log_file = log.get();
  }
  Server(options).run(ready);
  log_file = STDERR_FILENO;
}

}  // namespace gdr::driver
