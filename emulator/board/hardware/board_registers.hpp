// Access of a board to its registers, which are in memory that it shares with its host.
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>

#include "emulator/board/hardware/registers.hpp"

namespace gdr {

/// The registers of a board. The host may write to all of the shared memory at any time: the board
/// never reads its own registers there, but a copy.
class BoardRegisters {
 public:
  /// `bar` has bar_bytes and outlives this object.
  explicit BoardRegisters(std::byte* bar) noexcept : bar_(bar) {}

  /// A register of the host.
  std::uint64_t read(Register r,
                     std::memory_order order = std::memory_order_seq_cst) const noexcept {
    return shared(r).load(order);
  }
  /// The value of a register of the board.
  std::uint64_t own(Register r) const noexcept { return own_[index(r)]; }
  void put(Register r, std::uint64_t value) noexcept { store(r, value, std::memory_order_release); }
  /// Sequentially consistent with accesses of the host.
  void put_in_order(Register r, std::uint64_t value) noexcept {
    store(r, value, std::memory_order_seq_cst);
  }
  void increment(Register r, std::uint64_t by = 1) noexcept { put(r, own(r) + by); }
  /// Sets all registers of the board to zero.
  void clear() noexcept {
    for (std::size_t n = 0; n < own_.size(); ++n) put(static_cast<Register>(n * register_bytes), 0);
  }

  /// Increments the heartbeat; may be called by several threads.
  void send_heartbeat() const noexcept {
    shared(Register::Heartbeat).fetch_add(1, std::memory_order_relaxed);
  }
  bool reset_requested() const noexcept { return read(Register::Control) != own(Register::Resets); }

 private:
  static constexpr std::size_t register_bytes = sizeof(std::uint64_t);

  static constexpr std::size_t index(Register r) noexcept {
    return static_cast<std::size_t>(r) / register_bytes;
  }
  std::atomic_ref<std::uint64_t> shared(Register r) const noexcept {
    return std::atomic_ref(*reinterpret_cast<std::uint64_t*>(bar_ + static_cast<std::size_t>(r)));
  }
  void store(Register r, std::uint64_t value, std::memory_order order) noexcept {
    own_[index(r)] = value;
    shared(r).store(value, order);
  }

  std::byte* bar_;
  std::array<std::uint64_t, host_registers / register_bytes>
      own_{};  ///< values that the board has written
};

}  // namespace gdr
