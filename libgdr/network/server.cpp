// The part of a board server that accepts connections: authentication, sessions, and a thread for
// each session that executes its lists on a board of the Unix socket.
#include "libgdr/network/server.hpp"

#include <openssl/rand.h>
#include <sys/resource.h>

#include <algorithm>
#include <asio/co_spawn.hpp>
#include <asio/detached.hpp>
#include <asio/redirect_error.hpp>
#include <atomic>
#include <list>
#include <mutex>
#include <stop_token>
#include <system_error>

#include "emulator/host/host_limits.hpp"
#include "emulator/host/parallel.hpp"
#include "emulator/host/threads.hpp"
#include "gdr/error.hpp"
#include "libgdr/driver/remote_board.hpp"
#include "libgdr/network/connect.hpp"
#include "libgdr/network/credentials.hpp"
#include "libgdr/network/event_loop.hpp"
#include "libgdr/network/file_work.hpp"
#include "libgdr/network/messages.hpp"

namespace gdr::network {
namespace {

using driver::NetworkServerOptions;

constexpr std::chrono::seconds greeting_timeout{10};
/// Connections without a valid Hello; the oldest makes room for another.
constexpr std::size_t max_strangers = 128;
/// Maximum number of log lines about refused connections per minute.
constexpr unsigned max_refusals = 60;
constexpr std::size_t max_queued_lists = 256;

/// Whether the first bytes of a client are those of TLS: a record of a handshake, version 3.
bool begins_tls(const Hello& hello) {
  constexpr std::uint64_t handshake = 0x0316, first_bytes = 0xffff;
  return (hello.magic & first_bytes) == handshake;
}

/// Limits the lines about clients in the log.
class RefusalLog {
 public:
  explicit RefusalLog(const NetworkServerOptions& options) : options_(options) {}

  void add(const std::string& text) {
    if (Clock::now() - minute_ >= std::chrono::minutes(1)) {
      if (count_ > max_refusals)
        options_.log(std::to_string(count_ - max_refusals) + " further refusals not logged");
      minute_ = Clock::now();
      count_ = 0;
    }
    if (count_++ < max_refusals) options_.log(text);
  }

 private:
  const NetworkServerOptions& options_;
  Clock::time_point minute_ = Clock::now();
  unsigned count_ = 0;
};

/// Executes the lists of a session on a board, in a thread of its own.
class Worker final : public SessionWork {
 public:
  struct Events {
    std::function<void(const driver::BoardIdentity&, const std::string& name)> opened;
    std::function<void(ErrorCategory, const std::string& reason)> refused;
    std::function<void(Bytes&&)> replied;
  };

  Worker(const NetworkServerOptions& options, EventLoop& loop, const driver::ServerRequest& request,
         double timeout, Events events)
      : options_(options),
        request_(request),
        timeout_(timeout),
        events_(std::move(events)),
        loop_(loop),
        thread_(start_thread([this] { run(); })) {
    if (!thread_.joinable())
      throw std::system_error(std::make_error_code(std::errc::resource_unavailable_try_again));
  }
  Worker(const Worker&) = delete;
  Worker& operator=(const Worker&) = delete;
  ~Worker() override {
    end();
    thread_.join();
  }

  /// False if the client has sent more than it may.
  bool add(Bytes message) override {
    {
      const std::scoped_lock lock(mutex_);
      bytes_ += message.size();
      if (messages_.size() >= max_queued_lists || bytes_ > options_.max_message_bytes) return false;
      messages_.push_back(std::move(message));
    }
    loop_.signal(waiter_);
    return true;
  }
  void received(std::uint64_t bytes) override {
    bool goes_on = false;
    {
      const std::scoped_lock lock(mutex_);
      const bool waited = unreceived_ > max_unreceived_;
      unreceived_ -= std::min(unreceived_, bytes);
      goes_on = waited && unreceived_ <= max_unreceived_;
    }
    if (goes_on) loop_.signal(waiter_);
  }
  /// Stops lists up to this one.
  void stop(std::uint64_t number) override {
    const std::scoped_lock lock(mutex_);
    stopped_ = std::max(stopped_, number);
    if (current_ != 0 && current_ <= stopped_) stop_.request_stop();
  }
  /// Stops all work; the board is released soon.
  void end() override {
    {
      const std::scoped_lock lock(mutex_);
      ended_ = true;
      stop_.request_stop();
    }
    loop_.signal(waiter_);
  }
  /// Whether the thread has released its board.
  bool finished() const noexcept override { return finished_; }

 private:
  void run() {
    try {
      driver::ServerRequest request = request_;
      {
        const std::scoped_lock lock(mutex_);
        request.stop = stop_.get_token();
      }
      const double poll = options_.poll_seconds.value_or(driver::board_poll_seconds);
      driver::RemoteBoard board(driver::open_server_board(options_.socket, request), timeout_,
                                poll);
      events_.opened(board.identity(), board.name());
      serve(board);
    } catch (const Error& e) {
      events_.refused(e.category(), e.what());
    } catch (const std::exception& e) {
      events_.refused(ErrorCategory::Internal, e.what());
    }
    finished_ = true;
  }

  void serve(driver::RemoteBoard& board) {
    for (bool lost = false; !lost;) {
      // This thread handles the events of all sessions, while no other does, so that it need not be
      // woken for the messages of its own.
      loop_.wait(waiter_, [this] {
        const std::scoped_lock lock(mutex_);
        return ended_ || (!messages_.empty() && unreceived_ <= max_unreceived_);
      });
      Bytes message;
      {
        const std::scoped_lock lock(mutex_);
        if (ended_ || messages_.empty()) return;
        message = std::move(messages_.front());
        messages_.pop_front();
      }
      const std::size_t bytes = message.size();
      if (bytes > max_frame_bytes) loop_.take_over();  // more of them may be under way
      const Reply reply = execute(board, message);
      lost = reply.status == ReplyStatus::Lost;
      Bytes encoded = encode_reply(reply);
      {
        const std::scoped_lock lock(mutex_);
        bytes_ -= bytes;
        unreceived_ += encoded.size();
        current_ = 0;
      }
      events_.replied(std::move(encoded));
    }
  }

  Reply execute(driver::RemoteBoard& board, Bytes& bytes) {
    Reply reply;
    const auto fail = [&](ReplyStatus status, ErrorCategory category, const char* what) {
      reply.status = status;
      reply.category = static_cast<std::uint32_t>(category);
      reply.message = what;
      failed_ = true;
    };
    try {
      ListMessage m = decode_list(bytes);
      bytes = {};  // the list has a copy
      reply.number = m.number;
      if ((m.flags & list_resume) != 0) failed_ = false;
      if (failed_) {
        reply.status = ReplyStatus::Skipped;
        return reply;
      }
      std::stop_token stop;
      {
        const std::scoped_lock lock(mutex_);
        if (ended_ || m.number <= stopped_) throw Cancelled();
        stop_ = std::stop_source();
        stop = stop_.get_token();
        current_ = m.number;
      }
      if ((m.flags & list_reset_counts) != 0) board.reset_counts();
      if (!m.list.commands.empty()) board.execute(m.list, reply.results, stop);
      if ((m.flags & list_wait) != 0) board.wait_for_completion();
      reply.status = ReplyStatus::Done;
    } catch (const driver::BoardFailure& e) {
      fail(ReplyStatus::Lost, ErrorCategory::Device, e.what());
    } catch (const Cancelled& e) {
      board.discard_started();  // of earlier messages, which were answered when they were posted
      fail(ReplyStatus::Cancelled, ErrorCategory::Device, e.what());
    } catch (const Error& e) {
      fail(ReplyStatus::Failed, e.category(), e.what());
    } catch (const std::bad_alloc&) {
      fail(ReplyStatus::Failed, ErrorCategory::Device, "the server is out of memory");
    } catch (const std::exception& e) {
      fail(ReplyStatus::Failed, ErrorCategory::Internal, e.what());
    }
    reply.counts = board.counts();
    reply.engine = board.engine_stats();
    reply.busy_seconds = board.times().busy_seconds;
    return reply;
  }

  const NetworkServerOptions& options_;
  const driver::ServerRequest request_;
  const double timeout_;
  const Events events_;
  EventLoop& loop_;
  Waiter waiter_;
  std::mutex mutex_;
  std::deque<Bytes> messages_;
  std::uint64_t bytes_ = 0;       ///< size of messages that have no reply, bytes
  std::uint64_t unreceived_ = 0;  ///< size of replies that the client has not received, bytes
  const std::uint64_t max_unreceived_ = std::min(max_unreceived_bytes, options_.max_message_bytes);
  std::uint64_t current_ = 0, stopped_ = 0;
  std::stop_source stop_;
  bool ended_ = false, failed_ = false;
  std::atomic<bool> finished_ = false;
  HostThread thread_;  ///< last, because it uses the members above
};

/// A session with its board.
struct Served {
  SessionId id = {};
  std::string client;  ///< proved identity of the client
  std::shared_ptr<Session> session;
  std::unique_ptr<SessionWork> worker;
  std::optional<Welcome> granted;  ///< the board has been opened, or refused
};

class Front {
 public:
  explicit Front(const NetworkServerOptions& options)
      : options_(options),
        tls_(make_context(options.credentials, Role::Server)),
        loop_(options.poll_seconds.value_or(0)),
        acceptor_(io_) {
    sockaddr_storage address{};
    socklen_t size = sizeof(address);
    getsockname(options.listener, reinterpret_cast<sockaddr*>(&address), &size);
    acceptor_.assign(address.ss_family == AF_INET6 ? asio::ip::tcp::v6() : asio::ip::tcp::v4(),
                     options.listener);
  }

  void run() {
    asio::co_spawn(io_, accept(), asio::detached);
    asio::co_spawn(io_, clean(), asio::detached);
    loop_.run();
  }

 private:
  asio::awaitable<void> accept() {
    for (;;) {
      asio::error_code error;
      auto socket =
          co_await acceptor_.async_accept(asio::redirect_error(asio::use_awaitable, error));
      if (error) {  // no file is left, for example
        if (!strangers_.empty()) strangers_.front()->close();
        asio::steady_timer timer(io_, std::chrono::milliseconds(10));
        co_await timer.async_wait(asio::use_awaitable);
        continue;
      }
      if (strangers_.size() >= max_strangers) strangers_.front()->close();
      auto connection = std::make_shared<Connection>(std::move(socket), tls_ ? &*tls_ : nullptr);
      strangers_.push_back(connection);
      asio::co_spawn(io_, handle(connection, std::prev(strangers_.end())), asio::detached);
    }
  }

  using Place = std::list<std::shared_ptr<Connection>>::iterator;

  asio::awaitable<void> handle(std::shared_ptr<Connection> connection, Place place) {
    std::string from = "an unknown host";
    bool stranger = true;
    try {
      const auto remote = connection->socket().remote_endpoint();
      from = remote.address().to_string();
      Hello hello;
      {
        const Deadline deadline(*connection, greeting_timeout);
        co_await connection->handshake(asio::ssl::stream_base::server);
        hello = co_await read_plain<Hello>(*connection);
      }
      strangers_.erase(place);
      stranger = false;
      co_await serve(connection, hello, from);
    } catch (const std::exception& e) {
      if (stranger) {
        strangers_.erase(place);
        refusals_.add("a connection from " + from + " was refused: " + e.what());
      }
    }
  }

  asio::awaitable<void> refuse(Connection& connection, const std::string& from,
                               const std::string& why, ErrorCategory category,
                               Answer answer = Answer::Refused) {
    refusals_.add("a client at " + from + " was refused: " + why);
    Welcome w;
    w.answer = answer;
    w.category = static_cast<std::uint32_t>(category);
    set_text(w.text, why);
    co_await write_plain(connection, w);
    // The other host reads the answer before its connection is reset.
    const Deadline deadline(connection, std::chrono::seconds(1));
    co_await connection.shut_down();
  }

  asio::awaitable<void> serve(std::shared_ptr<Connection> connection, const Hello& hello,
                              const std::string& from) {
    if (hello.magic != protocol_magic || hello.version != protocol_version ||
        hello.stream >= max_streams) {
      std::string why =
          "its first message is malformed; use a library and a server of the same release";
      if (!tls_ && begins_tls(hello))
        why =
            "it uses TLS, but this server was started with --insecure; use the device option "
            "insecure=1, and a library of the same release";
      co_await refuse(*connection, from, why, ErrorCategory::Device);
      co_return;
    }
    const std::string refused = apply_settings(connection->socket().native_handle(),
                                               {std::min<std::uint64_t>(hello.window, max_window),
                                                hello.pacing, get_text(hello.congestion)});
    if (!refused.empty()) {
      co_await refuse(*connection, from,
                      "the system of the server refuses the requested " + refused,
                      ErrorCategory::Usage);
      co_return;
    }
    const std::string client = tls_ ? peer_name(connection->tls()) : "no credentials";
    std::shared_ptr<Served> served;
    if (hello.session == SessionId{}) {
      served = co_await open(*connection, hello, from, client);
      if (!served) co_return;
    } else {
      const auto found = sessions_.find(hello.session);
      if (found == sessions_.end() || found->second->client != client ||
          found->second->session->ended()) {
        co_await refuse(*connection, from, "it resumes a session that has ended",
                        ErrorCategory::Device, Answer::Unknown);
        co_return;
      }
      served = found->second;
    }
    const std::shared_ptr<Session> session = served->session;
    session->add_streams(hello.stream + 1);
    session->set_pacing(hello.pacing);
    Welcome w = *served->granted;
    w.received = session->end_connection(hello.stream);
    co_await write_plain(*connection, w);
    if (hello.pacing_auto != 0)
      asio::co_spawn(io_, pace(session, hello.stream, connection), asio::detached);
    co_await session->run(hello.stream, *connection, hello.received);
  }

  /// Opens a board for a client. Null if that was refused, or the client has gone.
  asio::awaitable<std::shared_ptr<Served>> open(Connection& connection, const Hello& hello,
                                                const std::string& from,
                                                const std::string& client) {
    if (sessions_.size() >= options_.max_connections) {
      co_await refuse(connection, from,
                      "the server has its maximum of " + std::to_string(options_.max_connections) +
                          " clients; try again later",
                      ErrorCategory::Device);
      co_return nullptr;
    }
    auto served = std::make_shared<Served>();
    served->client = client;
    RAND_bytes(reinterpret_cast<unsigned char*>(served->id.data()), sizeof(served->id));
    sessions_[served->id] = served;
    const std::weak_ptr<Served> weak = served;
    const bool files = hello.subject == Subject::Files;
    const std::uint64_t max_bytes =
        files ? max_file_message_bytes(options_) : options_.max_message_bytes;
    served->session = std::make_shared<Session>(
        io_, max_bytes,
        SessionEvents{[this, weak](Bytes&& m) {
                        const auto s = weak.lock();
                        if (s && !s->worker->add(std::move(m)))
                          s->session->end("the client sends more than it may");
                      },
                      [weak](std::uint64_t number) {
                        if (const auto s = weak.lock()) s->worker->stop(number);
                      },
                      [this, weak, from](const std::string& reason) {
                        const auto s = weak.lock();
                        if (!s) return;
                        options_.log("session of " + from + " (" + s->client +
                                     ") ended: " + reason);
                        s->worker->end();
                      },
                      [weak](std::uint64_t bytes) {
                        if (const auto s = weak.lock()) s->worker->received(bytes);
                      }});
    auto opened = std::make_shared<asio::steady_timer>(io_);
    const auto answer = [this, weak, opened](const Welcome& w) {
      asio::post(io_, [weak, opened, w] {
        if (const auto s = weak.lock(); s && !s->granted) s->granted = w;
        opened->cancel();
      });
    };
    if (files) {
      const std::string why = open_files(*served, weak);
      if (!why.empty()) {
        sessions_.erase(served->id);
        co_await refuse(connection, from, why, ErrorCategory::Device);
        co_return nullptr;
      }
    }
    try {
      if (!served->worker)
        served->worker = std::make_unique<Worker>(
            options_, loop_,
            driver::ServerRequest{get_text(hello.engine), get_text(hello.isa), hello.queue_timeout},
            hello.timeout,
            Worker::Events{[this, answer, id = served->id](const driver::BoardIdentity& board,
                                                           const std::string& name) {
                             Welcome w = grant(id, options_.max_message_bytes);
                             w.capabilities = board.capabilities;
                             w.geometry = board.geometry;
                             set_text(w.engine, board.engine);
                             set_text(w.isa, board.isa);
                             set_text(w.board, name);
                             answer(w);
                           },
                           [answer](ErrorCategory category, const std::string& why) {
                             Welcome w;
                             w.answer = Answer::Refused;
                             w.category = static_cast<std::uint32_t>(category);
                             set_text(w.text, why);
                             answer(w);
                           },
                           [this, weak](Bytes&& reply) {
                             const bool at_once = reply.size() <= max_bytes_at_once;
                             auto send = [weak, m = std::move(reply)]() mutable {
                               if (const auto s = weak.lock(); s && !s->session->ended())
                                 s->session->send(std::move(m));
                             };
                             loop_.call(std::move(send), !at_once);
                           }});
    } catch (const std::system_error&) {
      sessions_.erase(served->id);
    }
    if (!served->worker) {
      co_await refuse(connection, from, "the host of the server: " + refused_thread_text(),
                      ErrorCategory::Device);
      co_return nullptr;
    }
    bool gone = false;
    try {
      for (std::chrono::milliseconds wait{300}; !served->granted; wait = std::chrono::seconds(2)) {
        opened->expires_after(wait);
        asio::error_code ignored;
        co_await opened->async_wait(asio::redirect_error(asio::use_awaitable, ignored));
        if (served->granted) break;
        Welcome w;
        w.answer = Answer::Waiting;
        co_await write_plain(connection, w);
      }
    } catch (const std::exception&) {
      gone = true;
    }
    if (gone || served->granted->answer != Answer::Granted) {
      const std::string why = gone ? "the client has gone" : get_text(served->granted->text);
      served->session->end(why);
      if (!gone)
        co_await refuse(connection, from, why,
                        static_cast<ErrorCategory>(served->granted->category));
      co_return nullptr;
    }
    options_.log(get_text(served->granted->board) + " was opened by " + from + " (" + client + ")");
    co_return served;
  }

  Welcome grant(const SessionId& id, std::uint64_t max_bytes) const {
    Welcome w;
    w.answer = Answer::Granted;
    w.session = id;
    w.max_bytes = max_bytes;
    const WindowLimits limits = window_limits();
    w.send_window = limits.send;
    w.receive_window = limits.receive;
    return w;
  }

  /// Opens the server's files for a session. Returns why that is refused; empty: it is not.
  std::string open_files(Served& served, const std::weak_ptr<Served>& weak) {
    if (options_.files.path.empty())
      return "the server offers no files; start it with gdr serve --files FOLDER";
    try {
      served.worker = make_file_work(options_, served.client, [this, weak](Bytes message) {
        asio::post(io_, [weak, m = std::move(message)]() mutable {
          if (const auto s = weak.lock(); s && !s->session->ended()) s->session->send(std::move(m));
        });
      });
    } catch (const std::system_error&) {
      return "the host of the server: " + refused_thread_text();
    } catch (const Error& e) {
      return e.what();
    }
    served.granted = grant(served.id, max_file_message_bytes(options_));
    set_text(served.granted->board, "the folder of the server");
    return {};
  }

  /// Ends sessions whose connections are not restored, and removes those that have ended.
  asio::awaitable<void> clean() {
    asio::steady_timer timer(io_);
    for (;;) {
      timer.expires_after(std::chrono::milliseconds(100));
      co_await timer.async_wait(asio::use_awaitable);
      const Clock::time_point now = Clock::now();
      const auto limit = std::chrono::duration<double>(options_.resume_seconds);
      std::erase_if(sessions_, [&](const auto& entry) {
        const std::shared_ptr<Served>& s = entry.second;
        const auto broken = s->session->broken_since();
        if (!s->session->ended() && s->granted && broken && now - *broken > limit)
          s->session->end("its connection broke and was not restored in time");
        return s->session->ended() && s->worker->finished();
      });
    }
  }

  static constexpr std::uint64_t max_window = std::uint64_t{1} << 30;

  const NetworkServerOptions& options_;
  std::optional<asio::ssl::context> tls_;  ///< nothing: connections are plain
  EventLoop loop_;
  asio::io_context& io_ = loop_.io();
  asio::ip::tcp::acceptor acceptor_;
  std::list<std::shared_ptr<Connection>> strangers_;
  std::map<SessionId, std::shared_ptr<Served>> sessions_;
  RefusalLog refusals_{options_};
};

}  // namespace

void serve(const NetworkServerOptions& options) {
  rlimit files{};
  if (getrlimit(RLIMIT_NOFILE, &files) == 0) {
    files.rlim_cur = files.rlim_max;
    setrlimit(RLIMIT_NOFILE, &files);
  }
  Front(options).run();
}

}  // namespace gdr::network
