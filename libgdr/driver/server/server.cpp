// The supervisor: one thread that accepts clients, queues them, and starts a process for each owner
// of a board. It looks into no shared memory, so nothing that an owner does there can reach it.
#include "libgdr/driver/server/server.hpp"

#include <fcntl.h>
#include <poll.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cctype>
#include <cerrno>
#include <chrono>
#include <cmath>
#include <csignal>
#include <cstring>
#include <list>
#include <optional>
#include <vector>

#include "emulator/engine/engine.hpp"
#include "gdr/error.hpp"
#include "libgdr/driver/wire.hpp"

namespace gdr::driver {
namespace {

using Clock = std::chrono::steady_clock;
constexpr std::chrono::seconds hello_time{5};  ///< for the first message
constexpr std::chrono::seconds end_time{2};    ///< for the process of an owner that has gone
constexpr std::size_t most_clients = 256;
/// Of lines about clients that were refused, in a minute: nobody shall fill the disk with them.
constexpr unsigned most_refusals = 60;

struct Client {
  enum class State { New, Waiting, Owner };
  File socket;
  File alive;  ///< readable once the process that connected has ended; none where that is not told
  State state = State::New;
  pid_t peer = 0;
  Clock::time_point deadline;  ///< New: of its first message; Waiting: of a board
  std::string engine, isa;
  unsigned board = 0;  ///< Owner
  pid_t process = 0;   ///< Owner: the one that serves it
  std::optional<Clock::time_point> gone = {};
};

Clock::duration seconds(double s) {
  return std::chrono::duration_cast<Clock::duration>(
      std::chrono::duration<double>(std::clamp(s, 0.0, 1e6)));
}

/// Tells when a process ends (Linux 5.3). Its connection alone does not: a child that it forked off
/// has that, too, and may live on.
File watch_process(pid_t process) {
#ifdef SYS_pidfd_open
  if (process > 0) return File(static_cast<int>(syscall(SYS_pidfd_open, process, 0)));
#else
  static_cast<void>(process);
#endif
  return {};
}

/// Two files for each client, and some for the server itself.
std::size_t clients_by_files() {
  constexpr rlim_t own = 24;
  rlimit files{};
  if (getrlimit(RLIMIT_NOFILE, &files) != 0 || files.rlim_cur == RLIM_INFINITY) return most_clients;
  const rlim_t left = files.rlim_cur > own ? (files.rlim_cur - own) / 2 : 0;
  return std::clamp<rlim_t>(left, 2, most_clients);
}

class Server {
 public:
  explicit Server(const ServerOptions& options);
  ~Server();
  void run(void (*ready)(const ServerOptions&));

 private:
  void listen();
  void accept_client();
  bool make_room();
  void hear(Client& client);
  void lose(Client& client);
  void hello(Client& client, const Message& message);
  void refuse(Client& client, const std::string& why);
  void log_refusal(const std::string& text);
  void grant_boards();
  void start_owner(Client& client, unsigned board);
  void reap();
  void look_at_clocks();
  Clock::duration until_next() const;
  bool handle_signal();
  void end_owners();
  std::optional<unsigned> free_board() const;

  const ServerOptions& options_;
  File listener_, signals_;
  sigset_t mask_{}, old_mask_{};
  const std::size_t most_clients_ = clients_by_files();
  Clock::time_point minute_ = Clock::now();  ///< in which refusals are counted
  unsigned refusals_ = 0;
  std::list<Client> clients_;  ///< in the order in which they came
  bool bound_ = false;
};

Server::Server(const ServerOptions& options) : options_(options) {
  listen();
  sigemptyset(&mask_);
  for (const int s : {SIGINT, SIGTERM, SIGHUP, SIGCHLD}) sigaddset(&mask_, s);
  sigprocmask(SIG_BLOCK, &mask_, &old_mask_);
  signals_ = File(signalfd(-1, &mask_, SFD_CLOEXEC | SFD_NONBLOCK));
}

Server::~Server() {
  end_owners();
  if (bound_) unlink(options_.socket.c_str());
  sigprocmask(SIG_SETMASK, &old_mask_, nullptr);
}

void Server::listen() {
  const std::string& path = options_.socket;
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  if (path.empty() || path.size() >= sizeof(address.sun_path))
    throw Error(ErrorCategory::Usage, "the socket's path has from 1 to " +
                                          std::to_string(sizeof(address.sun_path) - 1) +
                                          " characters");
  std::memcpy(address.sun_path, path.data(), path.size());
  struct stat there {};
  if (lstat(path.c_str(), &there) == 0) {
    if (!S_ISSOCK(there.st_mode))
      throw Error(ErrorCategory::Usage, path + " is there and is no socket; name another path");
    const File probe(socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0));
    if (connect(probe.get(), reinterpret_cast<sockaddr*>(&address), sizeof(address)) == 0 ||
        errno != ECONNREFUSED)
      throw Error(ErrorCategory::Usage,
                  "a board server answers at " + path + " already; end it, or name another path");
    unlink(path.c_str());  // left by a server that was killed
  }
  listener_ = File(socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
  const mode_t before = umask(static_cast<mode_t>(~options_.mode & 0777));
  const bool bound = listener_ && bind(listener_.get(), reinterpret_cast<sockaddr*>(&address),
                                       sizeof(address)) == 0;
  const std::string why = system_error();
  umask(before);
  if (!bound) throw Error(ErrorCategory::Io, "the socket " + path + " cannot be made: " + why);
  bound_ = true;
  // The mode as it was asked for: bind takes the write bits of it only into account with umask.
  if (chmod(path.c_str(), options_.mode) != 0 || ::listen(listener_.get(), 64) != 0)
    throw Error(ErrorCategory::Io, "the socket " + path + " cannot be used: " + system_error());
}

void Server::accept_client() {
  File socket(accept4(listener_.get(), nullptr, nullptr, SOCK_CLOEXEC));
  if (!socket) return;
  ucred peer{};
  socklen_t size = sizeof(peer);
  getsockopt(socket.get(), SOL_SOCKET, SO_PEERCRED, &peer, &size);
  Client client;
  client.socket = std::move(socket);
  client.peer = peer.pid;
  client.alive = watch_process(peer.pid);
  client.deadline = Clock::now() + hello_time;
  if (clients_.size() >= most_clients_ && !make_room()) {
    refuse(client, "it has " + std::to_string(most_clients_) + " clients already");
    return;
  }
  clients_.push_back(std::move(client));
}

/// Who connects and says nothing does not keep out those who do. False if there is nobody such.
bool Server::make_room() {
  const auto silent = std::ranges::find(clients_, Client::State::New, &Client::state);
  if (silent == clients_.end()) return false;
  log_refusal("process " + std::to_string(silent->peer) + " said nothing, and others came");
  clients_.erase(silent);
  return true;
}

/// The connection ends: the caller forgets clients without a socket.
void Server::refuse(Client& client, const std::string& why) {
  log_refusal("process " + std::to_string(client.peer) + " refused: " + why);
  send_message(client.socket, make_message(MessageKind::Refused, 0, why));
  client.socket.close();
}

void Server::log_refusal(const std::string& text) {
  if (Clock::now() - minute_ >= std::chrono::minutes(1)) {
    if (refusals_ > most_refusals)
      log_line("and " + std::to_string(refusals_ - most_refusals) + " more were refused");
    minute_ = Clock::now();
    refusals_ = 0;
  }
  if (refusals_++ < most_refusals) log_line(text);
}

std::optional<unsigned> Server::free_board() const {
  for (unsigned board = 0; board < options_.boards; ++board) {
    const auto has = [board](const Client& c) {
      return c.state == Client::State::Owner && c.board == board;
    };
    if (std::ranges::none_of(clients_, has)) return board;
  }
  return {};
}

void Server::hello(Client& client, const Message& message) {
  const std::string text = message_text(message);
  const std::size_t space = std::min(text.find(' '), text.size());
  const auto choice = [](const std::string& asked, const std::string& ours) {
    return asked.empty() || asked == "-" ? ours : asked;
  };
  client.engine = choice(text.substr(0, space), options_.engine);
  client.isa = choice(space < text.size() ? text.substr(space + 1) : "", options_.isa);
  try {
    const auto ours = make_engine(options_.engine, options_.isa);
    const auto theirs = make_engine(client.engine, client.isa);
    const bool same = ours->name() == theirs->name() && ours->isa() == theirs->isa();
    if (!same && !options_.any_engine)
      return refuse(client, "it computes with engine " + std::string(ours->name()) + ", " +
                                std::string(isa_name(ours->isa())) +
                                "; ask for no other, or start it with --any-engine");
  } catch (const Error& e) {
    return refuse(client, e.what());
  }
  client.state = Client::State::Waiting;
  const double patience = std::isfinite(message.seconds) ? message.seconds : 0;
  client.deadline = Clock::now() + seconds(std::min(patience, options_.queue_seconds));
  const auto ahead = std::ranges::count(clients_, Client::State::Waiting, &Client::state) - 1;
  if (!free_board() || ahead > 0)
    send_message(client.socket,
                 make_message(MessageKind::Waiting, static_cast<std::uint64_t>(ahead)));
}

/// A client that has ended, or closed its connection.
void Server::lose(Client& client) {
  if (client.state != Client::State::Owner)
    client.socket.close();
  else if (!client.gone)
    client.gone = Clock::now();
}

void Server::hear(Client& client) {
  // The process of an owner reads what it says; here only its end is seen.
  if (client.state == Client::State::Owner) return lose(client);
  std::vector<File> files;
  const std::optional<Message> message = receive_message(client.socket, files);
  if (!message || client.state == Client::State::Waiting) {
    client.socket.close();
    return;
  }
  if (message->kind == MessageKind::Hello) return hello(client, *message);
  if (message->kind == MessageKind::Ask) {
    const auto owners = std::ranges::count(clients_, Client::State::Owner, &Client::state);
    const Geometry& g = options_.geometry;
    Message told = make_message(MessageKind::Told, options_.boards,
                                std::to_string(g.chips_per_board) + " chips of " +
                                    std::to_string(g.pes()) + " PEs a board");
    told.bytes = options_.boards - static_cast<std::uint64_t>(owners);
    send_message(client.socket, told);
    client.socket.close();
    return;
  }
  refuse(client, "its first message makes no sense");
}

void Server::start_owner(Client& client, unsigned board) {
  const pid_t parent = getpid();
  const pid_t process = fork();
  if (process < 0) return refuse(client, "no process can be started: " + system_error());
  if (process == 0) {
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (getppid() != parent) std::_Exit(0);
    sigprocmask(SIG_SETMASK, &old_mask_, nullptr);
    std::signal(SIGINT, SIG_IGN);  // of the terminal: the supervisor ends owners itself
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
  log_line("board " + std::to_string(board) + ": taken by process " + std::to_string(client.peer));
}

void Server::grant_boards() {
  for (Client& client : clients_) {
    if (client.state != Client::State::Waiting || !client.socket) continue;
    const std::optional<unsigned> board = free_board();
    if (!board) return;
    start_owner(client, *board);
  }
}

void Server::reap() {
  int status = 0;
  for (pid_t pid = 0; (pid = waitpid(-1, &status, WNOHANG)) > 0;) {
    const auto client = std::ranges::find(clients_, pid, &Client::process);
    if (client == clients_.end()) continue;
    std::string how = "free again";
    if (WIFSIGNALED(status))
      how = "its process ended by signal " + std::to_string(WTERMSIG(status)) + "; free again";
    else if (WEXITSTATUS(status) != 0)
      how = "its process failed; free again";
    log_line("board " + std::to_string(client->board) + ": " + how);
    clients_.erase(client);
  }
}

void Server::look_at_clocks() {
  const Clock::time_point now = Clock::now();
  for (Client& client : clients_) {
    if (client.state == Client::State::Owner) {
      // A list that is still being worked on is nobody's any more.
      if (client.gone && now - *client.gone > end_time) kill(client.process, SIGKILL);
    } else if (client.socket && now >= client.deadline) {
      if (client.state == Client::State::Waiting)
        refuse(client, "no board became free in time");
      else
        client.socket.close();
    }
  }
  std::erase_if(clients_,
                [](const Client& c) { return c.state != Client::State::Owner && !c.socket; });
}

Clock::duration Server::until_next() const {
  Clock::time_point next = Clock::now() + std::chrono::hours(1);
  for (const Client& c : clients_) {
    if (c.state != Client::State::Owner) next = std::min(next, c.deadline);
    if (c.gone) next = std::min(next, *c.gone + end_time);
  }
  return std::max(next - Clock::now(), Clock::duration(std::chrono::milliseconds(1)));
}

/// True if the server shall end.
bool Server::handle_signal() {
  signalfd_siginfo info{};
  bool end = false;
  while (read(signals_.get(), &info, sizeof(info)) == sizeof(info))
    end = end || info.ssi_signo != SIGCHLD;
  return end;
}

void Server::end_owners() {
  for (const Client& client : clients_)
    if (client.state == Client::State::Owner) {
      kill(client.process, SIGKILL);
      waitpid(client.process, nullptr, 0);
    }
  clients_.clear();
}

void Server::run(void (*ready)(const ServerOptions&)) {
  log_line("ready: " + std::to_string(options_.boards) + " board" +
           (options_.boards == 1 ? "" : "s") + " at " + options_.socket);
  if (ready != nullptr) ready(options_);
  for (;;) {
    std::vector<pollfd> polled{{signals_.get(), POLLIN, 0}, {listener_.get(), POLLIN, 0}};
    std::vector<Client*> of;
    for (Client& c : clients_) {
      if (c.gone) continue;
      const bool owner = c.state == Client::State::Owner;
      polled.push_back({c.socket.get(), static_cast<short>(owner ? 0 : POLLIN), 0});
      polled.push_back({c.alive.get(), POLLIN, 0});  // passed over where there is none
      of.push_back(&c);
    }
    const auto wait = std::chrono::duration_cast<std::chrono::milliseconds>(until_next()).count();
    if (poll(polled.data(), polled.size(), static_cast<int>(wait) + 1) < 0 && errno != EINTR)
      throw Error(ErrorCategory::Internal, "the server cannot wait: " + system_error());
    if (handle_signal()) break;
    for (std::size_t k = 0; k < of.size(); ++k) {
      if (polled[2 * k + 2].revents != 0) hear(*of[k]);
      if (of[k]->socket && polled[2 * k + 3].revents != 0) lose(*of[k]);
    }
    if ((polled[1].revents & POLLIN) != 0) accept_client();
    reap();
    grant_boards();
    look_at_clocks();
  }
  log_line("ends");
}

}  // namespace

namespace {
int log_file = STDERR_FILENO;
}

void log_line(const std::string& text) {
  std::string line = "gdr serve: " + text;
  // What clients say becomes no line of its own, and tells a terminal nothing.
  for (char& c : line)
    if (std::iscntrl(static_cast<unsigned char>(c)) != 0) c = '?';
  line += '\n';
  [[maybe_unused]] const ssize_t n = write(log_file, line.data(), line.size());
}

void serve(const ServerOptions& options, void (*ready)(const ServerOptions&)) {
  make_engine(options.engine, options.isa);  // what is wrong with it is said at once
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
