// The conditions that stop a run of the debugger.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "gdr/debugger.hpp"

namespace gdr {

/// A list of conditions, and the program that they are for.
class Conditions {
 public:
  explicit Conditions(const Machine& machine);

  const std::vector<StopCondition>& list() const noexcept { return list_; }
  /// Throw Error (Usage) for an unknown number.
  StopCondition& find(unsigned number);
  void remove(unsigned number);

  /// Each returns the number of a new condition; the errors are those of Debugger.
  unsigned add_instruction(std::string_view section, std::size_t instruction,
                           std::optional<std::uint64_t> pass);
  unsigned add_section(std::string_view section, std::optional<std::uint64_t> pass);
  unsigned add_line(std::uint32_t line, std::string_view file);
  unsigned add_clock(std::uint64_t clock);
  unsigned add_watch(const Machine& machine, std::vector<MachineWord> words, std::string text);

 private:
  unsigned add(StopCondition condition);
  std::string main_file() const;

  std::vector<StopCondition> list_;
  unsigned last_number_ = 0;
  /// Instructions by section: start, body, end.
  std::array<std::vector<MachineInstruction>, 3> program_;
};

/// Tells after every step which conditions are met. Must not outlive its arguments.
class ConditionCheck {
 public:
  /// The step that follows starts from the present state.
  ConditionCheck(const Conditions& conditions, const Machine& machine);

  /// The enabled conditions that are met after one more step.
  StopReport after_step();
  /// Takes note of changes that were not made by instructions.
  void refresh();

 private:
  const std::vector<StopCondition>& conditions_;
  const Machine& machine_;
  MachinePlace before_;
  std::vector<std::vector<MachineBits>> values_;  ///< values of watched words, by condition
};

}  // namespace gdr
