// A host that drives a board without libgdr: it writes registers, ring and descriptors itself, one
// list at a time, in the board's queue.
#pragma once

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdint>
#include <cstring>
#include <functional>
#include <numeric>
#include <stdexcept>
#include <utility>

#include "emulator/board/command.hpp"
#include "emulator/board/hardware/checksum.hpp"
#include "emulator/board/hardware/descriptor.hpp"
#include "emulator/board/hardware/registers.hpp"

namespace qemu_test {

using namespace gdr;

/// Access to the registers of a board.
struct RegisterAccess {
  std::function<std::uint64_t(Register)> read;
  std::function<void(Register, std::uint64_t)> write;
};

class RawHost {
 public:
  /// Words of host memory that a host needs.
  static constexpr std::size_t memory_words = std::size_t{1} << 16;
  /// Words that a list writes to the board's memory and reads back.
  static constexpr std::uint64_t list_words = 500;
  /// Byte offsets in the host memory.
  static constexpr std::uint64_t completion_at = 8192, commands_at = 16384, payload_at = 32768,
                                 results_at = 262144;

  RawHost(RegisterAccess registers, std::uint64_t* memory, std::uint64_t bus)
      : registers_(std::move(registers)), memory_(memory), bus_(bus) {}

  /// Requests a reset, and waits for it.
  void reset() {
    registers_.write(Register::RingBase, bus_);
    registers_.write(Register::RingEntries, entries);
    registers_.write(Register::Doorbell, 0);
    const std::uint64_t wanted = registers_.read(Register::Resets) + 1;
    registers_.write(Register::Control, wanted);
    const auto end = std::chrono::steady_clock::now() + std::chrono::seconds(20);
    while (registers_.read(Register::Resets) != wanted)
      if (std::chrono::steady_clock::now() > end)
        throw std::runtime_error("the board did not respond to a reset");
    sequence_ = 0;
  }

  /// A list that writes words to memory of chip 0 and reads them back.
  Descriptor prepare(std::uint64_t first_word) {
    CommandList list;
    list.payload.resize(list_words);
    std::iota(list.payload.begin(), list.payload.end(), first_word);
    Command write;
    write.kind = CommandKind::WriteMemory;
    write.chips = 1;
    write.count = list_words;
    write.payload_words = list_words;
    Command read = write;
    read.kind = CommandKind::ReadMemory;
    read.payload_words = 0;
    list.commands = {write, read};
    return prepare(list);
  }
  /// The descriptor of a list, which is copied to the host memory.
  Descriptor prepare(const CommandList& list) {
    const std::uint64_t command_words = list.commands.size() * sizeof(Command) / word_bytes;
    std::memcpy(at(commands_at), list.commands.data(), command_words * word_bytes);
    std::ranges::copy(list.payload, at(payload_at));
    std::fill_n(at(results_at), list_words, 0);
    Descriptor d;
    d.kind = DescriptorKind::Execute;
    d.commands = bus_ + commands_at;
    d.command_count = list.commands.size();
    d.payload = bus_ + payload_at;
    d.payload_words = list.payload.size();
    d.data_checksum = join_checksums(checksum({at(commands_at), command_words}),
                                     checksum({at(payload_at), list.payload.size()}));
    d.results = bus_ + results_at;
    d.result_words = list_words;
    d.completion = bus_ + completion_at;
    return d;
  }

  /// Writes a descriptor to the ring, and the doorbell.
  void submit(Descriptor d) {
    d.sequence = ++sequence_;
    d.checksum = checksum(as_words(d).first(15));
    std::memset(at(completion_at), 0, sizeof(Completion));
    std::memcpy(at((d.sequence - 1) % entries * sizeof(d)), &d, sizeof(d));
    std::atomic_thread_fence(std::memory_order_seq_cst);
    registers_.write(Register::Doorbell, sequence_);
  }

  /// Whether the board has written the completion of the last descriptor.
  bool completed() const {
    return std::atomic_ref(*at(completion_at)).load(std::memory_order_acquire) == sequence_;
  }
  Completion completion() const {
    Completion c;
    std::memcpy(as_words(c).data(), at(completion_at), sizeof(c));
    return c;
  }
  /// Whether the results are the words from `first_word` on.
  bool has_results(std::uint64_t first_word) const {
    for (std::uint64_t k = 0; k < list_words; ++k)
      if (at(results_at)[k] != first_word + k) return false;
    return true;
  }

 private:
  static constexpr std::uint64_t entries = 8;
  std::uint64_t* at(std::uint64_t offset) const { return memory_ + offset / word_bytes; }

  RegisterAccess registers_;
  std::uint64_t* memory_;
  std::uint64_t bus_;
  std::uint64_t sequence_ = 0;
};

}  // namespace qemu_test
