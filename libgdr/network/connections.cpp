#include <fcntl.h>
#include <unistd.h>

#include <asio/co_spawn.hpp>
#include <asio/connect.hpp>
#include <asio/detached.hpp>
#include <asio/redirect_error.hpp>
#include <cmath>
#include <csignal>
#include <future>
#include <utility>

#include "emulator/host/host_limits.hpp"
#include "emulator/host/threads.hpp"
#include "gdr/error.hpp"
#include "libgdr/network/client.hpp"
#include "libgdr/network/connect.hpp"
#include "libgdr/network/credentials.hpp"

namespace gdr::network {
namespace {

constexpr std::chrono::seconds connect_timeout{10}, answer_timeout{10};
constexpr std::chrono::milliseconds min_backoff{50}, max_backoff{2000};
/// Messages of a server: results of a list.
constexpr std::uint64_t max_reply_bytes = std::uint64_t{1} << 36;
constexpr unsigned max_chosen_streams = 16;

using driver::Endpoint;

constexpr const char* refused_connection = "refused the connection";

std::string server_at(const Endpoint& e) { return "the board server at " + e.text(); }

}  // namespace

ClientConnections::ClientConnections(const driver::NetworkRequest& request, SessionEvents events)
    : request_(request),
      tls_(make_context(request.credentials, Role::Client)),
      loop_(std::make_unique<EventLoop>(request.transfers.poll_seconds.value_or(0))),
      session_(std::make_shared<Session>(io_, max_reply_bytes, std::move(events))),
      window_(request.transfers.window),
      streams_(std::max(1U, request.transfers.streams)),
      process_(getpid()),
      work_(io_.get_executor()) {}

/// Tells the server that the session ends, if that needs no new connection.
asio::awaitable<void> ClientConnections::finish() {
  finishing_ = true;
  session_->finish();
  if (!session_->connected(0)) session_->end("finished");
  const Clock::time_point end = Clock::now() + std::chrono::seconds(1);
  asio::steady_timer timer(io_);
  while (!session_->ended() && Clock::now() < end) {
    timer.expires_after(std::chrono::milliseconds(1));
    co_await timer.async_wait(asio::use_awaitable);
  }
  io_.stop();
}

ClientConnections::~ClientConnections() {
  if (!thread_.joinable()) return;
  if (getpid() != process_) {  // a forked child has no such thread
    thread_.detach();
    // The loop's mutexes and conditions may be in use by threads that the child lacks, so that
    // their destructors would wait for ever. Its coroutines keep the session.
    (void)loop_.release();
    return;
  }
  asio::co_spawn(io_, finish(), asio::detached);
  loop_->take_over();
  thread_.join();
}

Welcome ClientConnections::open() {
  Welcome welcome;
  std::promise<void> opened;
  std::future<void> done = opened.get_future();
  asio::co_spawn(io_, open_first(welcome), [&](const std::exception_ptr& e) {
    if (e)
      opened.set_exception(e);
    else
      opened.set_value();
  });
  // Signals are for the threads of the program.
  sigset_t all, before;
  sigfillset(&all);
  pthread_sigmask(SIG_BLOCK, &all, &before);
  thread_ = start_thread([this] { loop_->run(); });
  pthread_sigmask(SIG_SETMASK, &before, nullptr);
  if (!thread_.joinable())
    throw Error(ErrorCategory::Device,
                "a board of another host needs threads: " + refused_thread_text());
  done.get();
  return welcome;
}

asio::awaitable<void> ClientConnections::open_first(Welcome& welcome) {
  std::shared_ptr<Connection> connection;
  // The files of a server are there at once, so that the other streams can be connected while it
  // answers. For a board a client may have to wait.
  const unsigned early = request_.files ? streams_ : 1;
  session_->add_streams(early);
  session_->set_pacing(settings().pacing);
  for (unsigned k = 1; k < early; ++k) asio::co_spawn(io_, keep(k, nullptr, 0), asio::detached);
  co_await dial(connection, 0);
  co_await send_hello(*connection, 0);
  welcome = co_await read_welcome(*connection);
  id_ = welcome.session;
  choose_streams(*connection, welcome);
  session_->add_streams(streams_);
  opened_.set();
  const StreamSettings s = settings();
  const std::string refused = apply_settings(connection->socket().native_handle(), s);
  if (!refused.empty())
    throw Error(ErrorCategory::Usage, "this system refuses the requested " + refused);
  asio::co_spawn(io_, keep(0, connection, welcome.received), asio::detached);
  for (unsigned k = early; k < streams_; ++k)
    asio::co_spawn(io_, keep(k, nullptr, 0), asio::detached);
}

/// As many streams as the path needs: a stream moves a window per round trip.
void ClientConnections::choose_streams(Connection& connection, const Welcome& welcome) {
  const driver::TransferOptions& t = request_.transfers;
  if (t.bandwidth <= 0) return;
  delay_ = std::max(socket_state(connection.socket().native_handle()).round_trip_seconds, 1e-4);
  const double needed = 1.25 * bytes_in_flight();
  const WindowLimits own = window_limits();
  const auto granted = [](std::uint64_t a, std::uint64_t b) {
    return static_cast<double>(std::max<std::uint64_t>(std::min(a, b), 1 << 16));
  };
  const double window = std::min(granted(own.send, welcome.receive_window),
                                 granted(welcome.send_window, own.receive));
  if (t.streams == 0)
    streams_ = static_cast<unsigned>(
        std::clamp(std::ceil(needed / window), 1.0, double{max_chosen_streams}));
  if (t.window == 0) window_ = static_cast<std::uint64_t>(2 * needed / streams_);
}

StreamSettings ClientConnections::settings() const {
  const driver::TransferOptions& t = request_.transfers;
  return {window_, t.pacing / 8, t.congestion};
}

/// Opens a connection. Throws Error (Device) with the reason.
asio::awaitable<void> ClientConnections::dial(std::shared_ptr<Connection>& connection,
                                              unsigned stream) {
  const Endpoint& server = request_.server;
  connection = std::make_shared<Connection>(asio::ip::tcp::socket(io_), tls_ ? &*tls_ : nullptr);
  const char* step = "cannot be reached";
  const char* remedy = "check address and port, and that gdr serve --listen runs there";
  std::string why;
  try {
    const Deadline deadline(*connection, connect_timeout);
    try {
      asio::ip::tcp::resolver resolver(io_);
      const auto places =
          co_await resolver.async_resolve(server.host, server.port, asio::use_awaitable);
      auto& socket = connection->socket();
      asio::error_code error = asio::error::host_not_found;
      for (const auto& place : places) {
        if (socket.is_open()) socket.close();
        socket.open(place.endpoint().protocol());
        fcntl(socket.native_handle(), F_SETFD, FD_CLOEXEC);
        // Buffers have their size before the connection, which fixes the scale of windows.
        if (window_ > 0) apply_settings(socket.native_handle(), {window_, 0, {}});
        co_await socket.async_connect(place.endpoint(),
                                      asio::redirect_error(asio::use_awaitable, error));
        if (!error) break;
      }
      if (error) throw asio::system_error(error);
      const std::string refused = apply_settings(socket.native_handle(), settings());
      if (!refused.empty())
        throw Error(ErrorCategory::Usage, "this system refuses the requested " + refused);
      step = refused_connection;
      remedy = credentials_remedy();
      // Wrong credentials are found, and logged by the server, once and not for each stream.
      if (stream == 0)
        connected_.set();
      else
        co_await authenticated_.wait();
      if (tls_) SSL_set_tlsext_host_name(connection->tls(), server.host.c_str());
      if (!request_.credentials.certificate.empty())
        SSL_set1_host(connection->tls(), server.host.c_str());
      co_await connection->handshake(asio::ssl::stream_base::client);
      authenticated_.set();
    } catch (const asio::system_error&) {
      if (!deadline.expired()) throw;
      why = "no answer within 10 seconds";
    }
    if (!why.empty()) throw asio::system_error(asio::error::timed_out);
  } catch (const asio::system_error& e) {
    if (e.code() == std::errc::resource_unavailable_try_again)  // asio looks up names in a thread
      throw Error(ErrorCategory::Device,
                  "a board of another host needs threads: " + refused_thread_text());
    if (why.empty()) why = e.code().message();
    throw Error(ErrorCategory::Device,
                server_at(server) + " " + step + " (" + why + "); " + remedy);
  }
}

const char* ClientConnections::credentials_remedy() const noexcept {
  return tls_ ? "use the credentials that it was started with, and a server of the same release"
              : "it may require credentials; if not, use a server of the same release";
}

/// Sends the greeting of a connection.
asio::awaitable<void> ClientConnections::send_hello(Connection& connection, unsigned stream) {
  Hello hello{.stream = stream, .session = id_, .received = session_->end_connection(stream)};
  const driver::TransferOptions& t = request_.transfers;
  hello.pacing_auto = t.pacing_auto ? 1 : 0;
  hello.subject = request_.files ? Subject::Files : Subject::Board;
  hello.window = window_;
  hello.pacing = settings().pacing;
  hello.queue_timeout = request_.board.queue_timeout;
  hello.timeout = request_.timeout_seconds;
  set_text(hello.congestion, t.congestion);
  set_text(hello.engine, request_.board.engine);
  set_text(hello.isa, request_.board.isa);
  try {
    co_await write_plain(connection, hello);
  } catch (const asio::system_error& e) {
    throw_refused(e.code().message());
  }
}

void ClientConnections::throw_refused(const std::string& reason) const {
  throw Error(ErrorCategory::Device, server_at(request_.server) + " " + refused_connection + " (" +
                                         reason + "); " + credentials_remedy());
}

/// Returns the server's answer to a greeting. Throws Error (Device) with the reason.
asio::awaitable<Welcome> ClientConnections::read_welcome(Connection& connection) {
  const Endpoint& server = request_.server;
  const double longest = (id_ == SessionId{} ? request_.board.queue_timeout : 0) +
                         std::chrono::duration<double>(answer_timeout).count();
  const Deadline deadline(connection, std::chrono::duration<double>(longest));
  Welcome welcome;
  try {
    do welcome = co_await read_plain<Welcome>(connection);
    while (welcome.magic == protocol_magic && welcome.answer == Answer::Waiting);
  } catch (const asio::system_error& e) {
    if (!deadline.expired()) throw_refused(e.code().message());
    throw Error(ErrorCategory::Device,
                server_at(server) + " did not answer; check its log, or restart it");
  }
  if (welcome.magic != protocol_magic)
    throw Error(ErrorCategory::Device,
                "the process at " + server.text() + " is not a board server; name another address");
  if (welcome.answer == Answer::Refused) {
    const bool known = welcome.category >= 1 && welcome.category <= 7;
    throw Error(known ? static_cast<ErrorCategory>(welcome.category) : ErrorCategory::Device,
                server_at(server) + " rejected the request: " + get_text(welcome.text));
  }
  if (welcome.answer == Answer::Unknown) {
    session_->end(server_at(server) +
                  " no longer holds the board; it restarted, or the connection "
                  "was broken for longer than it waits");
    throw Error(ErrorCategory::Device, "the session has ended");
  }
  co_return welcome;
}

/// Runs a stream, and restores its connection until the session ends.
asio::awaitable<void> ClientConnections::keep(unsigned stream,
                                              std::shared_ptr<Connection> connection,
                                              std::uint64_t peer_received) {
  const std::shared_ptr<Session> session = session_;
  std::chrono::milliseconds backoff = min_backoff;
  std::string why = "it was not established";
  co_await connected_.wait();
  bool greeted = true;
  while (!session->ended()) {
    bool failed = false;
    if (connection) {
      if (request_.transfers.pacing_auto)
        asio::co_spawn(io_, pace(session, stream, connection), asio::detached);
      const Clock::time_point begin = Clock::now();
      std::function<asio::awaitable<void>()> greeting;
      if (!greeted)
        greeting = [&]() -> asio::awaitable<void> {
          co_await read_welcome(*connection);
          greeted = true;
        };
      why = co_await session->run(stream, *connection, peer_received, std::move(greeting));
      failed = !greeted;
      if (Clock::now() - begin > std::chrono::seconds(1)) backoff = min_backoff;
      connection.reset();
      if (finishing_) session->end("finished");
      if (session->ended()) co_return;
    }
    if (!failed) try {
        co_await dial(connection, stream);
        if (id_ == SessionId{}) {
          co_await opened_.wait();
          apply_settings(connection->socket().native_handle(), settings());
        }
        // The server would report the stream of a session that has just ended as a refused client.
        if (finishing_ || session->ended()) co_return;
        co_await send_hello(*connection, stream);
        // The first connection of a stream sends frames at once, as there is nothing to repeat.
        greeted = session->counters(stream).connections > 0;
        peer_received = 0;
        if (greeted) peer_received = (co_await read_welcome(*connection)).received;
        continue;
      } catch (const Error& e) {
        why = e.what();
        connection.reset();
      }
    if (session->ended()) continue;
    if (finishing_) session->end("finished");
    const auto broken = session->broken_since();
    const std::chrono::duration<double> limit(request_.transfers.resume_seconds);
    if (broken && Clock::now() - *broken > limit) {
      session->end("the connection broke and was not restored within " +
                   std::to_string(std::lround(limit.count())) + " seconds: " + why);
      co_return;
    }
    asio::steady_timer timer(io_, backoff);
    co_await timer.async_wait(asio::use_awaitable);
    backoff = std::min(2 * backoff, max_backoff);
  }
}

void ClientConnections::send(Bytes message) {
  const bool takes_time = message.size() > max_frame_bytes;
  const bool at_once = message.size() <= max_bytes_at_once;
  loop_->call([this, m = std::move(message)]() mutable { session_->send(std::move(m)); }, !at_once);
  if (takes_time) loop_->take_over();
}

void ClientConnections::send_urgent(std::uint64_t number) {
  loop_->call([this, number] { session_->send_urgent(number); });
}

std::vector<StreamStatistics> ClientConnections::streams() {
  std::promise<std::vector<StreamStatistics>> promise;
  auto future = promise.get_future();
  loop_->call([&] {
    std::vector<StreamStatistics> all;
    for (unsigned k = 0; k < session_->streams(); ++k) {
      const StreamCounters& c = session_->counters(k);
      const int socket = session_->socket(k);
      const SocketState state = socket >= 0 ? socket_state(socket) : SocketState{};
      all.push_back({{},
                     k,
                     c.bytes_sent,
                     c.bytes_received,
                     c.connections,
                     c.frames_repeated,
                     state.retransmitted_packets,
                     state.round_trip_seconds,
                     8 * state.delivery_rate,
                     8 * state.pacing_rate});
    }
    promise.set_value(std::move(all));
  });
  return future.get();
}

}  // namespace gdr::network
