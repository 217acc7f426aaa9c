// An emulated board behind the C interface for emulators of computers.
#include "emulator/board/qemu/board_device.h"

#include <algorithm>
#include <array>
#include <atomic>
#include <condition_variable>
#include <exception>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>

#include "emulator/board/hardware/hardware.hpp"
#include "gdr/error.hpp"

static_assert(GDR_BOARD_BAR_BYTES == gdr::bar_bytes);
static_assert(GDR_BOARD_INTERRUPT_MASK == static_cast<int>(gdr::Register::InterruptMask));

namespace {

using namespace gdr;

/// Registers that host and board share.
class SharedRegisters {
 public:
  std::byte* bytes() noexcept { return reinterpret_cast<std::byte*>(words_.data()); }
  std::uint64_t load(std::uint32_t offset) const noexcept {
    return std::atomic_ref(words_[offset / word_bytes]).load();
  }
  void store(std::uint32_t offset, std::uint64_t value) noexcept {
    std::atomic_ref(words_[offset / word_bytes]).store(value);
  }
  std::uint64_t load(Register r) const noexcept { return load(static_cast<std::uint32_t>(r)); }
  bool reset_requested() const noexcept {
    return load(Register::Control) != load(Register::Resets);
  }

 private:
  alignas(64) mutable std::array<std::uint64_t, bar_bytes / word_bytes> words_{};
};

/// Host memory behind the computer's bus, where only a transfer shows what is mapped.
class BusMemory final : public HostMemory {
 public:
  BusMemory(const gdr_board_host& host, const SharedRegisters& registers)
      : host_(host), registers_(registers) {}

  bool contains(std::uint64_t bus, std::uint64_t count) const noexcept override {
    if (count == 0) return true;
    return bus % word_bytes == 0 && count <= max_words && bus <= ~(count * word_bytes);
  }
  std::optional<std::uint64_t> read(std::uint64_t bus,
                                    std::span<std::uint64_t> to) noexcept override {
    if (to.empty()) return checksum(to);
    if (registers_.reset_requested() ||
        host_.dma_read(host_.opaque, bus, to.data(), to.size_bytes()) != 0)
      return {};
    return checksum(to);
  }
  std::optional<std::uint64_t> write(std::uint64_t bus,
                                     std::span<const std::uint64_t> from) noexcept override {
    if (from.empty()) return checksum(from);
    if (registers_.reset_requested() ||
        host_.dma_write(host_.opaque, bus, from.data(), from.size_bytes()) != 0)
      return {};
    return checksum(from);
  }
  bool publish(std::uint64_t bus, std::uint64_t word) noexcept override {
    return write(bus, {&word, 1}).has_value();
  }

 private:
  /// Words of a transfer, 1 GiB: more than drivers map at once, and a limit of what a host can make
  /// this process allocate.
  static constexpr std::uint64_t max_words = std::uint64_t{1} << 27;

  const gdr_board_host& host_;
  const SharedRegisters& registers_;
};

/// A text that may be null.
std::string_view text_of(const char* text) noexcept { return text != nullptr ? text : ""; }

/// Parses "name=value,name=value". Throws Error (Usage).
Geometry parse_geometry(std::string_view text) {
  Geometry geometry;
  while (!text.empty()) {
    const std::string_view setting = text.substr(0, text.find(','));
    const std::size_t equals = std::min(setting.find('='), setting.size());
    const std::string_view value = setting.substr(std::min(equals + 1, setting.size()));
    const std::string wrong = set_geometry_field(geometry, setting.substr(0, equals), value);
    if (!wrong.empty())
      throw Error(ErrorCategory::Usage, "geometry " + std::string(setting) + ": " + wrong);
    text.remove_prefix(std::min(setting.size() + 1, text.size()));
  }
  return geometry;
}

HardwareConfig hardware_config(const gdr_board_config& config) {
  return {parse_geometry(text_of(config.geometry)),
          make_engine(text_of(config.engine), text_of(config.isa)), config.threads};
}

}  // namespace

struct gdr_board {
  gdr_board(const gdr_board_config& config, const gdr_board_host& functions)
      : host(functions),
        memory(host, registers),
        hardware(hardware_config(config), registers.bytes(), memory,
                 {[this] { host.interrupt(host.opaque); },
                  [this](const std::string& text) { host.log(host.opaque, text.c_str()); }}) {}

  void wake() {
    { const std::scoped_lock lock(mutex); }  // the thread checks for work, or waits already
    changed.notify_one();
  }

  gdr_board_host host;
  SharedRegisters registers;
  BusMemory memory;
  BoardHardware hardware;
  std::mutex mutex;
  std::condition_variable changed;
  std::atomic<bool> stopped = false;
};

unsigned gdr_board_interface(void) { return GDR_BOARD_INTERFACE; }

gdr_board* gdr_board_create(const gdr_board_config* config, const gdr_board_host* host, char* error,
                            std::size_t error_bytes) {
  try {
    return std::make_unique<gdr_board>(*config, *host).release();
  } catch (const std::exception& e) {
    const std::string_view text = e.what();
    if (error_bytes > 0) error[text.copy(error, error_bytes - 1)] = 0;
    return nullptr;
  }
}

void gdr_board_run(gdr_board* board) {
  while (!board->stopped) {
    if (board->hardware.step()) continue;
    std::unique_lock lock(board->mutex);
    board->changed.wait(lock, [&] { return board->stopped || board->hardware.has_work(); });
  }
}

void gdr_board_stop(gdr_board* board) {
  board->stopped = true;
  gdr_board_reset(board);
}

void gdr_board_destroy(gdr_board* board) { delete board; }

std::uint64_t gdr_board_read(const gdr_board* board, std::uint32_t offset) {
  return offset < bar_bytes ? board->registers.load(offset) : 0;
}

void gdr_board_write(gdr_board* board, std::uint32_t offset, std::uint64_t value) {
  if (offset < host_registers || offset >= bar_bytes) return;
  board->registers.store(offset, value);
  board->wake();
}

void gdr_board_reset(gdr_board* board) {
  constexpr auto control = static_cast<std::uint32_t>(Register::Control);
  // A request first: no DMA follows, and the board does not look at the other registers.
  board->registers.store(control, board->registers.load(Register::Resets) + 1);
  for (std::uint32_t offset = host_registers; offset < bar_bytes; offset += word_bytes)
    if (offset != control) board->registers.store(offset, 0);
  board->wake();
}
