// Single-stepping of one chip: load a program, execute it by instructions, inspect all state.
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

/// The memories of a broadcast block.
enum class MachineMemory : std::uint8_t {
  Registers,  ///< registers of every PE, shorts
  Local,      ///< local memory of every PE, shorts
  T,          ///< T of every PE: element 0 upper, lower, element 1 upper, ...
  Masks,      ///< masks of every PE: mask 0 element 0, 1, 2, 3, mask 1 element 0, ...
  Broadcast,  ///< broadcast memory of the block, shorts
};

/// An instruction of the loaded program.
struct MachineInstruction {
  std::string text;        ///< assembly text
  std::string file;        ///< name of the source file; empty: unknown
  std::uint32_t line = 0;  ///< source line; 0: unknown
  unsigned clocks = 0;     ///< issue clocks
};

/// What the next step executes, as numbers.
struct MachinePlace {
  unsigned section = 0;         ///< 1 "start", 2 "body", 3 "end"; 4 at the end of the program
  std::uint64_t pass = 0;       ///< iteration of the body: number of the group of sources
  std::size_t instruction = 0;  ///< index in the section
  std::uint64_t clock = 0;      ///< clocks of the instructions executed since `restart`

  friend bool operator==(const MachinePlace&, const MachinePlace&) = default;
};

/// A location that a program has a name for: a declared variable, or another name of a location.
struct MachineVariable {
  std::string name;
  std::string kind;  ///< "ivar", "jvar", "fvar", "param", "ovar", or "name" of other locations
  MachineMemory memory = MachineMemory::Registers;
  /// Address of the first word, in shorts. Of a word in the stream of sources or outputs that of
  /// the current group.
  std::size_t address = 0;
  bool is_long = true;     ///< longs (two shorts) or shorts
  std::size_t count = 1;   ///< words: one for each element of a vector
  std::size_t step = 2;    ///< shorts from one word to the next
  std::string conversion;  ///< declared conversion, e.g. "f64to72"; empty: none
  std::string reduction;   ///< declared reduction of results and outputs; else empty
};

/// A copy of a chip's state with the position in the program. Cheap to copy.
class MachineSnapshot {
 public:
  MachineSnapshot() = default;
  /// Bytes of the copied state.
  std::size_t bytes() const noexcept;

 private:
  friend class Machine;
  std::shared_ptr<const struct MachineSnapshotData> data_;
};

/// The instruction that the next step executes.
struct MachinePosition {
  std::string section;          ///< "start", "body", "end"; empty at the end of the program
  std::uint64_t pass = 0;       ///< iteration of the body: number of the group of sources
  std::size_t instruction = 0;  ///< index in the section
  std::string text;             ///< assembly text
  std::string file;             ///< name of the source file
  std::uint32_t line = 0;       ///< source line; 0: unknown
  std::uint64_t clock = 0;      ///< clocks of the instructions executed since `restart`
};

/// Sticky flags of a block's floating-point operations.
struct MachineFlags {
  bool invalid = false;    ///< infinity minus infinity, or zero times infinity
  bool overflow = false;   ///< whether a result exceeded the range
  bool underflow = false;  ///< whether a result was flushed to zero

  friend bool operator==(const MachineFlags&, const MachineFlags&) = default;
};

/// One chip, with the caller as its control processor. Targets are distributed over the blocks, and
/// every block processes all sources (partition "targets"). Exact numerics only.
class Machine {
 public:
  /// Geometry and engine from a device name as in Device::open; always one chip.
  /// Throws Error (Usage) like Device::open, Error (Unsupported) for an engine with fast numerics.
  explicit Machine(std::string_view name = {}, const DeviceOptions& options = {});
  ~Machine();
  Machine(Machine&&) noexcept;
  Machine& operator=(Machine&&) noexcept;

  /// Clear all memories, load the program and run its section Init. Discards targets and sources.
  /// Throws Error (Program) if it does not fit the geometry.
  void load(const Kernel& kernel);
  /// Like the member functions of Job, with the same errors, and Error (Usage) without a program or
  /// for more targets than `target_slots`.
  void set(std::string_view name, double value);
  /// Set one param from an array of one value of its host type, which may be raw. Throws like
  /// `set`.
  void set_param(const NamedInput& value);
  void sources(std::size_t n, std::span<const NamedInput> arrays);
  void targets(std::size_t n, std::span<const NamedInput> arrays);
  std::size_t target_slots() const;
  std::size_t target_count() const noexcept;
  /// Iterations of the body: groups of sources.
  std::uint64_t passes() const noexcept;

  /// Go to the first instruction of section Start; memories are preserved.
  void restart();
  /// Execute one instruction in all PEs. Returns false, without effect, at the end of the program.
  bool step();
  /// Execute up to so many instructions. Returns the number executed.
  std::uint64_t run(std::uint64_t max_instructions);
  MachinePosition position() const;
  MachinePlace place() const;
  /// All instructions of a section as assembly text.
  std::vector<std::string> instructions(std::string_view section) const;
  /// The same with source lines and clocks.
  std::vector<MachineInstruction> listing(std::string_view section) const;
  /// Variables in the order of declaration, then other names of locations.
  std::vector<MachineVariable> variables() const;

  /// Copy the state and the position, and return to them. Throws Error (Usage) without a program,
  /// and for a snapshot that was taken before the last `load` or `sources`.
  MachineSnapshot snapshot() const;
  void restore(const MachineSnapshot& snapshot);

  /// Current results of the targets in the PEs, converted as declared.
  void results(std::span<const NamedResult> arrays) const;

  std::size_t blocks() const noexcept;
  std::size_t pes() const noexcept;  ///< PEs of a block
  /// Contents of a memory of a block: a short in the low 36 bits of each word, [address][PE]; for
  /// the broadcast memory [address]; masks are 0 or 1. Throws Error (Usage) for an invalid block.
  std::vector<std::uint64_t> memory(MachineMemory memory, std::size_t block) const;
  /// One short (for Masks: 0 or 1) of a PE; `pe` is ignored for the broadcast memory. Throws Error
  /// (Usage) for a location that the chip lacks.
  std::uint64_t word(MachineMemory memory, std::size_t block, std::size_t address,
                     std::size_t pe) const;
  /// Size of a memory of a PE, or of the broadcast memory, in shorts (Masks: bits).
  std::size_t memory_size(MachineMemory memory) const noexcept;
  /// Set one short (for Masks: a bit) of a PE; `pe` is ignored for the broadcast memory. Throws
  /// Error (Usage) for an invalid location or a word of more than 36 bits.
  void set_memory(MachineMemory memory, std::size_t block, std::size_t address, std::size_t pe,
                  std::uint64_t word);
  /// Flags raised by the operations of a block since `load` or `restart`. Throws Error (Usage) for
  /// an invalid block.
  MachineFlags flags(std::size_t block) const;
  /// Reduction of a memory over all blocks: every long (the short at an even address and the next
  /// one) is reduced by the tree of the network, with an operation as in declarations of results,
  /// e.g. "fadd" or "imax". Returns shorts in the layout of `memory`. Throws Error (Usage) for an
  /// unknown operation, and for Masks.
  std::vector<std::uint64_t> reduced(MachineMemory memory, std::string_view operation) const;

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace gdr
