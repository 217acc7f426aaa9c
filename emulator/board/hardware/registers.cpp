// The one table of a board's registers; a test compares it with docs/internals/driver.md.
#include "emulator/board/hardware/registers.hpp"

#include <fmt/core.h>

namespace gdr {
namespace {

constexpr RegisterRow rows[] = {
    {Register::Identity, "IDENTITY", "`GRAPE-GD` in ASCII, the first letter in the lowest byte"},
    {Register::Version, "VERSION", "major version in the upper half, minor in the lower"},
    {Register::Chips, "CHIPS", "chips of the board"},
    {Register::Blocks, "BLOCKS", "broadcast blocks of a chip"},
    {Register::Pes, "PES", "PEs of a block"},
    {Register::RegisterWords, "REGISTER_WORDS", "long words of a PE's register file"},
    {Register::LocalWords, "LOCAL_WORDS", "long words of a PE's local memory"},
    {Register::BroadcastWords, "BROADCAST_WORDS", "long words of a block's broadcast memory"},
    {Register::InstructionWords, "INSTRUCTION_WORDS",
     "instructions that a control processor holds"},
    {Register::MemoryBytes, "MEMORY_BYTES", "bytes of a control processor's memory"},
    {Register::ClockHz, "CLOCK_HZ", "clock of the chips, the bits of a double"},
    {Register::Capabilities, "CAPABILITIES",
     "1: exact, 2: products take in all bits of a factor, 4: emulated"},
    {Register::EngineName, "ENGINE", "what computes, 16 characters filled up with zeros", 2},
    {Register::IsaName, "ISA", "its instruction set, likewise", 2},
    {Register::Threads, "THREADS", "host threads of an emulated board"},
    {Register::MostCommands, "MOST_COMMANDS", "commands that a list may have"},
    {Register::MostResults, "MOST_RESULTS", "words that a list may return"},
    {Register::Status, "STATUS",
     "1: ready, 2: a chip is halted, 4: asleep (a doorbell needs its signal), 8: the board's queue "
     "failed (only a reset helps)"},
    {Register::Head, "HEAD", "descriptors of the board's queue that are done, since the reset"},
    {Register::Interrupts, "INTERRUPTS", "interrupts raised since the reset"},
    {Register::Heartbeat, "HEARTBEAT", "grows while the board makes progress"},
    {Register::Error, "ERROR",
     "completion status of the last descriptor of the board's queue that failed; 0: none"},
    {Register::ErrorSequence, "ERROR_SEQUENCE", "and its sequence number"},
    {Register::Lists, "LISTS", "command lists executed since the reset, of all queues"},
    {Register::Refused, "REFUSED", "descriptors that failed since the reset, of all queues"},
    {Register::BytesIn, "BYTES_IN", "fetched from host memory since the reset"},
    {Register::BytesOut, "BYTES_OUT", "written to host memory since the reset"},
    {Register::BusyNanoseconds, "BUSY_NS", "spent on command lists since the reset"},
    {Register::ChecksumErrors, "CHECKSUM_ERRORS", "transfers that arrived damaged"},
    {Register::Resets, "RESETS", "the last value of CONTROL that a reset was made for"},
    {Register::ChipStatus, "CHIP_STATUS",
     "1: a program is loaded, 2: the last list for it failed, 4: halted, 8: its queue failed (only "
     "a reset helps), 16: what failed came through the board's queue",
     1, true},
    {Register::ChipCommands, "CHIP_COMMANDS", "commands that it took part in since the reset", 1,
     true},
    {Register::ChipError, "CHIP_ERROR", "completion status of the last list that failed here", 1,
     true},
    {Register::ChipErrorCommand, "CHIP_ERROR_COMMAND", "and the number of the command in it", 1,
     true},
    {Register::ChipInstructions, "CHIP_INSTRUCTIONS", "instructions in its store", 1, true},
    {Register::ChipHead, "CHIP_HEAD", "descriptors of its queue that are done, since the reset", 1,
     true},
    {Register::ChipErrorSequence, "CHIP_ERROR_SEQUENCE",
     "sequence number, in the queue through which it came, of the last list that failed here", 1,
     true},
    {Register::ChipRefused, "CHIP_REFUSED", "descriptors of its queue that failed since the reset",
     1, true},
    {Register::Control, "CONTROL", "any other value than RESETS asks for a reset"},
    {Register::RingBase, "RING_BASE", "bus address of the board's ring of descriptors"},
    {Register::RingEntries, "RING_ENTRIES", "descriptors in the ring: a power of two up to 65536"},
    {Register::Doorbell, "DOORBELL", "descriptors written to it since the reset"},
    {Register::InterruptMask, "INTERRUPT_MASK", "1: completions raise an interrupt"},
    {Register::Stop, "STOP", "not 0: lists end where they are, and none begins"},
    {Register::ChipRingBase, "CHIP_RING_BASE", "bus address of the chip's ring of descriptors", 1,
     true},
    {Register::ChipRingEntries, "CHIP_RING_ENTRIES", "descriptors in it, likewise", 1, true},
    {Register::ChipDoorbell, "CHIP_DOORBELL", "descriptors written to it since the reset", 1, true},
};

}  // namespace

std::span<const RegisterRow> register_table() noexcept { return rows; }

std::string register_page() {
  std::string text = "| offset | register | written by | meaning |\n|---|---|---|---|\n";
  for (const RegisterRow& row : rows) {
    const auto offset = static_cast<std::uint32_t>(row.reg);
    text += fmt::format("| `0x{:04x}`{} | `{}`{} | {} | {} |\n", offset,
                        row.of_chip ? fmt::format(" + 0x{:x} c", chip_stride) : "", row.name,
                        row.words > 1 ? fmt::format(" ({} words)", row.words) : "",
                        offset < host_registers ? "board" : "host", row.meaning);
  }
  return text;
}

}  // namespace gdr
