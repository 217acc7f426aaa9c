// What two hosts send on a connection of a session: a greeting of fixed size each, then frames.
// All numbers are little-endian, as on all hosts that this library supports.
#pragma once

#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string>
#include <string_view>
#include <vector>

#include "emulator/isa/geometry.hpp"

namespace gdr::network {

static_assert(std::endian::native == std::endian::little);

constexpr std::uint64_t protocol_magic = 0x31746e6277656764;  // "dgewbnt1"
constexpr std::uint32_t protocol_version = 3;

using Bytes = std::vector<std::byte>;
using SessionId = std::array<std::uint64_t, 2>;  ///< random; zeros: a new session

template <std::size_t N>
using Text = std::array<char, N>;

template <std::size_t N>
void set_text(Text<N>& to, std::string_view from) {
  to = {};
  std::memcpy(to.data(), from.data(), std::min(from.size(), N - 1));
}
template <std::size_t N>
std::string get_text(const Text<N>& from) {
  return {from.data(), strnlen(from.data(), N)};
}

/// What a session is about.
enum class Subject : std::uint32_t {
  Board = 0,
  Files = 1,  ///< the server's files, and jobs on them (file_messages.hpp)
};

/// First bytes of a client on a connection.
struct Hello {
  std::uint64_t magic = protocol_magic;
  std::uint32_t version = protocol_version;
  std::uint32_t stream = 0;       ///< number of this stream in its session
  std::uint32_t pacing_auto = 0;  ///< option `pacing_auto` of TransferOptions
  Subject subject{};              ///< subject of a new session
  SessionId session = {};         ///< zeros: request for a board; only with stream 0
  std::uint64_t received = 0;     ///< sequenced frames received on this stream
  std::uint64_t window = 0;       ///< bytes in flight of a stream; 0: the system's choice
  double pacing = 0;              ///< bytes per second of all streams together; 0: none
  double queue_timeout = 0;       ///< longest time in the queue for a board, seconds
  double timeout = 0;             ///< heartbeat timeout of the board, seconds; 0: by its work
  Text<16> congestion = {};       ///< congestion control; empty: the system's default
  Text<64> engine = {};           ///< empty: the server's
  Text<16> isa = {};              ///< empty: the server's
};
static_assert(sizeof(Hello) == 176);

enum class Answer : std::uint32_t {
  Granted = 1,  ///< frames follow
  Waiting = 2,  ///< all boards are in use; another answer follows
  Refused = 3,  ///< refusal with the reason; the connection ends
  Unknown = 4,  ///< there is no such session any more; the connection ends
};

/// Answer of a server to a Hello.
struct Welcome {
  std::uint64_t magic = protocol_magic;
  Answer answer{};
  std::uint32_t category = 0;  ///< Refused: category of the error, as in the library
  SessionId session = {};
  std::uint64_t received = 0;  ///< sequenced frames received on this stream
  std::uint64_t max_bytes =
      0;  ///< maximum size of messages that the server has not answered yet, bytes
  std::uint64_t send_window = 0;  ///< bytes in flight that the server's system allows a stream
  std::uint64_t receive_window = 0;
  std::uint64_t capabilities = 0;  ///< register CAPABILITIES of the board
  Geometry geometry = {};
  Text<64> engine = {};
  Text<16> isa = {};
  Text<128> board = {};  ///< name of the board at its server
  Text<512> text = {};   ///< Refused: the reason
};

enum class FrameKind : std::uint32_t {
  Data = 1,         ///< part of a message, which may arrive again over other streams; sequenced
  Urgent = 2,       ///< a number that overtakes messages; sequenced
  End = 3,          ///< the session ends; sequenced
  Acknowledge = 4,  ///< nothing but `received`
  Ping = 5,         ///< requests a Pong
  Pong = 6,
  Moved = 7,  ///< stands for a frame that other streams have taken over; sequenced
};

struct FrameHeader {
  FrameKind kind{};
  std::uint32_t bytes = 0;     ///< size of the data behind the header, bytes
  std::uint64_t sequence = 0;  ///< sequenced frames count from 1 on each stream; others: 0
  std::uint64_t received = 0;  ///< sequenced frames received on this stream
  std::uint64_t message = 0;   ///< Data: number of the message, from 1; Urgent: the number
  std::uint64_t offset = 0;    ///< Data: place in the message
  std::uint64_t total = 0;     ///< Data: size of the message
};
static_assert(sizeof(FrameHeader) == 48);

constexpr std::size_t max_frame_bytes = std::size_t{128} << 10;
constexpr unsigned max_streams = 64;

}  // namespace gdr::network
