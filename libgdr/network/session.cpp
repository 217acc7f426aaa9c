#include "libgdr/network/session.hpp"

#include <algorithm>
#include <asio/buffer.hpp>
#include <asio/co_spawn.hpp>
#include <asio/detached.hpp>
#include <asio/redirect_error.hpp>
#include <asio/use_awaitable.hpp>
#include <limits>
#include <utility>

#include "libgdr/network/socket_options.hpp"

namespace gdr::network {
namespace {

constexpr std::chrono::seconds ping_interval{2};
/// A connection on which nothing arrives for this time is broken: the other host sends at least a
/// Ping or Pong every two seconds.
constexpr std::chrono::seconds longest_silence{10};
constexpr std::size_t max_control_frames = 16;
/// Frames that arrived are acknowledged with the next frame that is sent, after this time, or once
/// there are so many. An acknowledgement of its own costs each host some calls of the system and a
/// wake-up, as much as half of a small call.
constexpr std::chrono::milliseconds acknowledge_delay{5};
constexpr std::uint64_t max_unacknowledged = 16;
/// A connection that transfers more than this without a wait lets others have their turn.
constexpr std::size_t bytes_of_turn = 64 << 10;

/// Number of frames of a message.
constexpr std::size_t frame_count(std::size_t bytes) {
  return std::max<std::size_t>(1, (bytes + max_frame_bytes - 1) / max_frame_bytes);
}

/// The other host violates the protocol.
struct Violation : std::runtime_error {
  using std::runtime_error::runtime_error;
};

}  // namespace

/// Where the data of a frame goes: into its message, or nowhere if it has arrived before. The
/// message is not delivered while such an object refers to it.
class Session::FrameTarget {
 public:
  FrameTarget(Incoming* message, const FrameHeader& h, Connection& connection)
      : message_(message), connection_(connection) {
    if (message_ == nullptr) {
      ignored_.resize(h.bytes);
      return;
    }
    message_->writers.push_back(&connection);
    place_ = message_->bytes.data() + h.offset;
  }
  FrameTarget(const FrameTarget&) = delete;
  FrameTarget& operator=(const FrameTarget&) = delete;
  ~FrameTarget() {
    if (message_ != nullptr) std::erase(message_->writers, &connection_);
  }
  std::byte* data() noexcept { return message_ != nullptr ? place_ : ignored_.data(); }

 private:
  Incoming* message_;
  Connection& connection_;
  std::byte* place_ = nullptr;
  Bytes ignored_;
};

Session::Session(asio::io_context& io, std::uint64_t max_message_bytes, SessionEvents events)
    : io_(io), max_message_bytes_(max_message_bytes), events_(std::move(events)) {
  streams_.emplace_back(io);
}

void Session::add_streams(unsigned count) {
  while (streams_.size() < count) streams_.emplace_back(io_);
}

void Session::set_pacing(double bytes_per_second) {
  pacing_ = bytes_per_second;
  share_pacing();
}

void Session::share_pacing() {
  if (pacing_ <= 0) return;
  const auto connected =
      std::ranges::count_if(streams_, [](const Stream& s) { return s.connection != nullptr; });
  for (const Stream& s : streams_)
    if (s.connection != nullptr)
      gdr::network::set_pacing(s.connection->socket().native_handle(),
                               pacing_ / static_cast<double>(connected));
}

void Session::wake_all() {
  for (Stream& s : streams_) s.wake.cancel();
}

void Session::send(Bytes message) {
  const std::size_t bytes = message.size();
  unsent_bytes_ += bytes;
  outgoing_.push_back({++sent_messages_, std::make_shared<const Bytes>(std::move(message)), 0});
  if (bytes > max_bytes_at_once) return wake_all();
  for (Stream& s : streams_) send_at_once(s);
}

/// Sends the frames of a stream whose writer has nothing to send, without a turn of the event loop.
void Session::send_at_once(Stream& s) {
  if (ended_ || s.connection == nullptr || !s.writer_waits) return;
  try {
    while (choose_frame(s))
      if (send_frame(s, *s.connection) != Wait::None) break;
  } catch (const std::exception&) {  // the writer finds the same error, and ends the connection
    s.wake.cancel();
  }
  if (s.sending) s.wake.cancel();
}

void Session::send_urgent(std::uint64_t number) {
  const auto connected =
      std::ranges::find_if(streams_, [](const Stream& s) { return s.connection != nullptr; });
  Stream& s = connected != streams_.end() ? *connected : streams_.front();
  FrameHeader h{.kind = FrameKind::Urgent, .sequence = ++s.sequence, .message = number};
  s.pending.push_back({h, nullptr});
  s.wake.cancel();
}

void Session::finish() {
  if (std::exchange(finishing_, true)) return;
  Stream& s = streams_.front();
  s.pending.push_back({{.kind = FrameKind::End, .sequence = ++s.sequence}, nullptr});
  s.wake.cancel();
}

void Session::end(const std::string& reason) {
  if (std::exchange(ended_, true)) return;
  for (Stream& s : streams_) {
    if (s.connection != nullptr) s.connection->close();
    s.wake.cancel();
    s.late.cancel();
  }
  if (events_.end) events_.end(reason);
}

int Session::socket(unsigned stream) const {
  Connection* const connection = streams_.at(stream).connection;
  return connection != nullptr ? connection->socket().native_handle() : -1;
}

std::uint64_t Session::end_connection(unsigned stream) {
  Stream& s = streams_.at(stream);
  if (s.connection != nullptr) {
    s.connection->close();
    s.connection = nullptr;
    s.broken = Clock::now();
  }
  return s.received;
}

std::optional<Clock::time_point> Session::broken_since() const {
  std::optional<Clock::time_point> first;
  for (const Stream& s : streams_)
    if (s.connection == nullptr && (!first || s.broken < *first)) first = s.broken;
  return first;
}

/// Forgets frames that the other host has received.
void Session::acknowledge(Stream& s, std::uint64_t received) {
  if (received > s.sequence) throw Violation("it acknowledges frames that were not sent");
  while (!s.pending.empty() && s.pending.front().header.sequence <= received) {
    const Frame& frame = s.pending.front();
    unsent_bytes_ -= frame.header.bytes;
    if (events_.received && frame.header.bytes > 0) events_.received(frame.header.bytes);
    if (frame.header.kind == FrameKind::End) end("finished");
    s.pending.pop_front();
    if (s.written > 0) --s.written;
  }
}

/// Gives the frames of a broken connection to the streams that have one, if there are any. Some may
/// have arrived: the other host ignores them.
void Session::move_frames(Stream& s) {
  if (ended_ || std::ranges::none_of(
                    streams_, [](const Stream& other) { return other.connection != nullptr; }))
    return;
  for (std::size_t k = 0; k < s.pending.size(); ++k) {
    Frame& frame = s.pending[k];
    if (frame.header.kind != FrameKind::Data && frame.header.kind != FrameKind::Urgent) continue;
    if (k < s.written) ++s.counters.frames_repeated;
    const FrameHeader instead{.kind = FrameKind::Moved, .sequence = frame.header.sequence};
    moved_.push_back(std::exchange(frame, {instead, nullptr}));
  }
  wake_all();
}

/// Makes the next frame of this stream: one of a broken connection, or a part of the messages to
/// send. False if there is none.
bool Session::make_frame(Stream& s) {
  if (!moved_.empty()) {
    moved_.front().header.sequence = ++s.sequence;
    s.pending.push_back(std::move(moved_.front()));
    moved_.pop_front();
    return true;
  }
  while (!outgoing_.empty() && outgoing_.front().cut == outgoing_.front().bytes->size() &&
         outgoing_.front().cut > 0)
    outgoing_.pop_front();
  if (outgoing_.empty()) return false;
  Outgoing& m = outgoing_.front();
  const std::size_t n = std::min(max_frame_bytes, m.bytes->size() - m.cut);
  FrameHeader h{.kind = FrameKind::Data,
                .bytes = static_cast<std::uint32_t>(n),
                .sequence = ++s.sequence,
                .message = m.number,
                .offset = m.cut,
                .total = m.bytes->size()};
  s.pending.push_back({h, m.bytes});
  m.cut += n;
  if (m.cut == m.bytes->size()) outgoing_.pop_front();
  return true;
}

void Session::add_control(Stream& s, FrameKind kind) {
  if (s.control.size() >= max_control_frames) throw Violation("it sends too many pings");
  s.control.push_back({.kind = kind});
  s.wake.cancel();
}

/// Chooses the next frame to send. False if there is none.
bool Session::choose_frame(Stream& s) {
  if (s.sending) return true;
  Frame frame;
  if (!s.control.empty()) {
    frame.header = s.control.front();
    s.control.pop_front();
  } else if (Clock::now() >= s.last_ping + ping_interval) {
    frame.header.kind = FrameKind::Ping;
    s.last_ping = Clock::now();
  } else if (s.written < s.pending.size() || make_frame(s)) {
    frame = s.pending[s.written++];
    ++s.counters.frames_sent;
  } else if (s.received - s.told >= max_unacknowledged ||
             (s.late_is_over && s.told != s.received)) {
    frame.header.kind = FrameKind::Acknowledge;
  } else {
    return false;
  }
  frame.header.received = s.told = s.received;
  s.late_is_over = false;
  s.sending.emplace(std::move(frame));
  return true;
}

/// Sends what the system takes of the chosen frame; returns what the rest waits for.
Wait Session::send_frame(Stream& s, Connection& connection) {
  Sending& sending = *s.sending;
  const FrameHeader& h = sending.frame.header;
  const Bytes* const data = sending.frame.bytes.get();
  const Buffers buffers{
      asio::buffer(&h, sizeof(h)),
      data ? asio::buffer(data->data() + h.offset, h.bytes) : asio::const_buffer()};
  const Progress p = connection.write_now(buffers, sending.done);
  sending.done += p.bytes;
  s.counters.bytes_sent += p.bytes;
  if (sending.done == sizeof(h) + h.bytes) s.sending.reset();
  return p.wait;
}

asio::awaitable<void> Session::write_frames(Stream& s, Connection& connection) {
  const auto current = [&] { return s.connection == &connection && !ended_; };
  std::uint64_t turn_began = s.counters.bytes_sent;
  while (current()) {
    if (!choose_frame(s)) {
      s.wake.expires_at(s.last_ping + ping_interval);
      asio::error_code ignored;
      s.writer_waits = true;
      co_await s.wake.async_wait(asio::redirect_error(asio::use_awaitable, ignored));
      // A later connection of the stream has a writer of its own.
      if (s.connection == &connection) s.writer_waits = false;
      turn_began = s.counters.bytes_sent;
      continue;
    }
    const Wait wait = send_frame(s, connection);
    if (wait != Wait::None) {
      co_await connection.ready(wait);
      turn_began = s.counters.bytes_sent;
    } else if (s.counters.bytes_sent - turn_began > bytes_of_turn) {
      co_await asio::post(io_, asio::use_awaitable);
      turn_began = s.counters.bytes_sent;
    }
  }
}

/// Reads the data of a frame, after what has been read ahead.
asio::awaitable<void> Session::read_data(Stream& s, Connection& connection, void* to,
                                         std::size_t bytes) {
  auto* const at = static_cast<std::byte*>(to);
  for (std::size_t done = 0; done < bytes;) {
    done += co_await connection.read_some(at + done, bytes - done);
    s.heard = Clock::now();
  }
}

/// The message to which the data of a frame belongs; null if it has been delivered. Throws
/// Violation for a frame that does not fit its message.
Session::Incoming* Session::message_of(const FrameHeader& h) {
  const bool fits = h.total <= max_message_bytes_ && h.offset % max_frame_bytes == 0 &&
                    h.offset < std::max<std::uint64_t>(1, h.total) &&
                    h.bytes == std::min<std::uint64_t>(max_frame_bytes, h.total - h.offset);
  if (!fits) throw Violation("it sends a frame that does not fit its message");
  if (h.message <= delivered_messages_) return nullptr;
  const auto found = incoming_.find(h.message);
  if (found != incoming_.end()) {
    Incoming& m = found->second;
    if (m.bytes.size() != h.total)
      throw Violation("it sends a frame that does not fit its message");
    return &m;
  }
  std::uint64_t sum = h.total;
  for (const auto& [number, m] : incoming_) sum += m.bytes.size();
  if (sum > max_message_bytes_ || incoming_.size() >= 4096)
    throw Violation("it sends messages of " + std::to_string(sum) + " bytes at once, more than " +
                    std::to_string(max_message_bytes_));
  Bytes bytes;
  try {
    bytes.resize(h.total);
  } catch (const std::bad_alloc&) {
    throw Violation("there is no memory for its message of " + std::to_string(h.total) + " bytes");
  }
  Incoming& m = incoming_[h.message];
  m.bytes = std::move(bytes);
  m.frames.resize(frame_count(h.total));
  return &m;
}

/// Delivers complete messages in order. A connection from which a frame of such a message is still
/// being read is broken, because other streams have taken over its frames; it is closed first.
void Session::deliver() {
  while (!ended_) {
    const auto next = incoming_.find(delivered_messages_ + 1);
    if (next == incoming_.end() || next->second.received < next->second.frames.size()) return;
    for (Connection* const writer : next->second.writers) writer->close();
    if (!next->second.writers.empty()) return;
    Bytes bytes = std::move(next->second.bytes);
    incoming_.erase(next);
    ++delivered_messages_;
    events_.message(std::move(bytes));
  }
}

/// Handles a frame whose data has arrived.
void Session::complete(Stream& s, const FrameHeader& h) {
  ++s.received;
  ++s.counters.frames_received;
  switch (h.kind) {
    case FrameKind::Data:
      if (const auto found = incoming_.find(h.message); found != incoming_.end()) {
        Incoming& m = found->second;
        const std::size_t frame = h.offset / max_frame_bytes;
        if (!m.frames[frame]) ++m.received;
        m.frames[frame] = true;
      }
      deliver();
      break;
    case FrameKind::Moved:
      break;
    case FrameKind::Urgent:
      if (events_.urgent) events_.urgent(h.message);
      break;
    default:
      finishing_ = true;
      break;
  }
}

asio::awaitable<void> Session::read_frames(Stream& s, Connection& connection) {
  std::size_t of_turn = 0;
  while (s.connection == &connection && !ended_) {
    FrameHeader h;
    while (!connection.take(&h, sizeof(h))) {
      co_await connection.read_ahead();
      s.heard = Clock::now();
    }
    if (s.connection != &connection) co_return;
    s.counters.bytes_received += sizeof(h);
    acknowledge(s, h.received);
    const bool has_data = h.kind == FrameKind::Data;
    if (!has_data && h.bytes != 0) throw Violation("it sends data in a frame that has none");
    switch (h.kind) {
      case FrameKind::Data:
      case FrameKind::Urgent:
      case FrameKind::End:
      case FrameKind::Moved:
        if (h.sequence != s.received + 1) throw Violation("its frames are not in order");
        // A message is complete only with its last frame, so an interrupted one is sent again.
        if (has_data) {
          FrameTarget to(message_of(h), h, connection);
          if (!connection.take(to.data(), h.bytes))
            co_await read_data(s, connection, to.data(), h.bytes);
          s.counters.bytes_received += h.bytes;
          of_turn += h.bytes;
        }
        if (s.connection != &connection) co_return;
        complete(s, h);
        if (h.kind == FrameKind::End) {
          end("the other host ended the session");
          co_return;
        }
        if (s.received - s.told >= max_unacknowledged) s.wake.cancel();
        if (!s.late_runs) s.late.cancel();
        break;
      case FrameKind::Ping:
        add_control(s, FrameKind::Pong);
        break;
      case FrameKind::Pong:
      case FrameKind::Acknowledge:
        break;
      default:
        throw Violation("it sends a frame of unknown kind");
    }
    of_turn += sizeof(h);
    if (of_turn > bytes_of_turn) {
      of_turn = 0;
      co_await asio::post(io_, asio::use_awaitable);
    }
  }
}

/// Acknowledges frames that no frame of this host has acknowledged within acknowledge_delay. The
/// timer runs on after frames have been acknowledged, because setting it is a call of the system.
asio::awaitable<void> Session::acknowledge_late(Stream& s, Connection& connection) {
  while (s.connection == &connection && !ended_) {
    s.late_runs = s.told != s.received;
    const std::uint64_t received = s.received;
    s.late.expires_at(s.late_runs ? Clock::now() + acknowledge_delay : Clock::time_point::max());
    asio::error_code ignored;
    co_await s.late.async_wait(asio::redirect_error(asio::use_awaitable, ignored));
    if (!s.late_runs || s.told >= received) continue;
    s.late_is_over = true;
    s.wake.cancel();
  }
}

/// Closes a connection on which nothing arrives.
asio::awaitable<void> Session::watch(Stream& s, Connection& connection) {
  asio::steady_timer timer(io_);
  while (s.connection == &connection && !ended_ && Clock::now() < s.heard + longest_silence) {
    timer.expires_after(std::chrono::milliseconds(500));
    co_await timer.async_wait(asio::use_awaitable);
  }
  if (s.connection == &connection) connection.close();
}

asio::awaitable<std::string> Session::run(unsigned stream, Connection& connection,
                                          std::uint64_t peer_received,
                                          std::function<asio::awaitable<void>()> greeting) {
  Stream& s = streams_.at(stream);
  const Clock::time_point broken = s.broken;
  bool greeted = !greeting;
  if (s.connection != nullptr) s.connection->close();
  s.connection = &connection;
  s.heard = Clock::now();
  s.control.clear();
  s.sending.reset();
  s.writer_waits = false;
  s.last_ping = Clock::time_point::min();
  s.told = s.received;
  ++s.counters.connections;
  std::string why;
  // The other parts of this connection end soon after its socket is closed.
  unsigned running = 0;
  asio::steady_timer all_done(io_, Clock::time_point::max());
  const auto done = [&](const std::exception_ptr& e) {
    connection.close();
    if (e && why.empty()) try {
        std::rethrow_exception(e);
      } catch (const std::exception& error) {
        why = error.what();
      }
    if (--running == 0) all_done.cancel();
  };
  try {
    acknowledge(s, peer_received);
    s.counters.frames_repeated += static_cast<std::uint64_t>(
        std::count_if(s.pending.begin(), s.pending.begin() + static_cast<std::ptrdiff_t>(s.written),
                      [](const Frame& f) { return f.header.kind != FrameKind::Moved; }));
    s.written = 0;
    share_pacing();
    running = 3;
    asio::co_spawn(io_, write_frames(s, connection), done);
    asio::co_spawn(io_, acknowledge_late(s, connection), done);
    asio::co_spawn(io_, watch(s, connection), done);
    if (greeting) co_await greeting();
    greeted = true;
    co_await read_frames(s, connection);
  } catch (const Violation& e) {
    why = e.what();
    end("the other host violates the protocol: " + why);
  } catch (const std::exception& e) {
    if (why.empty()) why = e.what();
  }
  connection.close();
  if (s.connection == &connection) {
    s.connection = nullptr;
    s.broken = greeted ? Clock::now() : broken;
    move_frames(s);
    share_pacing();
  }
  try {
    deliver();  // what has waited for the end of this connection
  } catch (const std::exception& e) {
    if (why.empty()) why = e.what();
  }
  s.wake.cancel();
  s.late.cancel();
  asio::error_code ignored;
  while (running > 0)
    co_await all_done.async_wait(asio::redirect_error(asio::use_awaitable, ignored));
  co_return why;
}

}  // namespace gdr::network
