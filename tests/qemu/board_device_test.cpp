// The C interface with which the QEMU device runs the emulated board: registers, DMA, interrupts,
// resets. The computer is emulated here; tests/qemu/guest_test.py uses QEMU and a real kernel.
#include "emulator/board/qemu/board_device.h"

#include <chrono>
#include <condition_variable>
#include <cstring>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "emulator/board/board.hpp"
#include "gdr/gdr.hpp"
#include "qemu/raw_host.hpp"
#include "support/catch.hpp"

using namespace qemu_test;

namespace {

constexpr std::uint64_t bus = std::uint64_t{1} << 32;
constexpr const char* small = "chips=2,blocks=2,pes=4,dram=65536";

/// A computer with memory for DMA, and a board in a thread.
class Computer {
 public:
  explicit Computer(const char* engine = "vector", const char* geometry = small)
      : memory_(RawHost::memory_words) {
    const gdr_board_config config{engine, nullptr, geometry, 1};
    const gdr_board_host host{this, dma_read, dma_write, interrupt, log};
    char error[256] = "";
    board_ = gdr_board_create(&config, &host, error, sizeof(error));
    INFO(error);
    REQUIRE(board_ != nullptr);
    thread_ = std::thread(gdr_board_run, board_);
  }
  Computer(const Computer&) = delete;
  Computer& operator=(const Computer&) = delete;
  ~Computer() {
    release_reads();
    gdr_board_stop(board_);
    thread_.join();
    gdr_board_destroy(board_);
  }

  gdr_board* board() { return board_; }
  std::uint64_t read(Register r) const {
    return gdr_board_read(board_, static_cast<std::uint32_t>(r));
  }
  RawHost host() {
    return {{[this](Register r) { return read(r); },
             [this](Register r, std::uint64_t value) {
               gdr_board_write(board_, static_cast<std::uint32_t>(r), value);
             }},
            memory_.data(),
            bus};
  }

  /// Waits until a condition holds, for some seconds at most.
  template <typename Condition>
  bool wait_for(const Condition& condition) {
    std::unique_lock lock(mutex_);
    return changed_.wait_for(lock, std::chrono::seconds(20), condition);
  }
  /// Waits until a register has at least some value, for some seconds at most.
  bool wait_for_register(Register r, std::uint64_t value) const {
    const auto end = std::chrono::steady_clock::now() + std::chrono::seconds(20);
    while (read(r) < value) {
      if (std::chrono::steady_clock::now() > end) return false;
      std::this_thread::sleep_for(std::chrono::microseconds(100));
    }
    return true;
  }
  /// Waits until a list is complete or a queue has failed, which both raise an interrupt.
  bool wait_for_interrupts(unsigned n) {
    return wait_for([&] { return interrupts >= n; });
  }
  /// Reads of the payload wait until release_reads is called.
  void hold_reads() { held_ = true; }
  void release_reads() {
    const std::scoped_lock lock(mutex_);
    held_ = false;
    changed_.notify_all();
  }

  unsigned interrupts = 0, writes = 0;
  bool reading = false;  ///< a read is held
  std::string logged;

 private:
  static Computer& at(void* opaque) { return *static_cast<Computer*>(opaque); }
  /// The memory at a bus address, or null.
  std::byte* memory_at(std::uint64_t address, std::uint64_t bytes) {
    const std::uint64_t size = memory_.size() * word_bytes;
    if (address < bus || address - bus > size || bytes > size - (address - bus)) return nullptr;
    return reinterpret_cast<std::byte*>(memory_.data()) + (address - bus);
  }
  static int dma_read(void* opaque, std::uint64_t address, void* data, std::uint64_t bytes) {
    Computer& computer = at(opaque);
    std::unique_lock lock(computer.mutex_);
    const std::byte* const from = computer.memory_at(address, bytes);
    if (from == nullptr) return 1;
    std::memcpy(data, from, bytes);
    if (address != bus + RawHost::payload_at || !computer.held_) return 0;
    computer.reading = true;
    computer.changed_.notify_all();
    computer.changed_.wait(lock, [&] { return !computer.held_; });
    return 0;
  }
  static int dma_write(void* opaque, std::uint64_t address, const void* data, std::uint64_t bytes) {
    Computer& computer = at(opaque);
    const std::scoped_lock lock(computer.mutex_);
    ++computer.writes;
    std::byte* const to = computer.memory_at(address, bytes);
    if (to == nullptr) return 1;
    std::memcpy(to, data, bytes);
    return 0;
  }
  static void interrupt(void* opaque) {
    Computer& computer = at(opaque);
    const std::scoped_lock lock(computer.mutex_);
    ++computer.interrupts;
    computer.changed_.notify_all();
  }
  static void log(void* opaque, const char* text) {
    Computer& computer = at(opaque);
    const std::scoped_lock lock(computer.mutex_);
    computer.logged += std::string(text) + "\n";
  }

  std::vector<std::uint64_t> memory_;
  std::mutex mutex_;
  std::condition_variable changed_;
  bool held_ = false;
  gdr_board* board_ = nullptr;
  std::thread thread_;
};

void start(Computer& computer, RawHost& host) {
  host.reset();
  gdr_board_write(computer.board(), GDR_BOARD_INTERRUPT_MASK, 1);
}

std::string creation_error(const gdr_board_config& config) {
  const gdr_board_host host{};
  char error[256] = "";
  CHECK(gdr_board_create(&config, &host, error, sizeof(error)) == nullptr);
  return error;
}

bool contains(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

}  // namespace

TEST_CASE("a board behind the C interface executes lists and raises interrupts") {
  CHECK(gdr_board_interface() == GDR_BOARD_INTERFACE);
  Computer computer;
  CHECK(computer.read(Register::Identity) == board_identity);
  CHECK(computer.read(Register::Chips) == 2);
  RawHost host = computer.host();
  start(computer, host);
  for (unsigned n = 1; n <= 20; ++n) {
    host.submit(host.prepare(1000 * n));
    REQUIRE(computer.wait_for_interrupts(n));
    REQUIRE(host.completed());
    CHECK(host.completion().status == CompletionStatus::Done);
    CHECK(host.has_results(1000 * n));
  }
  CHECK(computer.read(Register::Interrupts) == 20);
  gdr_board_write(computer.board(), 0x100, 77);  // a register of the board
  CHECK(computer.read(Register::Status) == status_ready);
  CHECK(computer.logged.empty());
}

TEST_CASE("DMA outside of the mapped memory fails the descriptor or the ring, until a reset") {
  Computer computer;
  RawHost host = computer.host();
  start(computer, host);
  const std::uint64_t outside = bus + RawHost::memory_words * word_bytes - 8;
  const auto submit = [&](std::uint64_t Descriptor::*address, std::uint64_t value) {
    const unsigned before = computer.interrupts;
    Descriptor d = host.prepare(5);
    d.*address = value;
    d.flags = descriptor_resume;
    host.submit(d);
    REQUIRE(computer.wait_for_interrupts(before + 1));
  };
  for (const auto address : {&Descriptor::commands, &Descriptor::payload, &Descriptor::results})
    for (const std::uint64_t value : {outside, bus + 4, ~std::uint64_t{7}}) {
      submit(address, value);
      REQUIRE(host.completed());
      CHECK(host.completion().status == CompletionStatus::BadAddress);
      CHECK(host.completion().result_words == 0);
      CHECK((computer.read(Register::Status) & status_halted) != 0);
    }
  submit(&Descriptor::completion, outside);
  CHECK_FALSE(host.completed());
  CHECK((computer.read(Register::Status) & status_failed) != 0);
  CHECK(contains(computer.logged, "an address is outside of the memory mapped for the board"));
  CHECK(contains(computer.logged, "a completion is outside of the mapped memory"));
  start(computer, host);
  submit(&Descriptor::completion, bus + RawHost::completion_at);
  CHECK(host.has_results(5));
}

TEST_CASE("a bus reset ends a list without completion, interrupt or further DMA") {
  Computer computer;
  RawHost host = computer.host();
  start(computer, host);
  computer.hold_reads();
  host.submit(host.prepare(1));
  REQUIRE(computer.wait_for([&] { return computer.reading; }));
  gdr_board_reset(computer.board());
  CHECK(computer.read(Register::InterruptMask) == 0);
  CHECK(computer.read(Register::RingBase) == 0);
  CHECK(computer.read(Register::Control) != computer.read(Register::Resets));
  computer.release_reads();
  while (computer.read(Register::Control) != computer.read(Register::Resets)) {
  }
  CHECK(computer.read(Register::Head) == 0);
  CHECK(computer.writes == 0);
  CHECK(computer.interrupts == 0);
  CHECK(host.completion().sequence == 0);
  start(computer, host);
  host.submit(host.prepare(77));
  REQUIRE(computer.wait_for_interrupts(1));
  CHECK(host.has_results(77));
}

TEST_CASE("a reset ends a running list, which could take an hour") {
  Computer computer("reference", nullptr);
  RawHost host = computer.host();
  start(computer, host);
  const Kernel gravity = Kernel::builtin("gravity");
  CommandList list;
  list.commands.resize(2);
  Command& load = list.commands[0];
  load.kind = CommandKind::LoadProgram;
  load.count = gravity.program_object().size();
  load.payload_words = (load.count + word_bytes - 1) / word_bytes;
  list.payload.resize(load.payload_words);
  std::memcpy(list.payload.data(), gravity.program_object().data(), load.count);
  Command& run = list.commands[1];
  run.kind = CommandKind::Run;
  run.chips = 15;
  run.count = 5'000'000;
  run.flags = run_start | run_end;
  const bool by_bus = GENERATE(false, true);
  INFO("reset by the bus: " << by_bus);
  host.submit(host.prepare(list));
  const std::uint64_t before = computer.read(Register::Heartbeat);
  REQUIRE(computer.wait_for_register(Register::Heartbeat, before + 3));
  REQUIRE_FALSE(host.completed());  // it runs
  const auto begin = std::chrono::steady_clock::now();
  if (by_bus) gdr_board_reset(computer.board());
  start(computer, host);
  CHECK(std::chrono::steady_clock::now() - begin < std::chrono::seconds(10));
  CHECK(host.completion().sequence == 0);
  CHECK(computer.read(Register::Lists) == 0);
  host.submit(host.prepare(3));
  REQUIRE(computer.wait_for([&] { return host.completed(); }));
  CHECK(host.has_results(3));
}

TEST_CASE("a board with invalid options is not created") {
  CHECK(contains(creation_error({"steam", nullptr, small, 1}), "steam"));
  CHECK(contains(creation_error({nullptr, nullptr, "chips=2,blocks=0", 1}), "geometry blocks=0: "));
  CHECK(contains(creation_error({nullptr, nullptr, "wheels=4", 1}), "geometry wheels=4: "));
  CHECK(contains(creation_error({nullptr, nullptr, "chips", 1}), "geometry chips: "));
}
