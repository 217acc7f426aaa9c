// A board of a server on another host, as a BoardLink.
#pragma once

#include <sys/types.h>

#include <asio/executor_work_guard.hpp>
#include <deque>
#include <map>
#include <memory>
#include <mutex>
#include <optional>

#include "emulator/host/threads.hpp"
#include "libgdr/driver/list_work.hpp"
#include "libgdr/driver/network.hpp"
#include "libgdr/network/connect.hpp"
#include "libgdr/network/event_loop.hpp"
#include "libgdr/network/messages.hpp"
#include "libgdr/network/session.hpp"
#include "libgdr/network/socket_options.hpp"

namespace gdr::network {

/// The connections of a client, and a thread that opens them, restores them, and exchanges messages
/// while no caller waits for one.
class ClientConnections {
 public:
  ClientConnections(const driver::NetworkRequest& request, SessionEvents events);
  ClientConnections(const ClientConnections&) = delete;
  ClientConnections& operator=(const ClientConnections&) = delete;
  ~ClientConnections();

  /// Opens a board; returns the server's answer. Throws Error (Device, Usage, Io).
  Welcome open();

  void send(Bytes message);
  void send_urgent(std::uint64_t number);
  /// Waits until done(), which an event makes true, or until the connections are closed. Handles
  /// events meanwhile: the caller must not hold a mutex that they lock.
  void wait(const std::function<bool()>& done) { loop_->wait(waiter_, done); }
  /// Makes wait() test its condition again.
  void signal() { loop_->signal(waiter_); }
  std::vector<StreamStatistics> streams();
  /// Bytes that the path holds, from the option `bandwidth` and the measured delay; 0: not known.
  /// To be called after open().
  double bytes_in_flight() const noexcept { return request_.transfers.bandwidth / 8 * delay_; }

 private:
  asio::awaitable<void> open_first(Welcome& welcome);
  asio::awaitable<void> finish();
  asio::awaitable<void> dial(std::shared_ptr<Connection>& connection, unsigned stream);
  asio::awaitable<void> send_hello(Connection& connection, unsigned stream);
  asio::awaitable<Welcome> read_welcome(Connection& connection);
  const char* credentials_remedy() const noexcept;
  [[noreturn]] void throw_refused(const std::string& reason) const;
  asio::awaitable<void> keep(unsigned stream, std::shared_ptr<Connection> connection,
                             std::uint64_t peer_received);
  void choose_streams(Connection& connection, const Welcome& welcome);
  StreamSettings settings() const;

  const driver::NetworkRequest request_;
  std::optional<asio::ssl::context> tls_;  ///< nothing: connections are plain
  std::unique_ptr<EventLoop> loop_;
  asio::io_context& io_ = loop_->io();
  Waiter waiter_;
  std::shared_ptr<Session> session_;
  SessionId id_ = {};
  OneTimeEvent connected_{io_};      ///< the first stream has a connection
  OneTimeEvent authenticated_{io_};  ///< the hosts have authenticated each other on it
  OneTimeEvent opened_{io_};         ///< `id_` is known
  std::uint64_t window_ = 0;         ///< window of a stream, bytes; 0: the system's choice
  unsigned streams_ = 1;
  double delay_ = 0;  ///< round trip time when the session was opened, seconds; 0: not measured
  bool finishing_ = false;
  const pid_t process_;
  std::optional<asio::executor_work_guard<asio::io_context::executor_type>> work_;
  HostThread thread_;
};

class NetworkLink final : public BoardLink {
 public:
  /// Throws Error (Device, Usage, Io).
  explicit NetworkLink(const driver::NetworkRequest& request);
  ~NetworkLink() override;

  const driver::BoardIdentity& identity() const noexcept { return identity_; }

  /// Lists without results are posted: the call returns at once, and the next call throws their
  /// errors.
  void execute(const CommandList& list, std::vector<std::uint64_t>& results,
               const std::stop_token& stop) override;
  void start(const CommandList& list, const std::stop_token& stop) override;
  void finish(std::vector<std::uint64_t>& results, const std::stop_token& stop) override;
  void discard_started() noexcept override;
  unsigned lists_ahead() const noexcept override { return 8; }
  WorkCounts counts() const override;
  void reset_counts() override;
  EngineStats engine_stats() const override;
  bool multiplies_all_bits() const noexcept override;
  bool is_remote() const noexcept override { return true; }
  std::string name() const override { return name_; }
  LinkTimes times() const override;
  std::vector<StreamStatistics> streams() const override;
  void wait_for_completion() override;
  void record(bool on) override;

 private:
  /// A list that the server has not answered.
  struct Unanswered {
    std::uint64_t number = 0, bytes = 0;
    bool has_results = false;
    double submitted_seconds = 0;
    CommandKind main_command{};
  };

  struct Submitted {
    std::uint64_t number = 0;
    bool has_results = false;
  };

  Submitted submit(const CommandList& list, std::uint32_t flags, const std::stop_token& stop);
  Reply await(std::uint64_t number, const std::stop_token& stop);
  void wait_until(std::unique_lock<std::mutex>& lock, const std::stop_token& stop,
                  const std::function<bool()>& done);
  void handle(Reply reply);
  void record_reply(Reply reply);
  void apply(const Reply& reply, const Unanswered& list);
  [[noreturn]] void throw_failure(std::unique_lock<std::mutex>& lock);
  void ignore_submitted() noexcept;

  driver::BoardIdentity identity_;
  std::string name_;
  std::uint64_t max_bytes_ = 0;
  driver::ChipPrograms programs_;  ///< programs after all submitted lists

  mutable std::mutex mutex_;
  std::deque<Unanswered> unanswered_;
  std::uint64_t unanswered_bytes_ = 0;
  std::map<std::uint64_t, Reply> replies_;  ///< replies with results that nobody has taken
  std::deque<Submitted> started_;           ///< lists of start() whose results were not taken
  std::optional<Reply> failure_;            ///< the first failure that no call has thrown
  std::string lost_;                        ///< why the board is lost; empty: it is not
  std::uint64_t last_ = 0;                  ///< number of the last list
  std::uint64_t complete_ = 0;              ///< lists up to this one have been executed
  std::uint64_t ignored_ = 0;  ///< lists up to this one have failed or are not waited for
  bool resume_ = false, reset_counts_ = false;
  WorkCounts counts_;
  EngineStats engine_stats_;
  double busy_seconds_ = 0, transfer_seconds_ = 0;

  mutable ClientConnections connections_;  ///< last, because its thread uses the members above
};

}  // namespace gdr::network
