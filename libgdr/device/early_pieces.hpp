// Items that are made in pieces, each once: by helpers ahead of time, or when they are needed.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <functional>
#include <memory>
#include <thread>
#include <utility>

#include "emulator/host/cpu_relax.hpp"

namespace gdr {

/// Any number of threads may call its members at once, but for `restart`.
class EarlyPieces {
 public:
  /// Begins with so many other items, of which none is made. `make`: makes items first ..
  /// first + count - 1. May throw; the items are not made then.
  void restart(std::size_t items, std::function<void(std::size_t first, std::size_t count)> make) {
    items_ = items;
    make_ = std::move(make);
    if (count() > room_) {
      states_ = std::make_unique<State[]>(count());
      room_ = count();
    }
    for (std::size_t k = 0; k < count(); ++k)
      states_[k].store(Progress::None, std::memory_order_relaxed);
  }

  std::size_t count() const noexcept { return (items_ + items_a_piece - 1) / items_a_piece; }
  /// Makes a piece, unless another thread has begun it. An error is left to who needs the piece.
  void make_early(std::size_t piece) noexcept {
    try {
      begin(piece);
    } catch (...) {
    }
  }
  /// Returns when these items are made. Throws the errors of `make`.
  void require(std::size_t first, std::size_t count) {
    for (std::size_t k = first / items_a_piece; k * items_a_piece < first + count; ++k)
      for (unsigned polls = 0; !begin(k); ++polls) wait(polls);
  }

 private:
  enum class Progress : unsigned char { None, Begun, Done };
  using State = std::atomic<Progress>;
  static constexpr std::size_t items_a_piece = 128;

  /// A piece takes some microseconds, unless the host has stopped the thread that makes it.
  static void wait(unsigned polls) noexcept {
    constexpr unsigned patient = 1000;
    if (polls < patient)
      cpu_relax();
    else
      std::this_thread::yield();
  }
  /// Makes a piece that no thread has begun; returns whether it is done.
  bool begin(std::size_t piece) {
    State& state = states_[piece];
    Progress seen = state.load(std::memory_order_acquire);
    if (seen == Progress::Done) return true;
    if (seen == Progress::Begun ||
        !state.compare_exchange_strong(seen, Progress::Begun, std::memory_order_acquire))
      return false;
    try {
      const std::size_t first = piece * items_a_piece;
      make_(first, std::min(items_a_piece, items_ - first));
    } catch (...) {
      state.store(Progress::None, std::memory_order_release);
      throw;
    }
    state.store(Progress::Done, std::memory_order_release);
    return true;
  }

  std::size_t items_ = 0;
  std::function<void(std::size_t, std::size_t)> make_;
  std::unique_ptr<State[]> states_;  ///< kept for its memory, since small calls are frequent
  std::size_t room_ = 0;
};

}  // namespace gdr
