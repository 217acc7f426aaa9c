// A board's registers, rings and DMA memory under a hostile host: the board accesses only memory
// that was mapped for it, does not write host-owned registers, ends its command lists, writes
// complete completions, and works again after a reset. The input is a script of the host's actions.
#include <algorithm>
#include <cstdint>
#include <cstring>
#include <memory>
#include <utility>
#include <vector>

#include "emulator/board/hardware/checksum.hpp"
#include "emulator/board/hardware/hardware.hpp"
#include "emulator/engine/api/engine.hpp"
#include "fuzz/check.hpp"
#include "gdr/kernel.hpp"

namespace {

using fuzz::check;
using namespace gdr;

constexpr std::uint64_t canary = 0x5ca1ab1e0ddba115;
constexpr std::size_t fence = 64;  ///< words around each area
/// Two DMA regions: one in the middle of the address space, one that ends at its last address.
constexpr std::size_t area_words[] = {4096, 512};
constexpr std::uint64_t area_bus[] = {0x10000, std::uint64_t{0} - 512 * word_bytes};
constexpr std::uint64_t entries = 8;
constexpr unsigned chips = 2;
// Layout of the first region: rings of all queues, commands, payload, results, completion.
constexpr std::uint64_t commands_at = 0x2000, payload_at = 0x3000, results_at = 0x5000,
                        completion_at = 0x7000;

/// The input, followed by zeros.
class Script {
 public:
  Script(const std::uint8_t* data, std::size_t size) : data_(data), end_(data + size) {}
  bool over() const { return data_ == end_; }
  std::uint64_t byte() { return over() ? 0 : *data_++; }
  /// An address: small, near a region's begin or end, near the largest number, or arbitrary.
  std::uint64_t number() {
    const std::uint64_t kind = byte();
    switch (kind % 8) {
      case 0:
        return byte();
      case 1:
        return area_bus[0] + byte() * word_bytes;
      case 2:
        return area_bus[0] + (area_words[0] - byte()) * word_bytes;
      case 3:
        return area_bus[1] + byte() * word_bytes;
      case 4:
        return area_bus[1] + (area_words[1] - byte()) * word_bytes;
      case 5:
        return std::uint64_t{0} - byte();
      case 6:
        return area_bus[0] + area_words[0] * word_bytes - byte();
      default: {
        std::uint64_t value = 0;
        for (int k = 0; k < 8; ++k) value = value << 8 | byte();
        return value;
      }
    }
  }

 private:
  const std::uint8_t* data_;
  const std::uint8_t* end_;
};

Geometry geometry() {
  Geometry g;
  g.chips_per_board = chips;
  g.blocks = 2;
  g.pes_per_block = 4;
  g.local_words = 32;
  g.broadcast_words = 64;
  g.dram_bytes = 4096;
  return g;
}

constexpr const char* kernel_text = R"(
.kernel fuzz
ivar long xi f64to72
jvar long xj f64to72
param long k f64to72
fvar long force f64to72 fadd at $lr24v
ovar long o f64to72 fadd
.start
    upass force 0
.body
    vlen 1
    bget $lr0 xj
    vlen 4
    fsub $lr8v $lr0 xi
    fadd force force $lr8v
    vlen 1
    bput o $lr8 0
)";

/// Words between guard words.
class Fenced {
 public:
  explicit Fenced(std::size_t words) : words_(words + 2 * fence, canary), size_(words) {
    std::fill_n(data(), words, 0);
  }
  std::uint64_t* data() { return words_.data() + fence; }
  std::byte* bytes() { return reinterpret_cast<std::byte*>(data()); }
  void check_fences() const {
    for (std::size_t k = 0; k < fence; ++k)
      check(words_[k] == canary && words_[fence + size_ + k] == canary,
            "a board writes only to mapped memory");
  }

 private:
  std::vector<std::uint64_t> words_;
  std::size_t size_;
};

class Host {
 public:
  Host() : bar_(bar_bytes / word_bytes), areas_{Fenced(area_words[0]), Fenced(area_words[1])} {
    for (int k = 0; k < 2; ++k) map_area(k);
    board_ =
        std::make_unique<BoardHardware>(HardwareConfig{geometry(), engine(), 1, 4096}, bar_.bytes(),
                                        space_, HardwareSignals{[this] { ++interrupts_; }, {}});
    begin();
  }

  void act(Script& script) {
    const std::uint64_t what = script.byte() % 8;
    if (what == 0 || what == 1 || what == 4) orderly_ = false;
    if (rung_ && what != 5) overlapped_ = true;  // the list may have been overwritten
    switch (what) {
      case 0: {  // a register, mostly one owned by the host
        const std::uint64_t r = script.byte() + (script.byte() % 8 != 0 ? host_registers / 8 : 0);
        bar_.data()[r] = script.number();
        break;
      }
      case 1:  // a word of memory
        areas_[0].data()[script.number() / word_bytes % area_words[0]] = script.number();
        break;
      case 2:
        put_command(script);
        break;
      case 3:
        submit(script, false);
        break;
      case 4:
        submit(script, true);
        break;
      case 5:
        step();
        break;
      case 6:
        space_.remove(area_bus[1]);
        if (script.byte() % 2 == 0) map_area(1);
        break;
      default:
        commands_ = 0;
    }
  }

  /// Checks that a list is executed correctly after a reset.
  void check_works() {
    begin();
    Command write, read;
    write.kind = CommandKind::WriteMemory;
    read.kind = CommandKind::ReadMemory;
    write.chips = read.chips = 2;
    write.address = read.address = 7;
    write.count = read.count = 3;
    for (std::uint64_t k = 0; k < 3; ++k) areas_[0].data()[payload_at / word_bytes + k] = 100 + k;
    put(write);
    put(read);
    std::uint64_t* const results = areas_[0].data() + results_at / word_bytes;
    std::fill_n(results, 3, 0);
    Descriptor d = descriptor(0);
    d.payload_words = 3;
    ring(0, d);
    step();
    check(results[0] == 100 && results[1] == 101 && results[2] == 102,
          "a board works again after a reset");
  }

 private:
  static std::shared_ptr<const Engine> engine() {
    static const std::shared_ptr<const Engine> made = make_engine("vector");
    return made;
  }
  void map_area(int k) { space_.add({areas_[k].bytes(), area_bus[k], area_words[k] * word_bytes}); }
  std::uint64_t& at(Register r) { return bar_.data()[static_cast<std::size_t>(r) / word_bytes]; }
  Register of_queue(Register board, Register chip, std::size_t queue) {
    return queue == 0 ? board : of_chip(chip, static_cast<unsigned>(queue - 1));
  }

  /// Sets up the rings and resets the board.
  void begin() {
    step();  // resets requested before
    for (std::size_t q = 0; q <= chips; ++q) {
      at(of_queue(Register::RingBase, Register::ChipRingBase, q)) =
          area_bus[0] + q * entries * sizeof(Descriptor);
      at(of_queue(Register::RingEntries, Register::ChipRingEntries, q)) = entries;
      at(of_queue(Register::Doorbell, Register::ChipDoorbell, q)) = 0;
      sequence_[q] = 0;
    }
    at(Register::InterruptMask) = 1;
    at(Register::Stop) = 0;
    ++at(Register::Control);  // the script may have written Resets
    commands_ = 0;
    rung_ = overlapped_ = false;
    step();
    orderly_ = true;
    interrupts_ = 0;
    check((at(Register::Status) & status_ready) != 0, "a board is ready after a reset");
  }

  void put(const Command& c) {
    std::memcpy(areas_[0].bytes() + commands_at + commands_ * sizeof(c), &c, sizeof(c));
    commands_ = (commands_ + 1) % 40;
  }

  void put_command(Script& script) {
    static const std::vector<std::uint8_t> object =
        Kernel::assemble(kernel_text, "fuzz.gds").object();
    Command c;
    c.kind = static_cast<CommandKind>(script.byte() % 9);
    c.partition = static_cast<ChipPartition>(script.byte() % 4);
    c.chips = script.byte() % 5;
    c.variable = static_cast<std::uint32_t>(script.byte() % 3);
    c.flags = static_cast<std::uint32_t>(script.byte() % 64);
    c.count = script.byte();
    c.first = script.byte() % 16;
    const std::uint64_t odd = script.byte();
    if (odd % 8 == 1) c.count = script.number();
    if (odd % 8 == 2) c.first = script.number();
    if (odd % 8 == 3) c.address = script.number();
    if (odd % 8 == 4) c.output_address = script.number();
    if (odd % 8 == 5) c.payload = script.number();
    if (odd % 8 == 6) c.payload_words = script.number();
    if (odd % 8 == 7) c.targets = script.number();
    c.output_address += 256;
    if (c.kind == CommandKind::LoadProgram && odd % 8 == 0) {
      std::memcpy(areas_[0].bytes() + payload_at, object.data(), object.size());
      c.count = object.size();
    }
    put(c);
  }

  Descriptor descriptor(std::size_t queue) const {
    Descriptor d;
    d.kind = DescriptorKind::Execute;
    d.flags = descriptor_resume;
    d.sequence = sequence_[queue] + 1;
    d.commands = area_bus[0] + commands_at;
    d.command_count = commands_;
    d.payload = area_bus[0] + payload_at;
    d.payload_words = (results_at - payload_at) / word_bytes;
    d.results = area_bus[0] + results_at;
    d.result_words = (completion_at - results_at) / word_bytes;
    d.completion = area_bus[0] + completion_at;
    return d;
  }

  /// A descriptor with correct checksums if possible; `odd`: one field has another value.
  void submit(Script& script, bool odd) {
    const std::size_t queue = script.byte() % (chips + 1);
    Descriptor d = descriptor(queue);
    bool whole = true;
    d.result_words -= script.byte() * 4;
    for (std::uint64_t n = odd ? 1 + script.byte() % 2 : 0; n > 0; --n) {
      const std::size_t field = script.byte() % (sizeof(d) / word_bytes);
      as_words(d)[field] = script.number();
      whole = script.byte() % 4 != 0;
    }
    ring(queue, d, whole);
  }

  void ring(std::size_t queue, Descriptor d, bool whole = true) {
    const std::uint64_t* const commands = space_.words(
        d.commands, std::min<std::uint64_t>(d.command_count, 1 << 20) * sizeof(Command) / 8);
    const std::uint64_t* const payload = space_.words(d.payload, d.payload_words);
    if (commands != nullptr && payload != nullptr)
      d.data_checksum = join_checksums(checksum({commands, d.command_count * sizeof(Command) / 8}),
                                       checksum({payload, d.payload_words}));
    if (whole) d.checksum = checksum(as_words(d).first(sizeof(d) / word_bytes - 1));
    const std::uint64_t slot = queue * entries + sequence_[queue] % entries;
    std::memcpy(areas_[0].bytes() + slot * sizeof(d), &d, sizeof(d));
    at(of_queue(Register::Doorbell, Register::ChipDoorbell, queue)) = ++sequence_[queue];
    rung_ = true;
  }

  void step() {
    std::vector<std::uint64_t> before(bar_.data() + host_registers / word_bytes,
                                      bar_.data() + bar_bytes / word_bytes);
    while (board_->step()) {
    }
    check(!board_->has_work(), "a board works until there is nothing to do");
    bar_.check_fences();
    for (const Fenced& area : areas_) area.check_fences();
    check(std::equal(before.begin(), before.end(), bar_.data() + host_registers / word_bytes),
          "a board keeps off the host's registers");
    if (orderly_ && rung_ && !overlapped_) check_completion();
    rung_ = overlapped_ = false;
  }

  /// The result of lists with valid descriptors.
  void check_completion() {
    Completion c;
    std::memcpy(&c, areas_[0].bytes() + completion_at, sizeof(c));
    const std::uint64_t sum = std::exchange(c.checksum, 0);
    check(checksum(as_words(c)) == sum, "a completion is whole");
    check(c.status == CompletionStatus::Done || c.status == CompletionStatus::Refused ||
              c.status == CompletionStatus::ResultsHeld,
          "a list is done, or refused");
    check(c.status != CompletionStatus::Refused || c.message[0] != 0, "a refusal says why");
    check(interrupts_ > 0, "the host is told");
  }

  Fenced bar_;
  Fenced areas_[2];
  DmaSpace space_;
  std::unique_ptr<BoardHardware> board_;
  std::uint64_t sequence_[chips + 1] = {};
  std::uint64_t commands_ = 0;
  unsigned interrupts_ = 0;
  bool orderly_ = true;  ///< all actions since the reset were those of a correct driver
  bool rung_ = false, overlapped_ = false;
};

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  Host host;
  Script script(data, std::min<std::size_t>(size, 4096));
  while (!script.over()) host.act(script);
  host.check_works();
  return 0;
}
