// How the driver reaches a board: its registers, memory that both can reach, and interrupts. All
// that differs between a board server in another process and a device node stands behind this.
#pragma once

#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>

#include "emulator/board/hardware/dma_space.hpp"
#include "emulator/board/hardware/registers.hpp"
#include "gdr/error.hpp"

namespace gdr::driver {

/// A board that cannot be used any more: its server died, it is stuck, or transfers keep failing.
/// What it was doing may be done by another one.
class BoardLost : public Error {
 public:
  explicit BoardLost(const std::string& message) : Error(ErrorCategory::Device, message) {}
};

enum class Woken {
  Interrupt,
  Timeout,
  Gone,  ///< the board will never answer
};

class BoardAccess {
 public:
  virtual ~BoardAccess() = default;

  /// The board's registers, bar_bytes of them.
  virtual std::byte* bar() noexcept = 0;
  /// Memory that the board reaches, at least `bytes`. Throws Error (Device) where there is none.
  virtual DmaArea allocate(std::uint64_t bytes) = 0;
  virtual void release(const DmaArea& area) noexcept = 0;
  /// More than this cannot be allocated at once.
  virtual std::uint64_t largest_area() const noexcept = 0;
  /// The doorbell was written and the board sleeps: wake it.
  virtual void signal_doorbell() noexcept = 0;
  /// Wait for an interrupt.
  virtual Woken wait(std::chrono::nanoseconds most) = 0;
  /// What it is and where: "board 0 of /run/gdr/board.socket".
  virtual const std::string& name() const noexcept = 0;

  std::uint64_t read(Register r) noexcept { return at(r).load(std::memory_order_seq_cst); }
  void write(Register r, std::uint64_t value) noexcept {
    // A plain store, and in order with the reads behind it: boards need know no locked accesses.
    at(r).store(value, std::memory_order_release);
    std::atomic_thread_fence(std::memory_order_seq_cst);
  }

 private:
  std::atomic_ref<std::uint64_t> at(Register r) noexcept {
    return std::atomic_ref(*reinterpret_cast<std::uint64_t*>(bar() + static_cast<std::size_t>(r)));
  }
};

/// How a client asks a board server for a board.
struct ServerRequest {
  std::string engine, isa;    ///< empty: whatever it has
  double queue_seconds = 30;  ///< how long to wait for one that is taken
};

/// A board of the server at `path`. Waits while all are taken. Throws Error (Device, Usage).
std::unique_ptr<BoardAccess> open_server_board(const std::string& path,
                                               const ServerRequest& request);

/// What a server says about itself, without taking a board.
struct ServerState {
  unsigned boards = 0, free = 0;
  std::string text;
};
ServerState ask_server(const std::string& path);

/// The socket that is meant where no path is given: GDR_SOCKET, else $XDG_RUNTIME_DIR/gdr.socket,
/// else /tmp/gdr-UID.socket.
std::string default_socket();

}  // namespace gdr::driver
