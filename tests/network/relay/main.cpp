// gdr_relay: runs a server and a client with a network of given rate, delay, queue and loss between
// them. tests/network/README.md describes its use.
#include <fmt/format.h>
#include <sched.h>
#include <sys/prctl.h>
#include <sys/signalfd.h>

#include <CLI/CLI.hpp>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <fstream>

#include "network/relay/forward.hpp"
#include "network/relay/options.hpp"
#include "network/relay/processes.hpp"
#include "network/relay/report.hpp"

namespace gdr::relay {
namespace {

constexpr int usage_status = 2, unavailable_status = 77, time_limit_status = 124,
              error_status = 125;

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

/// A server and a client, and the network between them.
class Run {
 public:
  explicit Run(const CommandOptions& options)
      : options_(options),
        router_(link_options(options), cut_options(options)),
        client_(create_namespace(client_address, namespace_options(options))),
        server_(create_namespace(server_address, namespace_options(options))),
        forwarder_(router_, client_, server_, signals_.descriptor(), time_of(options.step)) {}
  ~Run() { end_all_children(); }

  /// The exit status of the program.
  int run() {
    ::setenv("RELAY_CLIENT", client_address, 1);
    ::setenv("RELAY_SERVER", server_address, 1);
    adopt_orphans();
    const pid_t server = start_command(options_.server, server_, false);
    if (const int status = wait_for_server(server)) return status;
    const pid_t client = start_command(options_.client, client_, true);
    const int status = forward(client);
    if (client_ended_) linger(server);
    end_all_children();
    report();
    return status;
  }

 private:
  int wait_for_server(pid_t server) {
    const Time deadline = forwarder_.now() + time_of(options_.server_wait);
    enter(server_);
    while (!listens(options_.port)) {
      if (const int number = ending_signal(signals_)) return 128 + number;
      if (const std::optional<int> status = exit_status(server))
        return failure(fmt::format("the server ended with status {} before it listened", *status));
      if (forwarder_.now() > deadline)
        return failure(fmt::format("the server does not listen after {} s (--server-wait)",
                                   options_.server_wait));
      forwarder_.step(forwarder_.now() + std::chrono::milliseconds(10));
    }
    return 0;
  }

  int forward(pid_t client) {
    const Time end =
        options_.time_limit ? forwarder_.now() + time_of(*options_.time_limit) : time_of(3e7);
    for (;;) {
      if (const int number = ending_signal(signals_)) return 128 + number;
      if (const std::optional<int> status = exit_status(client)) {
        client_ended_ = true;
        return *status;
      }
      if (forwarder_.now() >= end) {
        failure("the client did not end before --time-limit");
        return time_limit_status;
      }
      forwarder_.step(end);
    }
  }

  /// Lets the last packets arrive, and the server end.
  void linger(pid_t server) {
    const Time rtt = router_.link(Direction::ToServer).options().delay +
                     router_.link(Direction::ToClient).options().delay;
    const Time end = forwarder_.now() + (options_.linger ? time_of(*options_.linger) : rtt);
    while (forwarder_.now() < end && !exit_status(server) && ending_signal(signals_) == 0)
      forwarder_.step(end);
  }

  void report() {
    Deviations deviations;
    deviations.latest = forwarder_.latest();
    deviations.not_written = forwarder_.refused();
    deviations.cpu_seconds = cpu_seconds();
    deviations.not_read = dropped_by_device(client_) + dropped_by_device(server_);
    if (!options_.quiet) fmt::print(stderr, "{}", text_report(router_, deviations, 16));
    if (options_.json.empty()) return;
    std::ofstream file(options_.json);
    file << json_report(router_, deviations).dump(2) << "\n";
    if (!file.flush())
      throw Error(ErrorCategory::Io, fmt::format("cannot write {} (--json)", options_.json));
  }

  int failure(const std::string& message) {
    fmt::print(stderr, "gdr_relay: {}\n", message);
    return error_status;
  }

  const CommandOptions& options_;
  File signals_ = signal_file();
  Router router_;
  HostNamespace client_, server_;
  Forwarder forwarder_;
  bool client_ended_ = false;
};

int run(const CommandOptions& options) {
  prefer_this_process();
  try {
    enter_user_namespace();
    if (options.check) {
      create_namespace(client_address, {});
      return 0;
    }
    return Run(options).run();
  } catch (const Error& error) {
    const bool unavailable = error.category() == ErrorCategory::Unsupported;
    fmt::print(
        stderr, "gdr_relay: {}{}\n", error.what(),
        unavailable
            ? "; the relay needs network namespaces, created by root or in a user namespace, "
              "and /dev/net/tun"
            : "");
    if (unavailable) return unavailable_status;
    return error.category() == ErrorCategory::Usage ? usage_status : error_status;
  }
}

}  // namespace
}  // namespace gdr::relay

int main(int argc, char** argv) {
  CLI::App app(
      "Runs a server and a client with a network of given rate, delay, queue and loss between "
      "them.\nExit status: that of the client; 2: wrong options, 77: no namespaces or TUN "
      "devices, 124: time limit, 125: other errors.");
  gdr::relay::CommandOptions options;
  gdr::relay::add_options(app, options);
  try {
    app.parse(argc, argv);
    if (!options.check && (options.server.empty() || options.client.empty()))
      throw CLI::RequiredError("--server and --client");
  } catch (const CLI::ParseError& error) {
    return app.exit(error) == 0 ? 0 : gdr::relay::usage_status;
  }
  return gdr::relay::run(options);
}
