// A session of the debugger: commands in words, and what they print.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <set>
#include <span>
#include <stop_token>
#include <string>
#include <string_view>
#include <vector>

#include "gdr/debugger.hpp"
#include "gdr/kernel.hpp"
#include "libgdr/cli/debug/locations.hpp"
#include "libgdr/cli/debug/source_text.hpp"

namespace gdr::cli {

/// The words of a command line behind the command.
class Words {
 public:
  explicit Words(std::vector<std::string> words) : words_(std::move(words)) {}
  bool empty() const noexcept { return next_ == words_.size(); }
  const std::string& peek() const { return words_[next_]; }
  /// The next word. Throws Error (Usage), naming `what` is missing.
  std::string take(std::string_view what);
  /// Take the next word if it is this one, or one of its abbreviations of at least `least` letters.
  bool take_if(std::string_view word, std::size_t least = 1);
  /// Take the next word if it is a whole number.
  std::optional<std::uint64_t> take_number();
  std::uint64_t take_number(std::string_view what);
  /// Throws Error (Usage) if words are left.
  void finish() const;

 private:
  std::vector<std::string> words_;
  std::size_t next_ = 0;
};

/// An instruction of a program.
struct InstructionPlace {
  unsigned section = 0;
  std::size_t instruction = 0;
};

class Session {
 public:
  Session(Debugger debugger, Kernel kernel, SourceText source);

  /// Executes one line; an empty line and a comment (#) do nothing. Throws Error for a command that
  /// is wrong or fails; the session goes on unchanged.
  void execute(std::string_view line);
  /// Executes the lines of a script up to `quit`. Throws the first error as Error (Input), with
  /// `name` and line.
  void execute_script(std::string_view text, const std::string& name);
  bool finished() const noexcept { return finished_; }
  /// The signal that interrupted the last command, or 0.
  int interrupted() const noexcept { return interrupted_; }

  /// What a session begins with: the kernel, its inputs and the first instruction.
  std::string greeting();

  /// Whether the line may be repeated by an empty one.
  static bool repeats(std::string_view line);
  /// A row of the commands' reference.
  struct Help {
    std::string_view name, alias, arguments, meaning;
  };
  static std::vector<Help> help();

 private:
  friend struct SessionCommands;

  std::string position_text();
  std::string instruction_line(std::size_t index, const MachineInstruction& instruction,
                               bool current, bool stopped);
  std::string listing(std::string_view section, std::size_t first, std::size_t count);
  /// Moves, and prints where the chip is and what has changed.
  void move(const std::function<StopReport(const std::stop_token&)>& movement);
  std::string report_text(const StopReport& report);
  Location location(std::string_view text) const;
  /// `pe N|all` and `block N|all`, if they are the next words; else as in `chosen`.
  PeChoice choice(Words& words, PeChoice chosen) const;
  const Program& program() const { return kernel_.program(); }
  /// Names of sections by MachinePlace::section, with the empty one at the end.
  std::string section_of(const MachinePlace& place) const;
  /// The instruction that led to the present position; none at the beginning.
  std::optional<InstructionPlace> previous_instruction() const;
  std::string source_line(const InstructionPlace& at);
  /// Its source line without comment, or assembly.
  std::string shown_instruction(const InstructionPlace& at);
  std::string watched_text(const StopCondition& condition, const StopReport& report);

  Debugger debugger_;
  Kernel kernel_;
  SourceText source_;
  /// Files and lines of several instructions.
  std::set<std::pair<std::string, std::uint32_t>> repeated_lines_;
  PeChoice focus_;
  bool finished_ = false;
  int interrupted_ = 0;
  unsigned script_depth_ = 0;
};

}  // namespace gdr::cli
