// What a board server and its clients say on their socket: messages of fixed size, in packets.
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "libgdr/driver/file.hpp"

namespace gdr::driver {

constexpr std::uint64_t wire_magic = 0x3165726577726467;  // "gdrwere1"

enum class MessageKind : std::uint32_t {
  Hello = 1,     ///< client: a board, please. text: "engine isa" that are asked for, "-" for any
  Waiting = 2,   ///< server: all are taken; `number` others are ahead
  Granted = 3,   ///< server: board `number`, with three files: registers, doorbell, interrupt
  Refused = 4,   ///< server: text says why; the connection ends
  Allocate = 5,  ///< client: `number` bytes of host memory that the board can reach
  Area = 6,      ///< server: `bytes` of them at bus address `number`, with a file
  NoArea = 7,    ///< server: text says why not
  Release = 8,   ///< client: the area at bus address `number` is not needed any more
  Ask = 9,       ///< client: what is there? Answered by one Told, then the connection ends
  Told = 10,     ///< server: `number` boards, `bytes` of them free; text: engine and machine
};

struct Message {
  std::uint64_t magic = wire_magic;
  MessageKind kind{};
  std::uint32_t version = 1;
  std::uint64_t number = 0;
  std::uint64_t bytes = 0;
  double seconds = 0;  ///< Hello: how long the client waits for a board
  char text[216] = {};
};
static_assert(sizeof(Message) == 256);

Message make_message(MessageKind kind, std::uint64_t number = 0, const std::string& text = {});
std::string message_text(const Message& message);

/// False if it could not be sent whole.
bool send_message(const File& socket, const Message& message, const std::vector<int>& files = {});

/// The next message; nothing when the other side has gone, or sent what is no message. Files that
/// come with it are appended.
std::optional<Message> receive_message(const File& socket, std::vector<File>& files);

/// A server that does not answer for so long has other troubles.
constexpr std::chrono::seconds answer_time{10};

/// The socket of a server where neither GDR_SOCKET nor XDG_RUNTIME_DIR says another one.
std::string socket_in_tmp();

/// A socket connected to a server, within answer_time. Throws Error (Device) saying what to do.
File connect_to(const std::string& path);

}  // namespace gdr::driver
