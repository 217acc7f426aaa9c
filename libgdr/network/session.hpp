// A session: messages in both directions over several streams, each of which survives its TCP
// connections. A message is cut into frames that any stream may carry, and messages are delivered
// in the order of send(). The sender keeps a frame until the other host has received it. After a
// connection broke, the other streams take over its frames; without others the next connection of
// the same stream repeats what is missing.
//
// All members belong to the thread that runs the io_context (event_loop.hpp).
#pragma once

#include <asio/awaitable.hpp>
#include <asio/io_context.hpp>
#include <asio/steady_timer.hpp>
#include <chrono>
#include <cstddef>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "libgdr/network/connection.hpp"
#include "libgdr/network/protocol.hpp"

namespace gdr::network {

using Clock = std::chrono::steady_clock;

/// Messages up to this size are sent when they are given to a session whose connection is free,
/// without handlers of the event loop.
constexpr std::size_t max_bytes_at_once = 16 << 10;

/// Counters of a stream since the session began.
struct StreamCounters {
  std::uint64_t bytes_sent = 0, bytes_received = 0;    ///< size of frames, repeated ones included
  std::uint64_t frames_sent = 0, frames_received = 0;  ///< number of sequenced frames
  std::uint64_t frames_repeated = 0;  ///< sent again after a connection broke, by any stream
  std::uint64_t connections = 0;
};

struct SessionEvents {
  std::function<void(Bytes&&)> message;         ///< handler of a message that has arrived
  std::function<void(std::uint64_t)> urgent;    ///< handler of a number that has overtaken messages
  std::function<void(const std::string&)> end;  ///< the session ended, with the reason; once
  /// The other host has received so many bytes of messages more.
  std::function<void(std::uint64_t)> received = {};
};

class Session {
 public:
  /// Incomplete messages of the other host may have `max_message_bytes` together; more violate the
  /// protocol, which ends the session.
  Session(asio::io_context& io, std::uint64_t max_message_bytes, SessionEvents events);
  Session(const Session&) = delete;
  Session& operator=(const Session&) = delete;

  /// A session has one stream at first.
  void add_streams(unsigned count);
  /// Limits the rate of all streams together; those that have a connection share it.
  void set_pacing(double bytes_per_second);

  void send(Bytes message);
  void send_urgent(std::uint64_t number);
  /// Tells the other host that the session ends, and ends it here once that is acknowledged.
  void finish();
  /// Ends the session here.
  void end(const std::string& reason);
  bool ended() const noexcept { return ended_; }

  /// Sends and receives frames until the connection breaks or the session ends, and returns why.
  /// `peer_received`: sequenced frames of this stream that the other host has. A new connection of
  /// a stream replaces an earlier one. `greeting`, if any, reads what precedes the first frame of
  /// the other host, while frames are sent already; its exception ends the connection.
  asio::awaitable<std::string> run(unsigned stream, Connection& connection,
                                   std::uint64_t peer_received,
                                   std::function<asio::awaitable<void>()> greeting = {});

  /// Ends the connection of a stream, if it has one, and returns the number of sequenced frames
  /// that have been received, for the greeting of its next connection.
  std::uint64_t end_connection(unsigned stream);
  unsigned streams() const noexcept { return static_cast<unsigned>(streams_.size()); }
  /// Whether a stream has a connection.
  bool connected(unsigned stream) const { return streams_.at(stream).connection != nullptr; }
  bool uses(unsigned stream, const Connection& connection) const {
    return streams_.at(stream).connection == &connection;
  }
  /// When the first stream that has no connection lost it; nothing while all have one.
  std::optional<Clock::time_point> broken_since() const;
  /// Bytes of messages that the other host has not received completely.
  std::uint64_t unsent_bytes() const noexcept { return unsent_bytes_; }
  const StreamCounters& counters(unsigned stream) const { return streams_.at(stream).counters; }
  /// The socket of a stream; -1 without a connection.
  int socket(unsigned stream) const;

 private:
  struct Outgoing {
    std::uint64_t number = 0;
    std::shared_ptr<const Bytes> bytes;
    std::size_t cut = 0;  ///< bytes that are in frames
  };
  struct Frame {
    FrameHeader header;
    std::shared_ptr<const Bytes> bytes;  ///< data of the message; null: none
  };
  /// A frame on its way to the system.
  struct Sending {
    Frame frame;
    std::size_t done = 0;  ///< bytes of header and data that the system has taken
  };
  struct Stream {
    explicit Stream(asio::io_context& io) : wake(io), late(io) {}
    std::uint64_t sequence = 0;       ///< sequence number of the last frame that was made
    std::uint64_t received = 0;       ///< sequenced frames from the other host
    std::uint64_t told = 0;           ///< value of `received` that the other host was told
    std::deque<Frame> pending;        ///< frames that are not acknowledged, in order
    std::size_t written = 0;          ///< frames of `pending` sent on the current connection
    std::deque<FrameHeader> control;  ///< Pong frames to send
    Connection* connection = nullptr;
    std::optional<Sending> sending;
    bool writer_waits = false;    ///< whether write_frames waits for `wake`
    Clock::time_point last_ping;  ///< time of the last ping on this connection
    asio::steady_timer wake;      ///< cancelled when there is something to send
    asio::steady_timer late;      ///< latest time to acknowledge frames that arrived
    bool late_runs = false;       ///< whether `late` has a time
    bool late_is_over = false;
    Clock::time_point heard, broken = Clock::now();
    StreamCounters counters;
  };
  /// A message that has not arrived completely.
  struct Incoming {
    Bytes bytes;
    std::size_t received = 0;
    std::vector<bool> frames;          ///< those that have arrived
    std::vector<Connection*> writers;  ///< connections of which a frame is being read
  };
  class FrameTarget;

  void wake_all();
  void share_pacing();
  void move_frames(Stream& s);
  void send_at_once(Stream& s);
  void acknowledge(Stream& s, std::uint64_t received);
  bool make_frame(Stream& s);
  bool choose_frame(Stream& s);
  Wait send_frame(Stream& s, Connection& connection);
  void add_control(Stream& s, FrameKind kind);
  asio::awaitable<void> write_frames(Stream& s, Connection& connection);
  asio::awaitable<void> read_frames(Stream& s, Connection& connection);
  asio::awaitable<void> read_data(Stream& s, Connection& connection, void* to, std::size_t bytes);
  asio::awaitable<void> acknowledge_late(Stream& s, Connection& connection);
  asio::awaitable<void> watch(Stream& s, Connection& connection);
  Incoming* message_of(const FrameHeader& h);
  void complete(Stream& s, const FrameHeader& h);
  void deliver();

  asio::io_context& io_;
  std::deque<Stream> streams_;
  const std::uint64_t max_message_bytes_;
  SessionEvents events_;
  std::deque<Outgoing> outgoing_;
  std::deque<Frame> moved_;  ///< frames of broken connections, which go before `outgoing_`
  double pacing_ = 0;        ///< rate of all streams together, bytes per second; 0: no limit
  std::uint64_t sent_messages_ = 0, delivered_messages_ = 0;
  std::map<std::uint64_t, Incoming> incoming_;
  std::uint64_t unsent_bytes_ = 0;
  bool finishing_ = false, ended_ = false;
};

}  // namespace gdr::network
