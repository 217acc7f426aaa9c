// Access to a board: registers, shared memory and interrupts. The interface hides whether the board
// belongs to a board server in another process or is a device node.
#pragma once

#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <stop_token>
#include <string>

#include "emulator/board/hardware/descriptor.hpp"
#include "emulator/board/hardware/host_memory.hpp"
#include "emulator/board/hardware/registers.hpp"
#include "libgdr/driver/file.hpp"

namespace gdr::driver {

/// A board failed permanently: its server ended, it is stuck, or transfers remain corrupt. Its work
/// can be repeated on another board.
class BoardFailure : public Error {
 public:
  explicit BoardFailure(const std::string& message) : Error(ErrorCategory::Device, message) {}
};

enum class WaitResult {
  Interrupt,
  Timeout,
  Disconnected,  ///< the board does not respond any more
};

class BoardAccess {
 public:
  virtual ~BoardAccess() = default;

  /// The board's registers, of bar_bytes bytes.
  virtual std::byte* bar() noexcept = 0;
  /// Allocates at least `bytes` of memory that the board can access. Throws Error (Device) on
  /// failure.
  virtual DmaArea allocate(std::uint64_t bytes) = 0;
  virtual void release(const DmaArea& area) noexcept = 0;
  /// Maximum size of an allocation, in bytes.
  virtual std::uint64_t largest_area() const noexcept = 0;
  /// Wakes a sleeping board after a write to a doorbell.
  virtual void signal_doorbell() noexcept = 0;
  /// Waits for an interrupt, at most `limit`.
  virtual WaitResult wait(std::chrono::nanoseconds limit) = 0;
  /// Name and location, for messages: "board 0 of /run/gdr/board.socket".
  virtual const std::string& name() const noexcept = 0;

  std::uint64_t read(Register r) noexcept { return at(r).load(std::memory_order_seq_cst); }
  void write(Register r, std::uint64_t value) noexcept {
    // A plain store and a fence, because buses do not support locked accesses.
    at(r).store(value, std::memory_order_release);
    std::atomic_thread_fence(std::memory_order_seq_cst);
  }

 private:
  std::atomic_ref<std::uint64_t> at(Register r) noexcept {
    return std::atomic_ref(*reinterpret_cast<std::uint64_t*>(bar() + static_cast<std::size_t>(r)));
  }
};

/// Request of a client to a board server.
struct ServerRequest {
  std::string engine, isa;    ///< empty: those of the server
  double queue_timeout = 30;  ///< maximum time in the queue for a board
  std::stop_token stop = {};  ///< gives up the place in the queue
};

/// Opens a board of the server at `path`. Waits while all boards are in use. Throws Error (Device,
/// Usage), and Cancelled within a tenth of a second after `stop`.
std::unique_ptr<BoardAccess> open_server_board(const std::string& path,
                                               const ServerRequest& request);

/// Number of boards of a server and their description.
struct ServerStatus {
  unsigned boards = 0, free = 0;
  std::string text;
};
/// Queries a server without opening a board. Throws Error (Device, Usage).
ServerStatus query_server(const std::string& path);

/// The default socket: GDR_SOCKET, else $XDG_RUNTIME_DIR/gdr.socket,
/// else /tmp/gdr-UID.socket.
std::string default_socket();

}  // namespace gdr::driver
