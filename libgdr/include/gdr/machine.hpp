// One chip by hand: load a program, step through it instruction by instruction, look at everything.
//
//   gdr::Machine machine("emulator:blocks=1,pes=2");
//   machine.load(kernel);
//   machine.sources(n, {{"xj", x}}); machine.targets(1, {{"xi", place}});
//   while (machine.step()) ... machine.memory(gdr::MachineMemory::Registers, 0) ...
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "gdr/device.hpp"

namespace gdr {

/// The memories of a block.
enum class MachineMemory : std::uint8_t {
  Registers,  ///< of every PE, shorts
  Local,      ///< of every PE, shorts
  T,          ///< of every PE: element 0 upper, lower, element 1 upper, ...
  Masks,      ///< of every PE: mask 0 element 0, 1, 2, 3, mask 1 element 0, ...
  Broadcast,  ///< of the block, shorts
};

/// What the next step does.
struct MachinePosition {
  std::string section;          ///< "start", "body", "end"; empty when the program is at its end
  std::uint64_t pass = 0;       ///< of the body: group of sources
  std::size_t instruction = 0;  ///< number in the section
  std::string text;             ///< as assembly
  std::string file;             ///< of the source, as the program names it
  std::uint32_t line = 0;       ///< of the source; 0 where it is not known
  std::uint64_t clock = 0;      ///< clocks of the instructions done since `restart`
};

/// Sticky flags of a block's floating-point operations.
struct MachineFlags {
  bool invalid = false;    ///< an infinity minus itself, or zero times infinity
  bool overflow = false;   ///< a result was too large
  bool underflow = false;  ///< a result was too small, and became zero

  friend bool operator==(const MachineFlags&, const MachineFlags&) = default;
};

/// One chip with its control processor's part played by the caller. Every block has targets of its
/// own and sees all sources (partition "targets"). Exact numerics only.
class Machine {
 public:
  /// Geometry and engine by a device's name, as Device::open has it; one chip, whatever it says.
  /// Throws Error (Usage) like Device::open, Error (Unsupported) for an engine with fast numerics.
  explicit Machine(std::string_view name = {});
  ~Machine();
  Machine(Machine&&) noexcept;
  Machine& operator=(Machine&&) noexcept;

  /// Clear all memories, load the program and run its section Init; forgets targets and sources.
  /// Throws Error (Program) if it does not fit the geometry.
  void load(const Kernel& kernel);
  /// As the members of Job, with its errors; Error (Usage) without a program. Targets beyond
  /// `target_slots` do not fit.
  void set(std::string_view name, double value);
  void sources(std::size_t n, std::span<const NamedInput> arrays);
  void targets(std::size_t n, std::span<const NamedInput> arrays);
  std::size_t target_slots() const;
  std::size_t target_count() const noexcept;

  /// Go to the first instruction of section Start; memories stay as they are.
  void restart();
  /// Do one instruction, in all PEs. False, and nothing happens, at the end of the program.
  bool step();
  /// Do as many instructions, or fewer if the program ends.
  /// Returns how many were done.
  std::uint64_t run(std::uint64_t most_instructions);
  MachinePosition position() const;
  /// All instructions of a section as assembly text.
  std::vector<std::string> instructions(std::string_view section) const;

  /// Results of the targets as they stand in the PEs, converted as declared.
  void results(std::span<const NamedResult> arrays) const;

  std::size_t blocks() const noexcept;
  std::size_t pes() const noexcept;  ///< of a block
  /// A memory of a block as it is: a short in the low 36 bits of each word, [address][PE]; of the
  /// broadcast memory [address]; masks are 0 or 1. Throws Error (Usage) for a block that is not
  /// there.
  std::vector<std::uint64_t> memory(MachineMemory memory, std::size_t block) const;
  /// Set one short (of Masks: a bit) of a PE; `pe` counts for nothing in the broadcast memory.
  /// Throws Error (Usage) for a place that is not there or a word of more than 36 bits.
  void set_memory(MachineMemory memory, std::size_t block, std::size_t address, std::size_t pe,
                  std::uint64_t word);
  /// What the operations of a block raised since `load` or `restart`. Throws Error (Usage) for a
  /// block that is not there.
  MachineFlags flags(std::size_t block) const;
  /// What the reduction network makes of a memory of all blocks as it stands: of every long (the
  /// short at an even address and the one behind it) the tree over the blocks, by an operation that
  /// results are declared with, "fadd" or "imax". Shorts in the layout of `memory`. Throws Error
  /// (Usage) for an unknown operation, and for Masks.
  std::vector<std::uint64_t> reduced(MachineMemory memory, std::string_view operation) const;

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace gdr
