// What an instruction has changed in one PE and in the broadcast memory of its block.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "emulator/isa/program.hpp"
#include "gdr/debugger.hpp"
#include "libgdr/cli/debug/locations.hpp"

namespace gdr::cli {

/// The shorts of a PE and of its broadcast memory, by MachineMemory.
using PeState = std::array<std::vector<std::uint64_t>, 5>;
PeState pe_state(const Machine& machine, std::size_t block, std::size_t pe);

/// Names of single words: those of an instruction's destinations, then declared variables, then
/// other names that are unique.
class WordNames {
 public:
  explicit WordNames(const Machine& machine);
  /// Prefers the names of an instruction's destinations. Of several names of a location that one is
  /// taken which its source line has.
  WordNames(const Machine& machine, const Program& program, const Instruction& instruction,
            std::string_view source_line);

  struct Name {
    std::string text;       ///< name of the variable, or the location itself
    int element = -1;       ///< element of a vector; -1: a single word
    std::size_t count = 1;  ///< words of the vector
    bool is_long = false;
    WordFormat format;
    bool declared = false;  ///< whether it is a destination or a declared variable
  };
  /// The name of the short at an address.
  Name of(MachineMemory memory, std::size_t address) const;
  /// Whether the instruction writes longs to T, or shorts; none if it does not write T.
  std::optional<bool> writes_long_t() const noexcept { return long_t_; }

 private:
  struct Entry {
    MachineMemory memory;
    std::size_t first, step, count;
    Name name;
  };
  void add_destination(const Machine& machine, const Program& program, const Operand& operand,
                       unsigned elements, std::string_view source_line);
  std::vector<Entry> entries_;  ///< entries in the order of preference
  std::optional<bool> long_t_;
};

/// Which changes are listed.
enum class ChangesOf {
  Instruction,  ///< all that one instruction has written: `names` knows it
  Variables,    ///< those of declared variables in the PE
};

/// A line for each changed variable or location: `ax[0..2]  0 0 0 -> 1 2 3`.
std::string changes_text(const PeState& before, const PeState& after, const WordNames& names,
                         ChangesOf what);

}  // namespace gdr::cli
