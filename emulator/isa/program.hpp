// A program: four sections of instructions, and the interface that it declares.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "emulator/isa/instruction.hpp"
#include "emulator/numeric/convert.hpp"

namespace gdr {

/// Init runs when the program is loaded; a run is Start once, Body n times, End once.
enum class Section : std::uint8_t { Init = 0, Start = 1, Body = 2, End = 3 };
constexpr unsigned section_count = 4;
constexpr std::array<std::string_view, section_count> section_names{"init", "start", "body", "end"};

/// Transfer type of a variable: its direction between host and chip.
enum class VarKind : std::uint8_t {
  Target = 0,  ///< `ivar`: one value for each i-particle, to the PEs
  Source = 1,  ///< `jvar`: one value for each j-item, to the broadcast memory
  Result = 2,  ///< `fvar`: one value for each i-particle, from the PEs
  Param = 3,   ///< `param`: one value for all, to the broadcast memory or to every PE
  Output = 4,  ///< `ovar`: one value for each j-item and block, from the broadcast memory
};
/// Keywords by VarKind.
constexpr std::array<std::string_view, 5> variable_keywords{"ivar", "jvar", "fvar", "param",
                                                            "ovar"};

/// Operations of a reduction network node. Pass takes one block's word. Index has no operation of a
/// node: the board takes the word of the block whose key, another result, is the reduced one.
enum class Reduce : std::uint8_t {
  Pass = 0,
  Fadd = 1,
  Fmax = 2,
  Fmin = 3,
  Iadd = 4,
  Imax = 5,
  Imin = 6,
  Iand = 7,
  Ior = 8,
  Ixor = 9,
  Index = 10
};
/// Names by Reduce.
constexpr std::array<std::string_view, 11> reduce_names{
    "pass", "fadd", "fmax", "fmin", "iadd", "imax", "imin", "iand", "ior", "ixor", "index"};

/// A declared variable of the kernel's interface.
struct Variable {
  std::string name;
  VarKind kind = VarKind::Target;
  Operand location;  ///< element 0 / item 0; `vector` where every element has its own
  Conversion conversion;
  Reduce reduce = Reduce::Pass;  ///< results and outputs: how blocks are joined
  /// Sources: host bits of the value in an item that fills up a group and must contribute nothing.
  std::uint64_t pad = 0;
  /// Sources of groups: such an item has the value of the last source instead of `pad`.
  bool pad_is_copy = false;
  /// Results with reduction Index: index of the key, a result with reduction Fmin or Fmax.
  std::int32_t key = -1;
  /// Targets, sources, params: what the values are ("id", "pos", "eps"), for programs that fill
  /// variables without knowing their names; else empty. Several variables of one kind and quantity
  /// are its components, in order.
  std::string quantity = {};
  bool squared = false;  ///< whether the value is the square of the quantity
  /// Integer targets and sources: value of all items for which the host has none.
  std::optional<std::int64_t> default_value = {};
  friend bool operator==(const Variable&, const Variable&) = default;
};

/// Kinds of variables that the host fills.
constexpr bool is_input(VarKind kind) noexcept {
  return kind == VarKind::Target || kind == VarKind::Source || kind == VarKind::Param;
}
/// Whether a variable may have a default value.
constexpr bool takes_default(const Variable& v) noexcept {
  return (v.kind == VarKind::Target || v.kind == VarKind::Source) &&
         v.conversion.host == HostType::I64;
}

/// Several variables that the host may pass as one array: consecutive ones of one kind and
/// host type, named `name_0`, `name_1`, ..., with several indices `name_0_0`, `name_0_1`, ..., the
/// last index first. `name` itself may also be a variable, as for a list its number of entries.
struct VariableArray {
  std::string name;
  std::uint32_t first = 0;           ///< index of the first element in Program::variables
  std::vector<std::uint32_t> sizes;  ///< sizes, one for each index
  /// The last index counts the real and the imaginary part of a complex number; its size is 2.
  bool complex = false;
  friend bool operator==(const VariableArray&, const VariableArray&) = default;

  /// Number of elements.
  std::uint32_t count() const noexcept {
    std::uint32_t product = 1;
    for (const std::uint32_t size : sizes) product *= size;
    return product;
  }
  /// The name of element k in the order of the elements.
  std::string element(std::uint32_t k) const {
    std::string text;
    for (std::size_t i = sizes.size(); i-- > 0; k /= sizes[i])
      text.insert(0, "_" + std::to_string(k % sizes[i]));
    return name + text;
  }
};
/// Limit of the elements and of the indices of an array.
constexpr std::uint32_t max_array_elements = 65536, max_array_indices = 8;

/// Another name of a variable or array, which programs that pass arrays by name may use.
struct HostName {
  std::string name;  ///< name of a variable or array of the program
  std::string host;  ///< any text; not necessarily unique
  friend bool operator==(const HostName&, const HostName&) = default;
};

/// The cut-off of a program: a pair of a target and a source contributes nothing to any result if
/// the square of their distance, a sum of squares of differences of three coordinates, is not below
/// a variable of the target. Engines may leave such pairs out. Members are indexes into
/// Program::variables.
struct Cutoff {
  std::uint32_t radius2 = 0;
  std::array<std::uint32_t, 3> target{}, source{};  ///< coordinates
  friend bool operator==(const Cutoff&, const Cutoff&) = default;
};

/// The name of a location or a constant, kept for listings and the disassembler.
struct Symbol {
  std::string name;
  Operand location;
  friend bool operator==(const Symbol&, const Symbol&) = default;
};

/// Where an instruction came from. `file` indexes Program::files.
struct SourceLine {
  std::uint32_t file = 0;
  std::uint32_t line = 0;
  friend bool operator==(const SourceLine&, const SourceLine&) = default;
};

struct Program {
  std::string name;
  std::array<std::vector<Instruction>, section_count> sections;
  std::array<std::vector<SourceLine>, section_count> lines;  ///< lines, one for each instruction
  std::vector<std::string> files;
  std::vector<Variable> variables;  ///< variables in the order of declaration
  std::vector<Symbol> symbols;
  std::vector<VariableArray> arrays;  ///< arrays, at most one of a name
  std::vector<HostName> host_names;   ///< names for the host, at most one for a name

  std::optional<Cutoff> cutoff = {};  ///< none: any pair may contribute

  std::uint32_t elements = 4;       ///< i-particles a PE holds (1 to 4)
  std::uint32_t group = 1;          ///< j-items that one iteration of the body takes
  std::uint32_t item_shorts = 0;    ///< size of a j-item in the BM
  std::uint32_t output_shorts = 0;  ///< size of an output item in the BM
  std::uint32_t fixed_shorts = 0;   ///< BM below this address does not move: params and scratch
  double flops = 0;                 ///< counted for one interaction (i with j), by convention
  /// None, or the same kernel with every number as a long: what engines that compute in doubles
  /// execute, where nothing depends on the machine's words. It has the same variables, in the same
  /// order, for the host; clocks and transfers are always those of the program itself.
  std::vector<Program> in_longs;

  friend bool operator==(const Program&, const Program&) = default;

  const std::vector<Instruction>& section(Section s) const {
    return sections[static_cast<unsigned>(s)];
  }
  std::vector<Instruction>& section(Section s) { return sections[static_cast<unsigned>(s)]; }

  /// Issue clocks of a section, of the body those of one iteration.
  std::uint64_t clocks(Section s) const noexcept {
    std::uint64_t sum = 0;
    for (const Instruction& i : sections[static_cast<unsigned>(s)]) sum += i.clocks();
    return sum;
  }
  /// Loop-body clocks over elements times the j-items of a body.
  double clocks_per_interaction() const noexcept {
    return static_cast<double>(clocks(Section::Body)) / (elements * group);
  }
};

}  // namespace gdr
