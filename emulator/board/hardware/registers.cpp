// The table of a board's registers; a test compares it with docs/internals/driver.md.
#include "emulator/board/hardware/registers.hpp"

#include <fmt/core.h>

namespace gdr {
namespace {

constexpr RegisterRow register_rows[] = {
    {Register::Identity, "IDENTITY", "`GRAPE-GD` in ASCII, least significant byte first"},
    {Register::Version, "VERSION", "major version in the upper half, minor in the lower"},
    {Register::Chips, "CHIPS", "chips of the board"},
    {Register::Blocks, "BLOCKS", "broadcast blocks of a chip"},
    {Register::Pes, "PES", "PEs of a block"},
    {Register::RegisterWords, "REGISTER_WORDS", "long words of a PE's register file"},
    {Register::LocalWords, "LOCAL_WORDS", "long words of a PE's local memory"},
    {Register::BroadcastWords, "BROADCAST_WORDS", "long words of a block's broadcast memory"},
    {Register::InstructionWords, "INSTRUCTION_WORDS",
     "capacity of a control processor's instruction store"},
    {Register::MemoryBytes, "MEMORY_BYTES", "bytes of a control processor's memory"},
    {Register::ClockHz, "CLOCK_HZ", "clock of the chips, the bits of a double"},
    {Register::Capabilities, "CAPABILITIES",
     "1: exact, 2: products use all bits of a factor, 4: emulated"},
    {Register::EngineName, "ENGINE", "name of the engine, 16 characters padded with zeros", 2},
    {Register::IsaName, "ISA", "name of the instruction set, 16 characters padded with zeros", 2},
    {Register::Threads, "THREADS", "host threads of an emulated board"},
    {Register::MaxCommands, "MAX_COMMANDS", "maximum number of commands of a list"},
    {Register::MaxResults, "MAX_RESULTS", "maximum number of words that a list returns"},
    {Register::Status, "STATUS",
     "1: ready, 2: a chip is halted, 4: asleep (a doorbell requires a signal), 8: the board's "
     "queue failed (requires a reset)"},
    {Register::Head, "HEAD", "completed descriptors of the board's queue since the reset"},
    {Register::Interrupts, "INTERRUPTS", "interrupts raised since the reset"},
    {Register::Heartbeat, "HEARTBEAT", "increases while the board makes progress"},
    {Register::Error, "ERROR",
     "completion status of the last descriptor of the board's queue that failed; 0: none"},
    {Register::ErrorSequence, "ERROR_SEQUENCE", "sequence number of that descriptor"},
    {Register::Lists, "LISTS", "command lists executed since the reset, of all queues"},
    {Register::Refused, "REFUSED", "descriptors that failed since the reset, of all queues"},
    {Register::BytesIn, "BYTES_IN", "bytes read from host memory since the reset"},
    {Register::BytesOut, "BYTES_OUT", "bytes written to host memory since the reset"},
    {Register::BusyNanoseconds, "BUSY_NS", "execution time of command lists since the reset"},
    {Register::ChecksumErrors, "CHECKSUM_ERRORS", "corrupt transfers since the reset"},
    {Register::Resets, "RESETS", "value of CONTROL at the last reset"},
    {Register::ChipStatus, "CHIP_STATUS",
     "1: a program is loaded, 2: the last list for it failed, 4: halted, 8: its queue failed "
     "(requires a reset), 16: the failed list came through the board's queue"},
    {Register::ChipCommands, "CHIP_COMMANDS", "commands executed by the chip since the reset"},
    {Register::ChipError, "CHIP_ERROR",
     "completion status of the last list that failed on the chip"},
    {Register::ChipErrorCommand, "CHIP_ERROR_COMMAND", "index of the failed command in that list"},
    {Register::ChipInstructions, "CHIP_INSTRUCTIONS", "instructions of the loaded program"},
    {Register::ChipHead, "CHIP_HEAD", "completed descriptors of its queue since the reset"},
    {Register::ChipErrorSequence, "CHIP_ERROR_SEQUENCE",
     "sequence number of that list in its queue"},
    {Register::ChipRefused, "CHIP_REFUSED", "descriptors of its queue that failed since the reset"},
    {Register::Control, "CONTROL", "a value other than RESETS requests a reset"},
    {Register::RingBase, "RING_BASE", "bus address of the board's ring of descriptors"},
    {Register::RingEntries, "RING_ENTRIES", "descriptors in the ring: a power of two up to 65536"},
    {Register::Doorbell, "DOORBELL", "descriptors written to the ring since the reset"},
    {Register::InterruptMask, "INTERRUPT_MASK", "1: completions raise an interrupt"},
    {Register::Stop, "STOP", "not 0: lists in execution stop, and no list starts"},
    {Register::ChipRingBase, "CHIP_RING_BASE", "bus address of the chip's ring of descriptors"},
    {Register::ChipRingEntries, "CHIP_RING_ENTRIES",
     "descriptors in that ring: a power of two up to 65536"},
    {Register::ChipDoorbell, "CHIP_DOORBELL", "descriptors written to the ring since the reset"},
};

}  // namespace

std::span<const RegisterRow> register_table() noexcept { return register_rows; }

std::string register_page() {
  std::string text = "| offset | register | written by | meaning |\n|---|---|---|---|\n";
  for (const RegisterRow& row : register_rows) {
    const auto offset = static_cast<std::uint32_t>(row.reg);
    text += fmt::format("| `0x{:04x}`{} | `{}`{} | {} | {} |\n", offset,
                        row.of_chip() ? fmt::format(" + 0x{:x} c", chip_stride) : "", row.name,
                        row.words > 1 ? fmt::format(" ({} words)", row.words) : "",
                        offset < host_registers ? "board" : "host", row.meaning);
  }
  return text;
}

}  // namespace gdr
