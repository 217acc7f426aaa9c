#include "libgdr/relay/run.hpp"

#include <fmt/format.h>
#include <sched.h>
#include <sys/prctl.h>
#include <sys/signalfd.h>
#include <sys/socket.h>

#include <csignal>
#include <cstdlib>
#include <ctime>
#include <fstream>

#include "libgdr/relay/capture.hpp"
#include "libgdr/relay/forward.hpp"
#include "libgdr/relay/processes.hpp"
#include "libgdr/relay/proxy.hpp"
#include "libgdr/relay/report.hpp"

namespace gdr::relay {
namespace {

/// Blocks the signals that end a run or report the end of a child, and makes them readable.
File signal_file() {
  sigset_t signals;
  sigemptyset(&signals);
  for (const int number : {SIGINT, SIGTERM, SIGHUP, SIGCHLD}) sigaddset(&signals, number);
  ::sigprocmask(SIG_BLOCK, &signals, nullptr);
  return File(::signalfd(-1, &signals, SFD_NONBLOCK | SFD_CLOEXEC));
}

/// A signal that ends the run, or 0.
int ending_signal(const File& signals) {
  signalfd_siginfo info;
  while (::read(signals.descriptor(), &info, sizeof(info)) == sizeof(info))
    if (info.ssi_signo != SIGCHLD) return static_cast<int>(info.ssi_signo);
  return 0;
}

/// Packets are late if other processes delay the relay. It uses little time, and may go first if
/// the system permits it; the commands that it starts do not.
void prefer_this_process() {
  ::prctl(PR_SET_TIMERSLACK, 1000);  // ns; the default is half of a step
  const sched_param lowest{::sched_get_priority_min(SCHED_RR)};
  ::sched_setscheduler(0, SCHED_RR | SCHED_RESET_ON_FORK, &lowest);
}

/// CPU time of this process so far, without its children.
double cpu_seconds() {
  timespec time{};
  ::clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time);
  return static_cast<double>(time.tv_sec) + 1e-9 * static_cast<double>(time.tv_nsec);
}

/// The processes that carry connections between this host and those of the relay: one here, which
/// must begin before this process gets other namespaces, and one in the client's namespace.
class Proxies {
 public:
  /// Listens for the clients, and starts the process of this host.
  explicit Proxies(const std::vector<Forwarding>& ports) {
    if (ports.empty()) return;
    std::vector<Route> targets;
    for (const Forwarding& port : ports) {
      Route& route = near_.emplace_back();
      resolve(port.listen, route);
      route.listener = listen_at(route, port.listen);
      resolve(port.forward, targets.emplace_back());
    }
    int sockets[2];
    if (::socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, sockets) != 0)
      system_error("cannot create a socket");
    channel_ = File(sockets[0]);
    const File other(sockets[1]);
    if (start_process() != 0) return;
    near_.clear();  // the other process accepts
    channel_ = File();
    try {
      receive_files(other.descriptor(), targets);
    } catch (const Error&) {
      ::_exit(error_status);
    }
    run_proxy(std::move(targets));
  }

  /// Continues the ports through the network of the relay.
  void start(const HostNamespace& client, const HostNamespace& server) {
    if (near_.empty()) return;
    enter(server);
    std::vector<Route> ends;
    for (std::size_t k = 0; k < near_.size(); ++k) {
      const std::string address = fmt::format("{}:{}", server_address, first_port + k);
      resolve(address, near_[k]);
      ends.emplace_back().listener = listen_at(near_[k], address);
    }
    send_files(channel_.descriptor(), ends);
    ends.clear();
    enter(client);
    if (start_process() == 0) run_proxy(std::move(near_));
    near_.clear();
  }

 private:
  std::vector<Route> near_;
  File channel_;
};

/// A server and a client, or ports, and the network between them.
class Run {
 public:
  Run(const Settings& settings, const RunOutput& output, Proxies& proxies)
      : settings_(settings),
        output_(output),
        proxies_(proxies),
        router_(router_options(settings)),
        client_(create_namespace(client_address, settings.hosts)),
        server_(create_namespace(server_address, settings.hosts)),
        forwarder_(router_, client_, server_, signals_.descriptor(), settings.step) {
    if (!settings.capture.empty())
      forwarder_.capture_to(capture_.emplace(settings.capture, std::chrono::system_clock::now(),
                                             settings.capture_bytes));
  }
  ~Run() { end_all_children(); }

  int run() {
    ::setenv("RELAY_CLIENT", client_address, 1);
    ::setenv("RELAY_SERVER", server_address, 1);
    adopt_orphans();
    int status = error_status;
    try {
      status = settings_.ports.empty() ? run_commands() : run_ports();
    } catch (const Error& error) {
      // The counts are written even if the log of packets could not be.
      if (error.category() != ErrorCategory::Io) throw;
      failure(error.what());
      capture_.reset();
    }
    end_all_children();
    report();
    if (capture_) capture_->close();
    return status;
  }

 private:
  int run_commands() {
    const pid_t server = start_command(settings_.server, server_, false);
    if (const int status = wait_for_server(server)) return status;
    const pid_t client = start_command(settings_.client, client_, true);
    const int status = forward(client);
    if (client_ended_) linger(server);
    return status;
  }

  int run_ports() {
    proxies_.start(client_, server_);
    const int status = forward({});
    return status == 128 + SIGINT || status == 128 + SIGTERM ? 0 : status;
  }

  int wait_for_server(pid_t server) {
    const Time deadline = forwarder_.now() + settings_.server_wait;
    enter(server_);
    while (!listens(settings_.port)) {
      if (const int number = ending_signal(signals_)) return 128 + number;
      if (const std::optional<int> status = exit_status(server))
        return failure(fmt::format("the server ended with status {} before it listened", *status));
      if (forwarder_.now() > deadline)
        return failure(fmt::format("the server does not listen after {} s (--server-wait)",
                                   std::chrono::duration<double>(settings_.server_wait).count()));
      forwarder_.step(forwarder_.now() + std::chrono::milliseconds(10));
    }
    return 0;
  }

  /// Until the client ends; without one until a signal, or the time limit.
  int forward(std::optional<pid_t> client) {
    constexpr Time for_ever = std::chrono::hours(8000);
    const Time end = forwarder_.now() + settings_.time_limit.value_or(for_ever);
    Time next_table = forwarder_.now();
    LiveTable table;
    for (;;) {
      if (const int number = ending_signal(signals_)) return 128 + number;
      if (client) {
        if (const std::optional<int> status = exit_status(*client)) {
          client_ended_ = true;
          return *status;
        }
      } else if (any_child_ended()) {
        return failure("a process that carries the connections of the ports has ended");
      }
      if (forwarder_.now() >= end) {
        if (!client) return 0;
        failure("the client did not end before --time-limit");
        return time_limit_status;
      }
      if (settings_.watch && forwarder_.now() >= next_table) {
        output_.report(table.text(router_, forwarder_.now()));
        next_table += std::chrono::seconds(1);
      }
      forwarder_.step(settings_.watch ? std::min(end, next_table) : end);
    }
  }

  /// Lets the last packets arrive, and the server end.
  void linger(pid_t server) {
    const Time rtt = router_.link(Direction::ToServer).options().delay +
                     router_.link(Direction::ToClient).options().delay;
    const Time end = forwarder_.now() + settings_.linger.value_or(rtt);
    while (forwarder_.now() < end && !exit_status(server) && ending_signal(signals_) == 0)
      forwarder_.step(end);
  }

  void report() {
    Deviations deviations;
    deviations.latest = forwarder_.latest();
    deviations.not_written = forwarder_.refused();
    deviations.cpu_seconds = cpu_seconds();
    deviations.not_read = dropped_by_device(client_) + dropped_by_device(server_);
    if (!settings_.quiet) output_.report(text_report(router_, deviations, 16));
    if (settings_.json.empty()) return;
    std::ofstream file(settings_.json);
    file << json_report(router_, deviations).dump(2) << "\n";
    if (!file.flush())
      throw Error(ErrorCategory::Io, fmt::format("cannot write {} (--json)", settings_.json));
  }

  int failure(const std::string& message) {
    output_.problem(message);
    return error_status;
  }

  const Settings& settings_;
  const RunOutput& output_;
  Proxies& proxies_;
  File signals_ = signal_file();
  Router router_;
  HostNamespace client_, server_;
  Forwarder forwarder_;
  std::optional<Capture> capture_;
  bool client_ended_ = false;
};

}  // namespace

int run(const Settings& settings, const RunOutput& output) {
  router_options(settings);  // settings that contradict each other are refused before anything else
  prefer_this_process();
  Proxies proxies(settings.ports);
  enter_user_namespace();
  return Run(settings, output, proxies).run();
}

void check_available() {
  enter_user_namespace();
  create_namespace(client_address, {});
}

}  // namespace gdr::relay
