// Protocol between a board server and its clients: messages of fixed size on a packet socket.
#pragma once

#include <sys/socket.h>
#include <sys/un.h>

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "libgdr/driver/file.hpp"

namespace gdr::driver {

constexpr std::uint64_t wire_magic = 0x3165726577726467;  // "gdrwere1"

enum class MessageKind : std::uint32_t {
  Hello = 1,     ///< client: requests a board; text: "engine isa", "-" for the server's
  Waiting = 2,   ///< server: all boards are in use; `number` clients are ahead in the queue
  Granted = 3,   ///< server: board `number`, with three files: registers, doorbell, interrupt
  Refused = 4,   ///< server: rejects the request, with the reason as text; the connection ends
  Allocate = 5,  ///< client: requests `number` bytes of host memory shared with the board
  Area = 6,      ///< server: `bytes` of memory at bus address `number`, with a file
  AllocationFailed = 7,  ///< server: no memory, with the reason as text
  Release = 8,           ///< client: releases the area at bus address `number`
  StatusRequest = 9,     ///< client: requests one StatusReply, then the connection ends
  StatusReply = 10,      ///< server: `number` boards, `bytes` of them free; text: geometry
};

struct Message {
  std::uint64_t magic = wire_magic;
  MessageKind kind{};
  std::uint32_t version = 1;
  std::uint64_t number = 0;
  std::uint64_t bytes = 0;
  double seconds = 0;  ///< Hello: maximum time in the queue
  char text[216] = {};
};
static_assert(sizeof(Message) == 256);

Message make_message(MessageKind kind, std::uint64_t number = 0, const std::string& text = {});
std::string message_text(const Message& message);

/// Sends a message with file descriptors. False on failure.
bool send_message(const File& socket, const Message& message, const std::vector<int>& files = {});

/// Receives a message and appends its files; nothing if the connection is closed or the message is
/// malformed.
std::optional<Message> receive_message(const File& socket, std::vector<File>& files);

/// Maximum time to wait for an answer of a server.
constexpr std::chrono::seconds answer_timeout{10};

/// The default socket if neither GDR_SOCKET nor XDG_RUNTIME_DIR is set.
std::string socket_in_tmp();

/// The address of a socket. Throws Error (Usage) if the path is empty or too long.
sockaddr_un socket_address(const std::string& path);

/// The process at the other end of a socket and its user; the user is -1 if unknown.
ucred peer_of(const File& socket);

/// Connects to a server within answer_timeout. Throws Error (Device).
File connect_to(const std::string& path);

}  // namespace gdr::driver
