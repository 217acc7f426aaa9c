// A debugger for kernels: breakpoints, watched words, and steps in both directions.
//
//   gdr::Machine machine("emulator:blocks=1,pes=2");
//   machine.load(kernel); machine.sources(...); machine.targets(...);
//   gdr::Debugger debugger(std::move(machine));
//   debugger.break_at_line(95);
//   while (debugger.run().reason == gdr::StopReason::Condition) ... debugger.machine() ...
//   debugger.back(3);
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <stop_token>
#include <string>
#include <string_view>
#include <vector>

#include "gdr/machine.hpp"

namespace gdr {

/// A word of a chip.
struct MachineWord {
  MachineMemory memory = MachineMemory::Registers;
  std::size_t block = 0;    ///< broadcast block
  std::size_t pe = 0;       ///< PE of the block; ignored for the broadcast memory
  std::size_t address = 0;  ///< address as in Machine::memory; of a long that of its upper half
  bool is_long = true;      ///< a long of two shorts, or a short; ignored for masks

  friend bool operator==(const MachineWord&, const MachineWord&) = default;
};

/// The bits of a word: of a long both halves; of a short, or the bit of a mask, only `lower`.
struct MachineBits {
  std::uint64_t upper = 0;  ///< upper 36 bits of a long
  std::uint64_t lower = 0;  ///< lower 36 bits of a long, or the bits of a short

  friend bool operator==(const MachineBits&, const MachineBits&) = default;
};

/// Kinds of conditions that stop a run.
enum class StopKind : std::uint8_t {
  Instruction,  ///< stop before an instruction, a source line or a section
  Clock,        ///< stop at the first instruction at or after a clock
  Change,       ///< stop after an instruction that changed a watched word
};

/// A condition that stops a run.
struct StopCondition {
  unsigned number = 0;  ///< identifies it; never used again
  StopKind kind = StopKind::Instruction;
  std::string text;        ///< description: "body 12", "gravity.gds:95", "ax"
  bool enabled = true;     ///< whether it stops runs
  std::uint64_t hits = 0;  ///< stops of runs in either direction
  /// Instruction: section (1 "start", 2 "body", 3 "end") and index of the instructions.
  std::vector<std::pair<unsigned, std::size_t>> instructions;
  std::optional<std::uint64_t> pass;  ///< Instruction: only in this iteration of the body
  std::uint64_t clock = 0;            ///< Clock: clocks since the beginning
  std::vector<MachineWord> words;     ///< Change: watched words
};

/// A watched word before and after an instruction.
struct WordChange {
  unsigned number = 0;   ///< number of the condition
  std::size_t word = 0;  ///< index in StopCondition::words
  MachineBits before, after;
};

/// Why a movement has ended.
enum class StopReason : std::uint8_t {
  Steps,        ///< all steps are done
  Condition,    ///< a condition is met
  End,          ///< the program has ended
  Beginning,    ///< the beginning is reached
  Interrupted,  ///< a stop was requested
};

/// The end of a movement.
struct StopReport {
  StopReason reason = StopReason::Steps;
  std::vector<unsigned> conditions;  ///< numbers of the conditions that are met
  std::vector<WordChange> changes;   ///< changes of watched words
};

/// Moves a chip through its program, in both directions. Going back restores a copy of the state
/// (a checkpoint) and executes the instructions from there again: checkpoints are so dense that a
/// step back repeats a small part of the run, whatever its length. States are those of
/// Machine::step, bit for bit, however they are reached.
///
/// The positions of a run are numbered: position n is that after n instructions. Conditions stop at
/// the same positions in both directions, except position 0, where every movement back ends.
class Debugger {
 public:
  /// Takes a chip with a loaded program; its present state is position 0. Throws Error (Usage)
  /// without a program.
  explicit Debugger(Machine machine);
  ~Debugger();
  Debugger(Debugger&&) noexcept;
  Debugger& operator=(Debugger&&) noexcept;

  /// The chip in its present state.
  const Machine& machine() const noexcept;
  /// Number of instructions from the beginning to the present position.
  std::uint64_t position() const noexcept;
  bool at_end() const;

  /// Execute up to so many instructions. Conditions are ignored.
  StopReport step(std::uint64_t instructions = 1, const std::stop_token& stop = {});
  /// Go back by up to so many instructions. Conditions are ignored.
  StopReport back(std::uint64_t instructions = 1, const std::stop_token& stop = {});
  /// Go to the beginning of the next, or of this or the previous iteration of the body; without one
  /// to the end or the beginning. Sections start and end count as iterations.
  StopReport next_pass(const std::stop_token& stop = {});
  StopReport previous_pass(const std::stop_token& stop = {});
  /// Execute instructions until this many clocks are spent, at least one.
  StopReport step_clocks(std::uint64_t clocks, const std::stop_token& stop = {});
  /// Go to the next, or the previous position at which an enabled condition is met.
  StopReport run(const std::stop_token& stop = {});
  StopReport run_back(const std::stop_token& stop = {});
  /// Go to a position; conditions are ignored. Ends at the end of the program.
  StopReport go_to(std::uint64_t position, const std::stop_token& stop = {});

  /// Add a condition; returns its number. Section names are "start", "body" and "end".
  /// Before an instruction of a section, in every iteration of the body or in one. Throws Error
  /// (Usage) for an instruction that the program lacks.
  unsigned break_at(std::string_view section, std::size_t instruction,
                    std::optional<std::uint64_t> pass = {});
  /// Before the first instruction of a section: in the body in every iteration, or in one.
  unsigned break_at_section(std::string_view section, std::optional<std::uint64_t> pass = {});
  /// Before every run of instructions of a source line. An empty file name means the file of the
  /// first instruction of the body. Throws Error (Usage) for a line without instructions, naming
  /// the next one that has some.
  unsigned break_at_line(std::uint32_t line, std::string_view file = {});
  /// At the first instruction that begins at or after a clock.
  unsigned break_at_clock(std::uint64_t clock);
  /// After every instruction that changes one of these words. Throws Error (Usage) for a word that
  /// the chip lacks.
  unsigned watch(std::vector<MachineWord> words, std::string text = {});
  /// Conditions in the order of their numbers.
  const std::vector<StopCondition>& conditions() const noexcept;
  /// Throw Error (Usage) for an unknown number.
  void remove(unsigned number);
  void enable(unsigned number, bool enabled);

  /// The bits of a word. Throws Error (Usage) for a word that the chip lacks.
  MachineBits read(const MachineWord& word) const;
  /// Set a word at the present position. The change becomes a part of the run: it is done again
  /// whenever the position is passed; changes at later positions are discarded. Throws Error
  /// (Usage) for a word that the chip lacks, and for too many bits.
  void write(const MachineWord& word, const MachineBits& bits);

  /// Number of stored copies of the state, and the bytes that they take.
  std::size_t checkpoints() const noexcept;
  std::size_t checkpoint_bytes() const noexcept;

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace gdr
